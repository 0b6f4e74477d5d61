"""A stack that is well, and what `lago doctor` says of one."""

import json
from datetime import UTC, datetime
from typing import Any

from lago_cli.ports import World
from tests.cli.fakes import (
    NOW,
    FakeDestinations,
    FakeSecrets,
    FakeStack,
    FakeWatches,
    a_destination,
    a_watch,
)
from tests.cli.run import lago

TOKEN = "123456:ABC-DEF"
PARAMETER = "/lago/test/telegram-bot-token"


def figures(**changes: Any) -> dict[str, Any]:
    """What GET /stats says of a stack that is well."""
    return {
        "pending": {"total": 0, "by_channel": {}},
        "pending_due": 0,
        "dead": {"total": 0, "by_channel": {}},
        "oldest_due_age_seconds": 0,
        "searches": 1,
        "sources": {"willhaben": {"healthy": True, "reason": None, "since": None, "retry_at": None}},
        "failing_searches": [],
        "cycles": [{"shard": 0, "started": iso(-60), "finished": iso(-50), "interval_seconds": 60.0}],
        **changes,
    }


def iso(seconds: int) -> str:
    """So many seconds from now."""
    return datetime.fromtimestamp(NOW / 1000 + seconds, UTC).isoformat(timespec="seconds")


def a_stack(**changes: Any) -> FakeStack:
    """A stack that is well."""
    me = a_destination(credentials=PARAMETER)
    known: dict[str, Any] = {
        "destinations": FakeDestinations({me.id: me}),
        "secrets": FakeSecrets({PARAMETER: TOKEN}),
        "watches": FakeWatches([a_watch("w1")]),
        "stats": figures(),
    }
    return FakeStack(**{**known, **changes})


def findings(world: World) -> dict[tuple[str, str], list[str]]:
    """What is said, with the remedy, by check and verdict."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in json.loads(lago(world, "doctor", "--json").stdout):
        said = f"{each['said']} → {each['remedy']}" if each.get("remedy") else each["said"]
        found.setdefault((each["check"], each["verdict"]), []).append(said)
    return found


def troubles(world: World) -> dict[tuple[str, str], list[str]]:
    """Findings that are not fine."""
    return {name: said for name, said in findings(world).items() if name[1] != "fine"}
