"""What becomes of each thing in a backup, so that a restored stack loses nothing and tells nothing again. Pure."""

from msgspec.structs import replace

from lago.domain.ids import EpochMs
from lago.domain.mailbox import Row, dead
from lago.domain.search import Cursor


def cursor_from(told_until: EpochMs, began: EpochMs) -> Cursor:
    """What a search remembers: that all was told that was published before that time, and not an ad or price.

    Without ads it takes the pages as they are: what was published earlier is old, and what became cheaper meanwhile is
    no price drop. One that `began` later keeps its beginning.
    """
    since = max(told_until, began)
    return Cursor(began=since, newest=since, highest_id=0, window=(), fingerprint="")


def row_from(row: Row, *, told_until: EpochMs, now: EpochMs) -> Row:
    """A row as it is restored.

    What waited since before `told_until` may have been told by the stack that was lost: it is dead here, to be looked
    at and redriven by hand. So is what would come back by itself when its destination recovers.
    """
    if row.died is not None:
        by_itself = row.dead_reason == "outage" and row.generation == 0
        return replace(row, generation=1) if by_itself else row
    return dead(row, "expired", now) if row.created < told_until else row
