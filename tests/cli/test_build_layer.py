"""What a person reads when the layer cannot be built."""

import os
import subprocess
import sys
from pathlib import Path

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
