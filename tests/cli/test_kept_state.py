"""What the embedded cloud keeps between runs."""

import json
import os
from pathlib import Path

from scripts.local_stack.state import empty_scratch, forget_stream_positions


def test_a_restarted_stream_is_read_from_its_beginning(tmp_path: Path) -> None:
    kept = {"functions": {"a": 1}, "dynamodb_stream_positions": {"__account_region_scoped__": True, "data": {"x": 26}}}
    (tmp_path / "lambda.json").write_text(json.dumps({"__ministack_format__": 2, "payload": kept}))

    os.utime(tmp_path / "lambda.json", (1_000, 1_000))

    forget_stream_positions(tmp_path)

    state = json.loads((tmp_path / "lambda.json").read_text())["payload"]
    assert state["dynamodb_stream_positions"] == {"__account_region_scoped__": True, "data": {}}
    assert state["functions"] == {"a": 1}
    assert (tmp_path / "lambda.json").stat().st_mtime == 1_000


def test_a_first_run_has_nothing_to_forget(tmp_path: Path) -> None:
    forget_stream_positions(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_what_workers_left_behind_is_thrown_away(tmp_path: Path) -> None:
    (tmp_path / "tmp" / "ministack-lambda-scrape-1" / "code").mkdir(parents=True)

    for _ in range(2):
        empty_scratch(tmp_path / "tmp")

    assert list((tmp_path / "tmp").iterdir()) == []
