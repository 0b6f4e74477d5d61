"""What the embedded cloud keeps between runs."""

import json
from pathlib import Path

from scripts.local_stack.state import forget_stream_positions


def test_a_restarted_stream_is_read_from_its_beginning(tmp_path: Path) -> None:
    kept = {"functions": {"a": 1}, "dynamodb_stream_positions": {"__account_region_scoped__": True, "data": {"x": 26}}}
    (tmp_path / "lambda.json").write_text(json.dumps({"__ministack_format__": 2, "payload": kept}))

    forget_stream_positions(tmp_path)

    state = json.loads((tmp_path / "lambda.json").read_text())["payload"]
    assert state["dynamodb_stream_positions"] == {"__account_region_scoped__": True, "data": {}}
    assert state["functions"] == {"a": 1}


def test_a_first_run_has_nothing_to_forget(tmp_path: Path) -> None:
    forget_stream_positions(tmp_path)

    assert list(tmp_path.iterdir()) == []
