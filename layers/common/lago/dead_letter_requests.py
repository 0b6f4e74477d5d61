"""What a request to `/dead-letters` asks for: everything in it is checked, and refused by name when it is wrong."""

from collections.abc import Mapping

from msgspec import Struct

from lago.dead_letters import AT_ONCE, FASTEST, LONGEST_REASON, PER_MINUTE, Selection
from lago.domain.dead_letter import KINDS, REASONS, Wanted
from lago.domain.ids import DestinationId, EpochMs
from lago.domain.since import read_since
from lago.errors import BadInputError
from lago.request_body import read_object, require_known

LIMIT = 50
_LONGEST_WORD = 600
_FILTERS = ("destination", "kind", "reason", "since")

Query = Mapping[str, str] | None


class Listing(Struct, frozen=True, kw_only=True):
    """What `GET /dead-letters` asks for, and its export."""

    wanted: Wanted
    limit: int
    cursor: str | None


def read_listing(query: Query, now: EpochMs) -> Listing:
    """From the query string; `now` is where a span of `since` ends. Raises BadInputError."""
    fields = query or {}
    require_known(fields, ("limit", "cursor", *_FILTERS), "query")
    limit = fields.get("limit", str(LIMIT))
    if not (limit.isascii() and limit.isdigit() and len(limit) < 4 and 1 <= int(limit) <= AT_ONCE):
        raise BadInputError("limit", limit, f"a whole number from 1 to {AT_ONCE}")
    return Listing(wanted=_wanted(fields, now), limit=int(limit), cursor=_text(fields, "cursor"))


def read_redrive(body: str | None, now: EpochMs) -> tuple[Selection, int]:
    """Which letters are brought back, and how many a minute; `now` as for a listing. Raises BadInputError."""
    fields = read_object(body, ("ids", "filter", "all", "per_minute", "cursor"))
    ways = [name for name in ("ids", "filter", "all") if name in fields]
    if len(ways) != 1:
        raise BadInputError("body", ", ".join(ways) or "none of them", "one of ids, filter or all")
    per_minute = fields.get("per_minute", PER_MINUTE)
    if not isinstance(per_minute, int) or isinstance(per_minute, bool) or not 1 <= per_minute <= FASTEST:
        raise BadInputError("per_minute", per_minute, f"a whole number from 1 to {FASTEST}")
    cursor = _text(fields, "cursor")
    match fields:
        case {"ids": _}:
            if cursor is not None:
                raise BadInputError("cursor", cursor, "no cursor beside ids")
            return Selection(ids=_ids(fields)), per_minute
        case {"filter": dict() as wanted} if any(value is not None for value in wanted.values()):
            require_known(wanted, _FILTERS, "filter")
            return Selection(wanted=_wanted(wanted, now), cursor=cursor), per_minute
        case {"filter": other}:
            raise BadInputError("filter", other, f"an object with one or more of {', '.join(_FILTERS)}")
        case {"all": True}:
            return Selection(cursor=cursor), per_minute
    raise BadInputError("all", fields["all"], "true")


def read_discard(body: str | None) -> tuple[Selection, str]:
    """Which letters are discarded, and why. Raises BadInputError."""
    fields = read_object(body, ("ids", "reason"))
    return Selection(ids=_ids(fields)), read_reason(fields.get("reason"))


def read_reason(reason: object, field: str = "reason") -> str:
    """Why letters are discarded. Raises BadInputError."""
    if isinstance(reason, str) and reason.isprintable() and 1 <= len(reason.strip()) <= LONGEST_REASON:
        return reason.strip()
    shown = "nothing" if reason is None else reason
    raise BadInputError(field, shown, f"why they are discarded, 1 to {LONGEST_REASON} printable characters")


def _ids(fields: Mapping[str, object]) -> tuple[str, ...]:
    match fields.get("ids"):
        case list() as ids if 1 <= len(ids) <= AT_ONCE:
            words = [id_ for id_ in ids if isinstance(id_, str)]
            if len(words) == len(ids):
                return tuple(words)
    raise BadInputError("ids", fields.get("ids", "nothing"), f"a list of 1 to {AT_ONCE} ids of dead letters")


def _wanted(fields: Mapping[str, object], now: EpochMs) -> Wanted:
    destination, since = _text(fields, "destination"), fields.get("since")
    return Wanted(
        destination=None if destination is None else DestinationId(destination),
        kind=read_choice(fields.get("kind"), "kind", KINDS),
        reason=read_choice(fields.get("reason"), "reason", REASONS),
        since=None if since is None else read_since(since, now),
    )


def read_choice(value: object, field: str, choices: tuple[str, ...]) -> str | None:
    """One of the choices, or none. Raises BadInputError."""
    if value is None:
        return None
    if isinstance(value, str) and value in choices:
        return value
    raise BadInputError(field, value, f"one of {', '.join(choices)}")


def _text(fields: Mapping[str, object], name: str) -> str | None:
    value = fields.get(name)
    if value is None or (isinstance(value, str) and 1 <= len(value) <= _LONGEST_WORD):
        return value
    raise BadInputError(name, value, f"1 to {_LONGEST_WORD} characters")
