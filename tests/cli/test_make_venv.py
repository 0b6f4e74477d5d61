"""`scripts/make-venv` when two targets of `make` need the same environment at once."""

import shutil
import subprocess
import sys
from pathlib import Path

from scripts.local_stack.stack import ROOT

PYTHON = f"""#!/bin/sh
[ "$1" != -c ] || exec {sys.executable} "$@"
case "$2" in
venv) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
pip) echo begin >>pip.log && sleep 0.3 && echo end >>pip.log ;;
esac
"""
"""Answers as Python does where a lock is wanted; what would be installed is only noted."""


def a_checkout(folder: Path) -> None:
    (folder / "scripts").mkdir()
    (folder / "requirements").mkdir()
    for name in ("requirements/uv.txt", "requirements/sam.txt", "pyproject.toml"):
        (folder / name).touch()
    shutil.copy(ROOT / "scripts" / "make-venv", folder / "scripts")
    (folder / "python").write_text(PYTHON)
    (folder / "scripts" / "find-python").write_text(f"#!/bin/sh\necho {folder}/python\n")
    for name in ("python", "scripts/find-python"):
        (folder / name).chmod(0o755)


def test_of_two_at_once_the_second_waits_and_finds_the_work_done(tmp_path: Path) -> None:
    a_checkout(tmp_path)

    both = [
        subprocess.Popen(["scripts/make-venv", "sam"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = "".join(each.communicate(timeout=30)[1] for each in both)

    assert [each.returncode for each in both] == [0, 0]
    assert said.count("lago: making .venv/sam") == 1
    assert "lago: .venv/sam is being made by another make: waiting for it" in said
    assert (tmp_path / "pip.log").read_text().split() == ["begin", "end"] * 2  # uv itself, then what is required


def test_one_that_failed_leaves_the_work_to_the_next(tmp_path: Path) -> None:
    a_checkout(tmp_path)
    (tmp_path / "python").write_text(PYTHON.replace("pip) ", "pip) exit 1;"))

    failed = subprocess.run(["scripts/make-venv", "sam"], cwd=tmp_path, capture_output=True, text=True, check=False)
    shutil.rmtree(tmp_path / ".venv")
    (tmp_path / "python").write_text(PYTHON)
    again = subprocess.run(["scripts/make-venv", "sam"], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert failed.returncode == 1
    assert "could not install requirements/sam.txt" in failed.stderr
    assert again.returncode == 0, again.stderr
