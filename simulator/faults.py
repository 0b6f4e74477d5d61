"""Faults on request: what goes wrong, for whom, how often. A queue that requests are matched against. No I/O."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, cast, get_args

from simulator import checks
from simulator.checks import BadControlError, NoSuchThingError

Target = Literal["market", "telegram", "slack", "discord", "ntfy", "webhook"]
Kind = Literal[
    "status",
    "garbage",
    "truncated",
    "drop",
    "drop_after",
    "hang",
    "delay",
    "block_page",
    "challenge",
    "no_next_data",
    "shift_rows",
    "repeat_page",
    "ignore_sort",
    "ignore_filter",
    "refuse_photo",
]
ENDING: frozenset[Kind] = frozenset(
    {"status", "garbage", "truncated", "drop", "drop_after", "hang", "block_page", "challenge", "no_next_data"}
)
"""Faults that decide the answer: a request meets one of them at most, the oldest."""
MARKET_ONLY: frozenset[Kind] = frozenset(
    {"block_page", "challenge", "no_next_data", "shift_rows", "repeat_page", "ignore_sort", "ignore_filter"}
)
SEARCH_ONLY: frozenset[Kind] = frozenset({"shift_rows", "repeat_page", "ignore_sort", "ignore_filter"})


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request, as far as faults care. `page` is the number of a result page, None for everything else."""

    target: Target
    path: str
    method: str = ""
    chat: str = ""
    text: str = ""
    page: int | None = None


@dataclass(kw_only=True)
class Fault:
    """`times` None means until cleared; the first `after` matching requests are spared.

    `path` is a part of path and query, `method` a Bot API method (below /_hooks/ the HTTP verb), `chat` a chat id:
    empty ones match everything.
    """

    id: str
    target: Target
    kind: Kind
    times: int | None = 1
    after: int = 0
    path: str = ""
    method: str = ""
    chat: str = ""
    text: str = ""
    """A part of the raw text or caption, or of the body of a post: lets one message be poisonous."""
    status: int = 500
    retry_after: int | None = None
    seconds: float = 0.0
    insert: int = 0
    remove: int = 0
    honest: bool = True
    """ignore_sort: whether sortOrderList admits the order that was really applied."""
    served: int = 0
    made: list[str] = field(default_factory=list)
    """shift_rows: ids of the ads that were inserted or removed."""

    @property
    def spent(self) -> bool:
        """Has hit as often as it was to."""
        return self.times is not None and self.served >= self.times

    def fits(self, asked: Asked) -> bool:
        """Whether the request is one that this fault is about."""
        return (
            self.target == asked.target
            and self.path in asked.path
            and self.method.lower() in ("", asked.method.lower())
            and self.chat in ("", asked.chat)
            and self.text in asked.text
            and (self.kind not in SEARCH_ONLY or asked.page is not None)
            and (self.kind != "shift_rows" or asked.page == 1)
            and (self.kind != "refuse_photo" or asked.method.lower() == "sendphoto")
        )

    def to_json(self) -> dict[str, object]:
        """For the control API."""
        return asdict(self)


class Faults:
    """The queue. Spent faults stay readable until they are cleared."""

    def __init__(self) -> None:
        self.all: list[Fault] = []
        self._made = 0

    def add(self, body: Mapping[str, object]) -> Fault:
        """A fault from its JSON. Raises BadControlError that names the field."""
        known = set(Fault.__dataclass_fields__) - {"id", "served", "made"}
        checks.only(body, known)
        target, kind = checks.text(body, "target", "market"), checks.text(body, "kind")
        if target not in get_args(Target):
            raise BadControlError("target", f"expected one of {', '.join(get_args(Target))}, got {target!r}")
        if kind not in get_args(Kind):
            raise BadControlError("kind", f"expected one of {', '.join(get_args(Kind))}, got {kind!r}")
        if (kind in MARKET_ONLY and target != "market") or (kind == "refuse_photo" and target != "telegram"):
            raise BadControlError("target", f"{kind} makes no sense for {target}")
        status = checks.whole(body, "status", 403 if kind == "block_page" else 500, least=200) or 500
        if status > 599:
            raise BadControlError("status", f"expected an HTTP status from 200 to 599, got {status}")
        self._made += 1
        fault = Fault(
            id=f"f{self._made}",
            target=cast("Target", target),
            kind=cast("Kind", kind),
            times=checks.whole(body, "times", None if "times" in body else 1, least=1),
            after=checks.whole(body, "after", 0, least=0) or 0,
            path=checks.text(body, "path"),
            text=checks.text(body, "text"),
            method=checks.text(body, "method"),
            chat=str(checks.whole(body, "chat") or ""),
            status=status,
            retry_after=checks.whole(body, "retry_after", least=0),
            seconds=checks.seconds(body, "seconds", 3600.0 if kind == "hang" else 1.0),
            insert=checks.whole(body, "insert", 0, least=0) or 0,
            remove=checks.whole(body, "remove", 0, least=0) or 0,
            honest=checks.flag(body, "honest", default=True),
        )
        if kind == "shift_rows" and fault.insert + fault.remove == 0:
            raise BadControlError("insert", "shift_rows inserts or removes at least one ad")
        self.all.append(fault)
        return fault

    def clear(self, fault_id: str | None = None) -> int:
        """Take back one fault, or all: how many. Raises NoSuchThingError for an unknown id."""
        kept = [fault for fault in self.all if fault_id is not None and fault.id != fault_id]
        gone = len(self.all) - len(kept)
        if fault_id is not None and not gone:
            raise NoSuchThingError(f"no fault {fault_id!r}")
        self.all = kept
        return gone

    def has(self, fault_id: str) -> bool:
        """Whether the fault was not cleared."""
        return any(fault.id == fault_id for fault in self.all)

    def take(self, asked: Asked) -> list[Fault]:
        """The faults that this request meets, each counted: any number that change it, one that ends it."""
        met: list[Fault] = []
        ended = False
        for fault in self.all:
            if fault.spent or not fault.fits(asked) or (ended and fault.kind in ENDING):
                continue
            if fault.after > 0:
                fault.after -= 1
                continue
            fault.served += 1
            ended = ended or fault.kind in ENDING
            met.append(fault)
        return met
