"""A search: one query being watched, and all that it remembers."""

from typing import Literal

from msgspec import Struct

from lago.domain.event import Event
from lago.domain.ids import AdId, EpochMs, Minor, SearchId, WatchId
from lago.domain.query import Query


class KnownAd(Struct, frozen=True, array_like=True):
    """An ad that the search has seen, with the first price remembered and the lowest since."""

    id: AdId
    first: Minor | None
    low: Minor | None


class Cursor(Struct, frozen=True, kw_only=True):
    """What a search remembers between cycles.

    `began` is when the baseline was read, `newest` the newest organic publish time seen, `highest_id` the highest
    numeric ad id of the baseline (ids grow with time; 0 where ids are no numbers), `fingerprint` stands for the organic
    (id, price) list of the last first page, `total` for the number of matches at that time, `gap` for ads that came
    faster than they could be read.
    """

    began: EpochMs
    newest: EpochMs
    highest_id: int
    window: tuple[KnownAd, ...]
    fingerprint: str
    total: int | None = None
    gap: bool = False


class Health(Struct, frozen=True, kw_only=True):
    """Why a source or a search is not being read, and when it is tried next. Healthy means: no Health."""

    kind: Literal["blocked", "unavailable", "search"]
    reason: str
    failures: int
    since: EpochMs
    retry_at: EpochMs


class Search(Struct, frozen=True, kw_only=True):
    """One item of the searches table.

    `cursor` is None until the baseline is read. `outbox` holds the events committed but not yet handed out, under
    `outbox_id`; `outbox_since` is when the oldest of them was committed. `awaiting` are watches that have not had their
    "your watch is live" message yet. `watches` counts the watches, 0 retires the search.
    """

    id: SearchId
    query: Query
    version: int
    watches: int
    cursor: Cursor | None = None
    outbox_id: str | None = None
    outbox: tuple[Event, ...] = ()
    outbox_since: EpochMs | None = None
    health: Health | None = None
    awaiting: frozenset[WatchId] = frozenset()
