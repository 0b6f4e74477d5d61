from lago_cli.errors import FunctionError
from tests.cli.fakes import FakeFunctions, FakeStack, a_world
from tests.cli.run import answer, lago


def test_a_cycle_drains_then_scrapes_every_shard() -> None:
    functions = FakeFunctions({"test-scrape": {"new_ads": 3, "errors": 0}})

    result = lago(a_world(FakeStack(functions=functions)), "cycle")

    assert functions.asked == [("test-drain", {}), ("test-scrape", {"shard": 0}), ("test-scrape", {"shard": 1})]
    assert "drain: nothing to do" in result.stdout
    assert "scrape 1: new ads 3" in result.stdout


def test_a_failing_drain_does_not_stop_scrape_but_is_told() -> None:
    functions = FakeFunctions({"test-drain": FunctionError("test-drain: out of memory")})

    result = lago(a_world(FakeStack(functions=functions)), "cycle")

    assert result.exit_code == 1
    assert "drain: failed: test-drain: out of memory" in result.stdout
    assert len(functions.asked) == 3


def test_a_shard_that_another_cycle_holds_is_skipped_and_said() -> None:
    functions = FakeFunctions({"test-scrape": {"skipped": True}})

    result = lago(a_world(FakeStack(functions=functions)), "cycle")

    assert result.exit_code == 0
    assert "scrape 0: skipped, another cycle is at work" in result.stdout


def test_a_cycle_as_json_keeps_the_reports_as_they_are() -> None:
    report = {"new_ads": 3, "sources": {"willhaben": {"fetched": 2}}}
    functions = FakeFunctions({"test-scrape": report})

    assert answer(lago(a_world(FakeStack(functions=functions)), "cycle", "--json"))["scrape 0"] == report


def test_stats_show_the_figures_under_their_documented_names() -> None:
    stack = FakeStack(stats={"pending": {"telegram": 2}, "sources": {}, "oldest_due": None})

    result = lago(a_world(stack), "stats")

    assert "pending.telegram" in result.stdout
    assert answer(lago(a_world(stack), "stats", "--json")) == stack.stats
