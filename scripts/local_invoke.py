"""`make local-invoke`: each function once in its container, and the API, against an embedded cloud that has the stack.

Without a container engine it says so and succeeds: nothing else needs one. Where the checkout has a laboratory beside
it, that provides the engine and the image. `sam local invoke` passes only variables that the template declares, so the
cloud's address comes in as the template's own parameter AwsEndpointUrl.

The cloud listens on the loopback interface, which a container does not share (SAM CLI takes `--docker-network host` and
ignores it), so the engine's own bridge is forwarded to it. Docker Desktop does that by itself.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from scripts.forward import forwarded
from scripts.local_stack import LocalStack, LocalStackError, free_port
from scripts.local_stack.environment import clean
from scripts.local_stack.ports import LOOPBACK
from scripts.local_stack.stack import ROOT
from scripts.start_api import serves_figures

HOME = ROOT / ".local" / "invoke"
SAM = ROOT / ".venv" / "sam" / "bin" / "sam"
LABORATORY = ROOT.parent / "shared" / "lab" / "lambda-image"
SECONDS = 180
"""For one invocation; the first one adds the layer to the image."""

Answer = Mapping[str, Any]

EXPECTED: dict[str, tuple[str, Callable[[Answer], bool]]] = {
    "drain": ("nothing pending and nothing dead", lambda answer: answer["pending"] == answer["dead"] == 0),
    "scrape": ("no search and no failure", lambda answer: not answer["skipped"] and not answer["errors"]),
    "notify": ("no failed record", lambda answer: answer["batchItemFailures"] == []),
    "api": ("figures", lambda answer: answer["statusCode"] == 200 and "pending" in json.loads(answer["body"])),
    "api-dead-letters": (
        "no dead letter",
        lambda answer: answer["statusCode"] == 200 and json.loads(answer["body"]) == {"letters": [], "cursor": None},
    ),
}
"""What a function answers to each event in `events/` while nothing is watched; the event is named after it."""


def main() -> int:
    """0 when every function answered as expected or there is no container engine, else 1."""
    try:
        pull = has_image_to_pull()
        if pull is None:
            print("lago: no container engine runs here (start Docker to try this): local-invoke is skipped", flush=True)
            return 0
        shutil.rmtree(HOME / "state", ignore_errors=True)
        with LocalStack(home=HOME, port=free_port(), name="lago-invoke", build=HOME / "build") as stack:
            print("lago: building and deploying into an embedded cloud", flush=True)
            stack.build()
            stack.deploy({"ScheduleState": "DISABLED"})
            with reachable(stack) as endpoint:
                variables = write_variables(stack, endpoint)
                options = sam_options(endpoint, variables, pull=pull)
                failed = [event for event in EXPECTED if not answers(stack, event, options)]
                served = serves_figures(SAM, options, sam_environment(stack), HOME / "log" / "start-api.log", ROOT)
    except LocalStackError as error:
        print(f"lago: {error.sentence} {f'({error.log})' if error.log else ''}", file=sys.stderr)
        return 1
    return 0 if served and not failed else 1


def has_image_to_pull() -> bool | None:
    """Whether images are pulled by the engine as usual; None without an engine. Raises LocalStackError."""
    if LABORATORY.exists():
        if subprocess.run(["bash", LABORATORY], stdout=sys.stderr, check=False).returncode != 0:
            raise LocalStackError(f"{LABORATORY} could not provide a container engine: see above")
        return False
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True, check=False).returncode != 0:
        return None
    return True


@contextmanager
def reachable(stack: LocalStack) -> Iterator[str]:
    """The address under which containers reach the cloud."""
    port = int(stack.url.rpartition(":")[2])
    with ExitStack() as open_:
        # where the bridge is not of this machine (Docker Desktop), the name leads to its loopback interface
        with suppress(OSError):
            open_.enter_context(forwarded(bridge_address(), port, (LOOPBACK, port)))
        yield f"http://host.docker.internal:{port}"


def bridge_address() -> str:
    """This machine's address on the engine's default bridge, which `host-gateway` stands for."""
    inspected = subprocess.run(["docker", "network", "inspect", "bridge"], capture_output=True, text=True, check=True)
    config: dict[str, str] = json.loads(inspected.stdout)[0]["IPAM"]["Config"][0]
    # Debian's Docker names no gateway unless one was configured; it is the first address then
    return config.get("Gateway") or str(ip_network(config["Subnet"])[1])


def write_variables(stack: LocalStack, endpoint: str) -> Path:
    """`events/env.json` with this cloud's address and the names of this stack's resources."""
    names = {
        "SEARCHES_TABLE": stack.outputs["SearchesTable"],
        "WATCHES_TABLE": stack.outputs["WatchesTable"],
        "QUEUE_TABLE": stack.outputs["QueueTable"],
        "DELIVERIES_TABLE": stack.outputs["DeliveriesTable"],
        "NOTIFY_FUNCTION": stack.outputs["NotifyFunction"],
        "AWS_ENDPOINT_URL": endpoint,
    }
    told: dict[str, dict[str, str]] = json.loads((ROOT / "events" / "env.json").read_text())
    for variables in told.values():
        variables.update((name, value) for name, value in names.items() if name in variables)
    file = HOME / "env.json"
    file.write_text(json.dumps(told, indent=2))
    return file


def sam_options(endpoint: str, variables: Path, *, pull: bool) -> list[str]:
    """What `sam local` is told of the stack, whichever its verb."""
    return [
        *("--config-env", "local"),
        *("--template-file", str(HOME / "build" / "template.yaml")),
        *("--env-vars", str(variables)),
        *("--parameter-overrides", "Architecture=x86_64", f"AwsEndpointUrl={endpoint}"),
        *("--add-host", "host.docker.internal:host-gateway"),
        *([] if pull else ["--skip-pull-image"]),
    ]


def sam_environment(stack: LocalStack) -> dict[str, str]:
    """Points SAM at the embedded cloud and at nothing else."""
    return clean(os.environ) | stack.environment | {"SAM_CLI_TELEMETRY": "0"}


def answers(stack: LocalStack, event: str, options: Sequence[str]) -> bool:
    """Invoke the function of the event and say whether it answered as expected."""
    function = f"{event.partition('-')[0].capitalize()}Function"
    told = str(ROOT / "events" / f"{event}.json")
    log = HOME / "log" / f"invoke-{event}.log"
    with log.open("w") as output:
        done = subprocess.run(
            [str(SAM), "local", "invoke", function, "--event", told, *options],
            cwd=ROOT,
            env=sam_environment(stack),
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    expected, holds = EXPECTED[event]
    good = done.returncode == 0 and is_as_expected(done.stdout, holds)
    if good:
        print(f"lago: {event} answered with {expected}", flush=True)
    else:
        print(
            f"lago: {event} did not answer with {expected} (exit code {done.returncode}): see {log}",
            file=sys.stderr,
        )
    return good


def is_as_expected(output: str, holds: Callable[[Answer], bool]) -> bool:
    """Whether the last line is an answer for which `holds` is true."""
    try:
        answer = json.loads(output.strip().splitlines()[-1])
        return bool(holds(answer))
    except (IndexError, KeyError, TypeError, ValueError):
        return False


if __name__ == "__main__":
    sys.exit(main())
