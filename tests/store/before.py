"""The version before this one, from the repository's history: its package, run as a program of its own."""

import json
import os
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BEFORE = "89800e8ba6abc895e9e018deeafae1c59497ef21"
"""The last commit that wrote schema 1, and the version that a deploy of this one replaces."""
PROGRAM = ROOT / "tests" / "store" / "written.py"


def checkout(into: Path) -> Path:
    """The version before, whole; skips the test where the clone does not reach back so far."""
    archive = subprocess.run(["git", "archive", BEFORE], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        pytest.skip(f"the commit {BEFORE[:7]} is not in this clone's history: `git fetch --unshallow` brings it")
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as tar:
        tar.extractall(into, filter="data")
    return into


def run(folder: Path, verb: str, tables: object = None) -> Any:
    """What the package in that checkout makes of the tables: see `tests/store/written.py`."""
    path = f"{folder / 'layers' / 'common'}{os.pathsep}{folder}"
    done = subprocess.run(
        [sys.executable, PROGRAM, verb],
        env=os.environ | {"PYTHONPATH": path},
        input=json.dumps(tables),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
