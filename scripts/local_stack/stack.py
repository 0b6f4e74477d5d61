"""One local stack: started, deployed, asked, stopped. Several live side by side on their own ports and folders."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import boto3
from botocore.config import Config

from scripts.local_stack.cloud import Cloud
from scripts.local_stack.deploy import Sam
from scripts.local_stack.environment import REGION, aws
from scripts.local_stack.errors import LocalStackError
from scripts.local_stack.last_run import LastRun
from scripts.local_stack.metrics import MetricLines
from scripts.local_stack.ports import LOOPBACK

ROOT = Path(__file__).resolve().parents[2]
STACK = "lago-local"
PROGRAM = ROOT / ".venv" / "cloud" / "bin" / "ministack"


class LocalStack:
    """Lago in an embedded cloud on `port`, with everything it keeps and logs under `home`.

    >>> with LocalStack(home=Path(".local"), port=4566) as stack:  # doctest: +SKIP
    ...     stack.build()
    ...     stack.deploy({"WillhabenBaseUrl": simulator.url, "TelegramApiUrl": simulator.url})
    ...     stack.invoke("ScrapeFunction", {"shard": 0})
    """

    def __init__(self, *, home: Path, port: int, name: str = STACK, build: Path | None = None) -> None:
        """`build` is the folder for built code, by default SAM's own; builds at the same time need two."""
        self.home, self.name = home.resolve(), name
        self.url = f"http://{LOOPBACK}:{port}"
        self.logs = self.home / "log"
        self._state = self.home / "state"
        self._last_run = LastRun(self.home, PROGRAM)
        self._port = port
        self._cloud: Cloud | None = None
        self._sam = Sam(
            root=ROOT, build=build or ROOT / ".aws-sam" / "build", logs=self.logs, stack=name, cloud_url=self.url
        )

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def recover(self) -> str:
        """Stop a cloud that the run before left behind, and say what became of its state; "" when all was in order.

        Only for who holds `home` alone. Raises LocalStackError when it does not stop.
        """
        return self._last_run.settle(self._state)

    def start(self) -> None:
        """Start the cloud, with the state that it had when it was stopped. Raises LocalStackError."""
        running = self._last_run.running()
        if running is not None:
            raise LocalStackError(f"The embedded cloud of {self.home} runs already: stop it (kill {running.pid})")
        self._cloud = Cloud(
            program=PROGRAM,
            port=self._port,
            state=self._state,
            log=self.logs / "cloud.log",
            root=self.home,
            started=lambda pid: self._last_run.begin(pid, self._port),
        )

    def build(self) -> None:
        """`sam build`. Raises LocalStackError."""
        self._sam.build()

    def deploy(self, parameters: Mapping[str, str]) -> None:
        """`sam deploy` with these template parameters besides those of the configuration `local`."""
        self._sam.deploy(parameters)
        self.__dict__.pop("outputs", None)

    def stop(self) -> None:
        """Stop the cloud and keep its state. Raises LocalStackError when the state may be incomplete."""
        if self._cloud is not None:
            if self._cloud.stop():
                self._last_run.end()
            self._cloud = None

    def kill(self) -> None:
        """Stop the cloud at once; what happened since its start is forgotten."""
        if self._cloud is not None:
            self._cloud.kill()
            self._cloud = None

    @property
    def pid(self) -> int:
        """The cloud's process id; the functions' workers are its children."""
        if self._cloud is None:
            raise LocalStackError("The embedded cloud does not run: start it first")
        return self._cloud.pid

    @property
    def running(self) -> bool:
        """Whether there is a cloud to stop."""
        return self._cloud is not None

    def check(self) -> None:
        """Raises LocalStackError when the cloud has ended by itself."""
        if self._cloud is not None and not self._cloud.running:
            raise LocalStackError("The embedded cloud ended by itself", str(self.logs / "cloud.log"))

    @property
    def environment(self) -> dict[str, str]:
        """The variables that point boto3, `aws`, `sam` and `lago` at this stack."""
        return aws(self.url) | {"LAGO_STACK": self.name}

    def client(self, service: str) -> Any:
        """A boto3 client of this cloud; the person's own configuration plays no part."""
        return boto3.client(
            service,
            endpoint_url=self.url,
            region_name=REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(connect_timeout=5, read_timeout=120, retries={"total_max_attempts": 1}),
        )

    @cached_property
    def outputs(self) -> dict[str, str]:
        """The deployed stack's outputs."""
        answer = self.client("cloudformation").describe_stacks(StackName=self.name)
        return {each["OutputKey"]: each["OutputValue"] for each in answer["Stacks"][0]["Outputs"]}

    def invoke(self, output: str, event: Mapping[str, object]) -> Any:
        """The answer of the function whose name is in an output. Raises LocalStackError when it failed."""
        answer = self.client("lambda").invoke(FunctionName=self.outputs[output], Payload=json.dumps(event).encode())
        result = json.loads(answer["Payload"].read() or b"null")
        if answer.get("FunctionError"):
            raise LocalStackError(f"{output} failed: {result}", str(self.logs / "cloud.log"))
        return result

    def log_group(self, output: str) -> str:
        """The log group of the function whose name is in an output."""
        name = self.outputs[output]
        described = self.client("lambda").get_function_configuration(FunctionName=name)
        return str(described.get("LoggingConfig", {}).get("LogGroup") or f"/aws/lambda/{name}")

    def metric_lines(self, start: int) -> MetricLines:
        """What makes metrics of the functions' log lines from `start` (epoch ms) on, as CloudWatch does by itself."""
        functions = ("DrainFunction", "ScrapeFunction", "NotifyFunction")
        groups = [self.log_group(function) for function in functions]
        return MetricLines(self.client("logs"), self.client("cloudwatch"), groups, start)

    @property
    def api_url(self) -> str:
        """Where the REST API answers on this machine: the output names its address on AWS."""
        api = self.outputs["ApiUrl"].removeprefix("https://").partition(".")[0]
        stage = self.outputs["ApiUrl"].rpartition("/")[2]
        return f"{self.url}/_aws/execute-api/{api}/{stage}"

    @property
    def api_key(self) -> str:
        """The value of the API key, for the header x-api-key."""
        answer = self.client("apigateway").get_api_key(apiKey=self.outputs["ApiKeyId"], includeValue=True)
        return str(answer["value"])
