import pytest

from lago.domain.ids import DestinationId, Minor
from lago_cli.ports import Narrowing
from tests.cli.fakes import (
    NOW,
    FakeDestinations,
    FakeMarketplace,
    FakeStack,
    FakeWatches,
    a_destination,
    a_watch,
    a_world,
)
from tests.cli.run import answer, lago


def a_stack(*watches: str) -> FakeStack:
    return FakeStack(
        watches=FakeWatches([a_watch(each) for each in watches]),
        destinations=FakeDestinations({DestinationId("me"): a_destination()}),
    )


def test_adding_a_keyword_stores_its_query_and_a_watch_with_filters() -> None:
    stack, shop = a_stack(), FakeMarketplace()

    watch = answer(
        lago(
            a_world(stack, shop),
            *("watch", "add", "rennrad", "--price-to", "500", "--name", "My bike", "--exclude", "kinder"),
            *("--exclude", "defekt", "--exclude-seller", "Rad GmbH", "--drop-percent", "5", "--drop-amount", "19.90"),
            *("--near", "48.2,16.37", "--json"),
        )
    )

    assert len(watch["id"]) == 8
    assert watch["id"] == watch["id"].lower()
    assert watch["label"] == "My bike"
    assert watch["near"] == [48.2, 16.37]
    assert watch["created"] >= NOW
    (stored,) = stack.watches.kept
    assert stored.filters.exclude_words == ("kinder", "defekt")
    assert stored.filters.exclude_sellers == ("Rad GmbH",)
    assert (stored.filters.drop_percent, stored.filters.drop_amount) == (5, 1_990)
    assert stored.filters.price_to is None
    assert shop.narrow == Narrowing(price_to=Minor(50_000))
    assert shop.base_url == "http://127.0.0.1:8099"
    assert stored.search == stack.watches.queries[stored.id].search_id(2)


def test_prices_beside_an_address_filter_what_is_told() -> None:
    stack = a_stack()

    lago(a_world(stack), "watch", "add", "https://www.willhaben.at/iad/x", "--price-to", "500", "--private")

    (stored,) = stack.watches.kept
    assert (stored.filters.price_to, stored.filters.seller_kind) == (50_000, "private")
    assert stored.label == "x"


@pytest.mark.parametrize(
    ("address", "label"),
    [
        ("https://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz?sort=1&keyword=rennrad+54", "rennrad 54"),
        ("https://www.willhaben.at/iad/immobilien/mietwohnungen/mietwohnung-angebote", "mietwohnung angebote"),
        ("https://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz/fahrraeder-4525?keyword=%20", "fahrraeder"),
    ],
)
def test_an_address_names_its_watch(address: str, label: str) -> None:
    stack = a_stack()

    lago(a_world(stack), "watch", "add", address)

    assert stack.watches.kept[0].label == label


def test_a_watch_without_a_destination_is_refused_with_the_way_out() -> None:
    stack = FakeStack()

    result = lago(a_world(stack), "watch", "add", "rennrad")

    assert result.exit_code == 2
    assert "`lago setup` makes the first" in result.stderr
    assert stack.watches.kept == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--drop-percent", "0"], "--drop-percent: got '0.0'"),
        (["--drop-percent", "nan"], "--drop-percent: got 'nan'"),
        (["--near", "Wien"], "--near: got 'Wien', expected latitude,longitude"),
        (["--near", "91,0"], "--near: got '91,0'"),
        (["--near", "nan,nan"], "--near: got 'nan,nan'"),
        (["--exclude", ""], "--exclude: got ''"),
        (["--name", " "], "--name: got ' '"),
        (["--to", "mum"], "--to: got 'mum'"),
    ],
)
def test_wrong_options_store_nothing(options: list[str], sentence: str) -> None:
    stack = a_stack()

    result = lago(a_world(stack), "watch", "add", "rennrad", *options)

    assert result.exit_code == 2
    assert sentence in result.stderr
    assert stack.watches.kept == []


