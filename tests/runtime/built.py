"""What `sam build` makes, made once for the same source and kept in `.local/`."""

import fcntl
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]
LAYER_SOURCE = ROOT / "layers" / "common"
KEPT = ROOT / ".local" / "runtime-tests"
# the runtime's own packages, which lie outside the layer
INTERFACE_CLIENT = ("awslambdaric", "runtime_client", "simplejson", "snapshot_restore_py")


def layer() -> Path:
    """The layer as its Makefile builds it: the folder that Lambda unpacks below /opt."""
    return _once("layer", _digest(LAYER_SOURCE), build_layer)


def build_layer(target: Path) -> None:
    """Call the Makefile as `sam build` does."""
    tools = ROOT / ".venv" / "sam" / "bin"
    subprocess.run(
        ["make", "--makefile", LAYER_SOURCE / "Makefile", "build-CommonLayer"],
        env=os.environ
        | {"ARTIFACTS_DIR": str(target), "PYTHON": sys.executable, "PATH": f"{tools}:{os.environ['PATH']}"},
        cwd=LAYER_SOURCE,
        check=True,
        capture_output=True,
    )


def interface_client() -> Path:
    """A folder with Lambda's runtime interface client and nothing else, so that nothing hides a gap in the layer."""
    return _once("interface-client", version("awslambdaric"), _copy_interface_client)


def _copy_interface_client(target: Path) -> None:
    for name in INTERFACE_CLIENT:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        file = Path(spec.origin)
        if file.name == "__init__.py":
            shutil.copytree(file.parent, target / name)
        else:
            shutil.copy2(file, target)


def emulator() -> Path:
    """Lambda's runtime interface emulator, out of SAM CLI's wheel."""
    machine = {"x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}[platform.machine()]
    found = list((ROOT / ".venv" / "sam" / "lib").glob(f"python3.*/site-packages/samcli/local/rapid/*-{machine}"))
    assert found, "SAM CLI is not installed: `make test` does that"
    return found[0]


def _once(name: str, digest: str, build: Callable[[Path], None]) -> Path:
    """Build into `.local/` unless that was done for the same source; several processes may ask at the same time."""
    KEPT.mkdir(parents=True, exist_ok=True)
    wanted = KEPT / f"{name}-{digest}"
    with _locked(KEPT / f"{name}.lock"):
        if not wanted.exists():
            for old in KEPT.glob(f"{name}-*"):
                shutil.rmtree(old)
            unfinished = KEPT / f"unfinished-{name}"
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            build(unfinished)
            unfinished.rename(wanted)
    return wanted


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    with file.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _digest(folder: Path) -> str:
    digest = hashlib.sha256(sys.version.encode())
    for file in sorted(folder.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            digest.update(f"{file.relative_to(folder)}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
