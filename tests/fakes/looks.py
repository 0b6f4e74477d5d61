"""One look at pages, as short as a test of detection needs it."""

from lago.domain.ad import Page
from lago.domain.detect import Detection, detect
from lago.domain.ids import AdId, EpochMs
from lago.domain.search import Cursor
from tests.fakes.market import MINUTE, START, a_page, an_ad

LATER = EpochMs(START + 5 * MINUTE)
BASELINE = a_page(an_ad(920_000_002, price=12), an_ad(920_000_001, price=11))


def baseline(page: Page = BASELINE) -> Cursor:
    return look(page, None).cursor


def look(
    pages: Page | tuple[Page, ...],
    cursor: Cursor | None,
    *,
    answers: dict[str, int | None] | None = None,
    window_size: int = 100,
    room: int = 100,
    gap: bool = False,
) -> Detection:
    return detect(
        pages if isinstance(pages, tuple) else (pages,),
        cursor,
        {AdId(ad): None if first is None else EpochMs(first) for ad, first in (answers or {}).items()},
        now=START if cursor is None else LATER,
        window_size=window_size,
        room=room,
        gap=gap,
    )


def found(detection: Detection) -> list[tuple[str, str]]:
    return [(event.kind, event.ad) for event in detection.events]