def test_nothing_to_watch_is_refused_before_the_stack_is_looked_for() -> None:
    result = lago(a_world(), "watch", "add", "")

    assert result.exit_code == 2
    assert "KEYWORD|URL: got '', expected a keyword" in result.stderr


def test_the_same_watch_twice_is_most_likely_a_mistake() -> None:
    stack = a_stack()
    world = a_world(stack)

    lago(world, "watch", "add", "rennrad", "--exclude", "kinder")
    twice = lago(world, "watch", "add", "rennrad", "--exclude", "kinder", "--name", "bike")
    other = lago(world, "watch", "add", "rennrad", "--exclude", "defekt")
    meant = lago(world, "watch", "add", "rennrad", "--exclude", "kinder", "--again")

    assert (twice.exit_code, other.exit_code, meant.exit_code) == (2, 0, 0)
    assert "“rennrad” (aaaqeaye, running) is the same; add it all the same with --again" in twice.stderr
    assert len(stack.watches.kept) == 3


def test_a_disabled_destination_is_told_when_a_watch_needs_it() -> None:
    stack = FakeStack(destinations=FakeDestinations({DestinationId("me"): a_destination(disabled="bot was blocked")}))

    added = lago(a_world(stack), "watch", "add", "rennrad", "--json")
    resumed = lago(a_world(stack), "watch", "resume", "rennrad")

    assert answer(added)["label"] == "rennrad"
    for result in (added, resumed):
        assert "“me” is disabled (bot was blocked): nothing is told until you run `lago setup`" in result.stderr


def test_the_list_shows_every_watch_and_its_state() -> None:
    stack = a_stack("abc", "xyz")
    stack.watches.set_paused(stack.watches.kept[1], "on holiday")

    result = lago(a_world(stack), "watch", "list")

    assert "abc" in result.stdout
    assert "paused: on holiday" in result.stdout
    assert [each["id"] for each in answer(lago(a_world(stack), "watch", "list", "--json"))] == ["abc", "xyz"]


def test_an_empty_list_says_how_to_begin() -> None:
    assert "lago watch add" in lago(a_world(FakeStack()), "watch", "list").stdout
    assert answer(lago(a_world(FakeStack()), "watch", "list", "--json")) == []


def test_a_unique_beginning_of_the_id_is_enough() -> None:
    shown = answer(lago(a_world(a_stack("abcd", "abxy")), "watch", "show", "ABC", "--json"))

    assert shown["id"] == "abcd"


def test_the_whole_id_wins_over_longer_ones() -> None:
    assert answer(lago(a_world(a_stack("ab", "abxy")), "watch", "show", "ab", "--json"))["id"] == "ab"


def test_the_name_of_a_watch_is_as_good_as_its_id() -> None:
    bike, flat, home = a_watch("ab", label="Our Bike"), a_watch("cd", label="flat"), a_watch("flat2", label="home")
    world = a_world(FakeStack(watches=FakeWatches([bike, flat, home])))

    assert answer(lago(world, "watch", "show", "our bike", "--json"))["id"] == "ab"
    either = lago(world, "watch", "remove", "flat", "--yes")

    assert either.exit_code == 2
    assert "WATCH: got 'flat', expected an id or more of it, since it could be any of cd, flat2" in either.stderr


def test_an_ambiguous_or_unknown_id_says_so() -> None:
    world = a_world(a_stack("abcd", "abxy"))

    ambiguous, unknown, empty = (lago(world, "watch", "show", beginning) for beginning in ("ab", "q", ""))

    assert (ambiguous.exit_code, unknown.exit_code, empty.exit_code) == (2, 2, 2)
    assert "could be any of abcd, abxy" in ambiguous.stderr
    assert "`lago watch list` shows them" in unknown.stderr


