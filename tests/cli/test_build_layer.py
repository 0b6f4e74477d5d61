"""How a layer is built: from a checkout of any name, and what a person reads when it cannot be."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.local_stack.stack import ROOT


def test_a_failing_installer_is_told_in_its_own_last_words(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("httpx==0.28.1\n")
    uv = tmp_path / "uv"
    uv.write_text('#!/bin/sh\nseq 100\necho "certs=$UV_SYSTEM_CERTS: no route to the index" >&2\nexit 2\n')
    uv.chmod(0o755)

    done = subprocess.run(
        [sys.executable, ROOT / "layers" / "common" / "build_layer.py", tmp_path, tmp_path / "out"],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr.startswith("layer: uv could not install what Lambda needs (exit code 2):\n")
    assert done.stderr.endswith("certs=1: no route to the index\n")
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) < 15


@pytest.mark.parametrize("layer", ["common", "apprise"])
def test_a_layer_is_built_from_a_checkout_whose_path_has_spaces_and_umlauts(tmp_path: Path, layer: str) -> None:
    checkout, scratch = tmp_path / "Meine  Dateien ü" / "lago", tmp_path / "scratch"
    folder = checkout / "layers" / layer
    folder.mkdir(parents=True)
    scratch.mkdir()
    shutil.copy(ROOT / "layers" / layer / "Makefile", folder)
    (checkout / "scripts").mkdir()
    finder = checkout / "scripts" / "find-python"
    finder.write_text(f"#!/bin/sh\necho {sys.executable}\n")
    finder.chmod(0o755)
    (checkout / "layers" / "common").mkdir(exist_ok=True)
    (checkout / "layers" / "common" / "build_layer.py").write_text("import sys\nprint(*sys.argv[1:], sep='\\n')\n")

    done = subprocess.run(
        ["make", "--makefile", folder / "Makefile", f"build-{layer.title()}Layer"],
        cwd=scratch,
        env=os.environ | {"ARTIFACTS_DIR": str(tmp_path / "out of it")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.splitlines() == [f"{folder}/", str(tmp_path / "out of it")], done.stderr
