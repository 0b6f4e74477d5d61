"""The state that the embedded cloud keeps between runs, and one thing in it that must not be kept."""

import json
from pathlib import Path


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
        path.write_text(json.dumps(state))