def test_pausing_keeps_the_reason_and_resuming_clears_it() -> None:
    stack = a_stack("abcd")

    lago(a_world(stack), "watch", "pause", "a", "--reason", "on holiday")
    paused = stack.watches.kept[0].paused
    result = lago(a_world(stack), "watch", "resume", "a")

    assert paused == "on holiday"
    assert stack.watches.kept[0].paused == ""
    assert "is running" in result.stdout


def test_removing_asks_first_and_tells_what_was_cancelled() -> None:
    stack = a_stack("abcd")
    stack.watches.unsent = 2

    kept = lago(a_world(stack), "watch", "remove", "a", typed="n\n")
    still_there = len(stack.watches.kept)
    removed = lago(a_world(stack), "watch", "remove", "a", "--yes")

    assert kept.exit_code == 1
    assert still_there == 1
    assert stack.watches.kept == []
    assert "2 unsent messages cancelled" in removed.stdout


YOU = DestinationId("you")


def test_a_watch_tells_several_destinations_each_once() -> None:
    stack = a_stack()
    stack.destinations.put(a_destination(id=YOU))

    added = answer(
        lago(a_world(stack), "watch", "add", "rennrad", *("--to", "you", "--to", "me", "--to", "you"), "--json")
    )
    listed = lago(a_world(stack), "watch", "list").stdout

    assert added["destinations"] == ["you", "me"]
    assert "you, me" in listed


def test_of_several_destinations_each_has_to_be_there() -> None:
    stack = a_stack()

    result = lago(a_world(stack), "watch", "add", "rennrad", "--to", "me", "--to", "you")

    assert result.exit_code == 2
    assert "--to: got 'you'" in result.stderr
    assert stack.watches.kept == []


def test_where_a_watch_tells_is_changed() -> None:
    stack = a_stack("k4qaaaaa")
    stack.destinations.put(a_destination(id=YOU))
    stack.watches.unsent = 2

    result = lago(a_world(stack), "watch", "set", "k4q", "--to", "you")

    assert stack.watches.kept[0].destinations == (YOU,)
    assert "tells you and is running; 2 unsent messages cancelled." in result.stdout


def test_one_that_rested_because_nobody_could_be_told_goes_on_with_somebody_who_can() -> None:
    stack = a_stack()
    stack.destinations.put(a_destination(disabled="bot was blocked"))
    stack.destinations.put(a_destination(id=YOU))
    stack.watches.kept = [a_watch("k4q", paused="bot was blocked"), a_watch("zzz", paused="paused by you")]

    for watch in ("k4q", "zzz"):
        lago(a_world(stack), "watch", "set", watch, "--to", "me", "--to", "you")

    assert [watch.paused for watch in stack.watches.kept] == ["", "paused by you"]


def test_one_that_still_tells_nobody_rests_on() -> None:
    stack = a_stack()
    stack.destinations.put(a_destination(disabled="bot was blocked"))
    stack.watches.kept = [a_watch("k4q", paused="bot was blocked")]

    lago(a_world(stack), "watch", "set", "k4q", "--to", "me")

    assert stack.watches.kept[0].paused == "bot was blocked"


@pytest.mark.parametrize(("options", "words"), [((), "--to: got 'nothing'"), (("--to", "you"), "--to: got 'you'")])
def test_a_watch_is_not_sent_nowhere(options: tuple[str, ...], words: str) -> None:
    stack = a_stack("k4qaaaaa")

    result = lago(a_world(stack), "watch", "set", "k4q", *options)

    assert result.exit_code == 2
    assert words in result.stderr
    assert stack.watches.kept == [a_watch("k4qaaaaa")]


def test_a_disabled_webhook_is_enabled_and_not_set_up() -> None:
    stack = a_stack()
    stack.destinations.put(a_destination(id=YOU, channel="webhook", disabled="gone"))

    result = lago(a_world(stack), "watch", "add", "rennrad", "--to", "you")

    assert "until you run `lago destination enable you`" in result.stderr
