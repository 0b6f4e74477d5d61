"""What a scrape sees that whoever runs Lago should know, and when it is carried to the one that tells."""

import pytest
from msgspec.structs import replace

from lago.domain.ids import DestinationId, EpochMs, SearchId, SourceName
from lago.operator_signs import Report, ScrapeSigns
from lago.scrape_report import ScrapeReport
from tests.builders import NOW
from tests.fakes.sending import MINUTE, FakeClock

QUIET = ScrapeReport(shard=0, started=EpochMs(NOW), sources=(SourceName("willhaben"),))
BLOCKED = replace(QUIET, resting_because={SourceName("willhaben"): "HTTP 429"})


class Wire:
    """Carries reports, or fails."""

    def __init__(self) -> None:
        self.carried: list[Report] = []
        self.cut = False

    def __call__(self, report: Report) -> None:
        if self.cut:
            raise ConnectionError
        self.carried.append(report)


def signs(wire: Wire, clock: FakeClock, operator: str = "ops") -> ScrapeSigns:
    return ScrapeSigns(wire, operator=DestinationId(operator), clock=clock)


def test_a_source_that_cannot_be_read_is_carried_with_its_reason_and_so_is_its_return():
    wire, clock = Wire(), FakeClock()
    scrape = signs(wire, clock)

    scrape.look(BLOCKED)
    scrape.look(QUIET)

    first, second = wire.carried
    assert [(sign.key, "HTTP 429" in sign.text) for sign in first.signs] == [("source/willhaben", True)]
    assert second.signs == ()
    assert "source/willhaben" in second.scope


def test_a_gap_is_carried_with_its_search():
    wire = Wire()

    signs(wire, FakeClock()).look(replace(QUIET, gaps=(SearchId("ab12"),)))

    (report,) = wire.carried
    assert [(sign.key, "ab12" in sign.text) for sign in report.signs] == [("gap/0", True)]


def test_what_stays_the_same_is_carried_once_an_hour_and_quiet_once():
    wire, clock = Wire(), FakeClock()
    scrape = signs(wire, clock)

    for report in [QUIET] * 120 + [BLOCKED] * 120:
        scrape.look(report)
        clock.now += MINUTE

    assert [bool(report.signs) for report in wire.carried] == [False, True, True]


def test_what_could_not_be_carried_is_carried_by_the_next_scrape():
    wire = Wire()
    scrape = signs(wire, FakeClock())
    wire.cut = True
    with pytest.raises(ConnectionError):
        scrape.look(BLOCKED)
    wire.cut = False

    scrape.look(BLOCKED)

    assert len(wire.carried) == 1


def test_a_shard_says_nothing_about_another_ones_gap_source_or_failure():
    wire = Wire()
    scrape = signs(wire, FakeClock())
    other = ScrapeReport(shard=1, started=EpochMs(NOW))

    scrape.look(BLOCKED)
    scrape.look(other)

    assert wire.carried[1].scope == ("gap/1", "cycle/scrape/1")


def test_a_scrape_that_ends_after_one_that_did_not_is_news():
    wire = Wire()
    scrape = signs(wire, FakeClock())
    scrape.begin()
    scrape.look(QUIET)
    scrape.begin()

    scrape.begin()
    scrape.look(QUIET)

    assert len(wire.carried) == 2
    assert "cycle/scrape/0" in wire.carried[1].scope


@pytest.mark.parametrize(
    ("operator", "report"), [("", BLOCKED), ("ops", replace(BLOCKED, skipped=True))], ids=["nobody", "skipped"]
)
def test_nothing_is_carried_where_nobody_is_told_or_another_scrape_runs(operator: str, report: ScrapeReport):
    wire = Wire()

    signs(wire, FakeClock(), operator).look(report)

    assert wire.carried == []
