"""The state that the embedded cloud keeps between runs, and what of it must not be kept."""

import json
import os
import shutil
from pathlib import Path


def empty_scratch(scratch: Path) -> None:
    """Each worker of a function leaves its unpacked code there, 32 MB, when its cloud ends. Nothing may run from it."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)


def forget_stream_positions(services: Path) -> None:
    """Let every stream be read from its beginning.

    ministack keeps how far a function had read a table's stream, but not the stream: after a restart the new records
    count from 0 again, and as many of them as had been read before would wake nobody.
    """
    path = services / "lambda.json"
    if not path.exists():
        return
    state = json.loads(path.read_text())
    positions = state.get("payload", {}).get("dynamodb_stream_positions", {})
    if positions.get("data"):
        positions["data"] = {}
        saved = path.stat()
        path.write_text(json.dumps(state))
        os.utime(path, ns=(saved.st_atime_ns, saved.st_mtime_ns))  # it still tells when the state was saved
