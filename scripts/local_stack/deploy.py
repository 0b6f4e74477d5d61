"""`sam build` and `sam deploy`, as for AWS, into the embedded cloud."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from scripts.local_stack.environment import REGION, aws, clean
from scripts.local_stack.processes import run


class Sam:
    """The SAM CLI in the checkout `root`, with the configuration `local`."""

    def __init__(self, *, root: Path, build: Path, logs: Path, stack: str, cloud_url: str) -> None:
        """`build` is the folder for built code; two builds at a time need two.

        SAM looks for its configuration beside the template that it deploys, so both are named.
        """
        self._root, self._build, self._logs, self._stack = root, build, logs, stack
        self._programs = root / ".venv" / "sam" / "bin"
        env = clean() | aws(cloud_url) | {"SAM_CLI_TELEMETRY": "0"}
        # `sam build` looks for python3.13 on the path
        self._env = env | {"PATH": f"{self._programs}:{env.get('PATH', '')}"}

    def build(self) -> None:
        """Build functions and layer. Raises LocalStackError."""
        self._run(
            "sam build", "build", "--build-dir", str(self._build), "--cache-dir", str(self._build.parent / "cache")
        )

    def deploy(self, parameters: Mapping[str, str]) -> None:
        """Deploy what was built. Raises LocalStackError."""
        overrides = local_parameters(self._root / "samconfig.toml") | dict(parameters)
        self._run(
            "sam deploy",
            *("deploy", "--template-file", str(self._build / "template.yaml"), "--no-progressbar"),
            *("--stack-name", self._stack, "--region", REGION),
            *("--parameter-overrides", *(f'{name}="{value}"' for name, value in overrides.items())),
        )

    def _run(self, name: str, *arguments: str) -> None:
        config = ("--config-file", str(self._root / "samconfig.toml"), "--config-env", "local")
        command = [str(self._programs / "sam"), *arguments, *config]
        run(name, command, env=self._env, log=self._logs / f"{name.replace(' ', '-')}.log", cwd=self._root)


def local_parameters(samconfig: Path) -> dict[str, str]:
    """The parameters of the configuration `local`: overrides on the command line would replace all of them."""
    listed: list[str] = tomllib.loads(samconfig.read_text())["local"]["deploy"]["parameters"]["parameter_overrides"]
    return dict(each.split("=", 1) for each in listed)
