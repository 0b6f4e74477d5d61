from lago_cli.errors import FunctionError
from tests.cli.fakes import FakeFunctions, FakeStack, FakeWatches, a_watch, a_world
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


def test_searches_are_called_by_their_watches_names_and_failures_give_their_reasons() -> None:
    notes = ["0.abc: www.willhaben.at answered 404 for /iad", "1.def: 2 new ads"]
    functions = FakeFunctions({"test-scrape": {"read": 1, "errors": {"search": 1}, "notes": notes}})
    stats = {
        "sources": {"willhaben": {"reason": "www.willhaben.at answered 503"}, "other": {"reason": None}},
        "failing_searches": [{"search": "0.abc", "reason": "www.willhaben.at answered 404 for /iad"}],
        "disabled_destinations": [{"destination": "me", "reason": "bot was blocked"}],
    }
    watches = FakeWatches([a_watch("a", label="Our bike"), a_watch("b", label="rennrad")])

    result = lago(a_world(FakeStack(functions=functions, stats=stats, watches=watches)), "cycle")

    failed = "“Our bike”, “rennrad”: www.willhaben.at answered 404 for /iad"
    assert result.stdout.splitlines()[-3:] == [
        f"scrape 1: read 1, errors (search 1); {failed}; 1.def: 2 new ads",
        "willhaben rests: www.willhaben.at answered 503",
        "“me” is disabled: bot was blocked",
    ]


def test_a_cycle_as_json_keeps_the_reports_as_they_are() -> None:
    report = {"new_ads": 3, "sources": {"willhaben": {"fetched": 2}}}
    functions = FakeFunctions({"test-scrape": report})

    assert answer(lago(a_world(FakeStack(functions=functions)), "cycle", "--json"))["scrape 0"] == report


def test_stats_show_the_figures_under_their_documented_names() -> None:
    stack = FakeStack(stats={"pending": {"telegram": 2}, "sources": {}, "oldest_due": None})

    result = lago(a_world(stack), "stats")

    assert "pending.telegram" in result.stdout
    assert answer(lago(a_world(stack), "stats", "--json")) == stack.stats
