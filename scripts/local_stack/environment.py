"""Environment variables: what the local stack's processes get, and the file that points a terminal at it."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

REGION = "eu-central-1"
_OURS = ("AWS_", "LAGO_", "TELEGRAM_", "WILLHABEN_", "PYTHON", "SAM_", "MAKE", "VIRTUAL_ENV", "WATCH")
"""Prefixes that must not leak from the person's shell into the processes: real credentials, the bot's token."""


def clean(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The person's environment without anything that could reach a real account or change a process's ways."""
    kept = {name: value for name, value in environ.items() if not name.upper().startswith(_OURS)}
    loopback = "127.0.0.1,localhost"
    for name in ("NO_PROXY", "no_proxy"):
        kept[name] = f"{kept[name]},{loopback}" if kept.get(name) else loopback
    return kept


def aws(cloud_url: str) -> dict[str, str]:
    """What makes any AWS tool talk to the local cloud, and to nothing else."""
    return {
        "AWS_ENDPOINT_URL": cloud_url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def write_env_file(path: Path, variables: Mapping[str, str], program_folder: Path) -> None:
    """A file for `source`: exports the variables, drops credentials that would win over them, adds `lago` to PATH."""
    lines = [
        "# Made by `make run`: points `lago`, `aws` and `sam` at the local stack.",
        "unset AWS_PROFILE AWS_SESSION_TOKEN",
    ]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    lines += [f'export PATH={shlex.quote(str(program_folder))}:"$PATH"', ""]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text("\n".join(lines))
