import json

import pytest

from lago.dead_letters import AT_ONCE
from lago.domain.dead_letter import letter_id
from lago.domain.ids import EpochMs
from lago.domain.mailbox import Attempt, Row, dead
from lago_cli.ports import World
from tests.builders import a_row, an_event
from tests.cli.fakes import NOW, FakeStack, a_world, some_dead_letters
from tests.cli.run import answer, lago
from tests.fakes.dead_letters import FakeDeadLetters

MINUTE = 60_000


def a_letter(ad: str, *, ago: int = 0, reason: str = "message", to: str = "me", title: str = "", **more: object) -> Row:
    event = an_event(ad, title=title or f"Rennrad {ad}")
    return dead(a_row(event, destination=to, **more), reason, EpochMs(NOW - ago * MINUTE))  # type: ignore[arg-type]


def a_world_with(*rows: Row) -> tuple[World, FakeDeadLetters]:
    store = FakeDeadLetters(list(rows))
    return a_world(FakeStack(dead_letters=some_dead_letters(store=store))), store


def test_dead_letters_are_listed_newest_first_with_what_was_said() -> None:
    said = Attempt(NOW, "message", "HTTP 400")
    world, _ = a_world_with(a_letter("1", ago=90), a_letter("2", ago=3, history=(said,), attempts=1))

    result = lago(world, "dead", "list")

    newest, oldest = result.stdout.splitlines()[3:5]
    assert a_letter("2").id[:12] in newest
    assert "3 min ago" in newest
    assert "Rennrad 2" in newest
    assert "HTTP 400" in newest
    assert "1 h ago" in oldest


def test_a_list_says_when_there_are_none_and_when_there_are_more() -> None:
    world, _ = a_world_with(*(a_letter(str(n), ago=n) for n in range(5)))

    assert "No dead letters." in lago(a_world_with()[0], "dead", "list").stdout
    assert "There are more" in lago(world, "dead", "list", "--limit", "3").stderr
    assert "There are more" not in lago(world, "dead", "list", "--limit", "5").stderr


@pytest.mark.parametrize(
    ("options", "listed"),
    [
        (["--destination", "you"], ["3"]),
        (["--reason", "outage"], ["2"]),
        (["--kind", "price_drop"], []),
        (["--since", "30min"], ["1"]),
        (["--since", "2h"], ["1", "2"]),
        (["--since", "2000-01-01"], ["1", "2", "3"]),
        (["--limit", "2"], ["1", "2"]),
    ],
)
def test_filters_narrow_the_list(options: list[str], listed: list[str]) -> None:
    world, _ = a_world_with(
        a_letter("1", ago=1), a_letter("2", ago=60, reason="outage"), a_letter("3", ago=3_000, to="you")
    )

    found = answer(lago(world, "dead", "list", *options, "--json"))

    assert [letter["about"] for letter in found] == [f"Rennrad {number}" for number in listed]


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["--kind", "spam"], "--kind"),
        (["--reason", "luck"], "--reason"),
        (["--since", "soon"], "--since"),
        (["--since", "999999d"], "--since"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(options: list[str], name: str) -> None:
    result = lago(a_world_with()[0], "dead", "list", *options)

    assert (result.exit_code, name in result.stderr) == (2, True)


def test_a_title_can_do_nothing_to_the_terminal() -> None:
    world, _ = a_world_with(a_letter("1", title="\x1b[2J[red]bike"))

    result = lago(world, "dead", "list")

    assert "[2J[red]bike" in result.stdout
    assert "\x1b" not in result.stdout


def test_a_letter_is_shown_with_its_history_by_the_beginning_of_its_id() -> None:
    tries = tuple(Attempt(EpochMs(NOW - n * MINUTE), "outage", f"HTTP 50{n}") for n in (2, 1))
    letter = a_letter("1", history=tries, attempts=2, generation=1, reason="outage")
    world, _ = a_world_with(letter, a_letter("2"))

    result = lago(world, "dead", "show", letter.id[:5].upper())

    for part in (letter.id, "Rennrad 1", "of outage", "HTTP 502", "HTTP 501", "1 times", "adId=1"):
        assert part in result.stdout
    assert answer(lago(world, "dead", "show", letter_id(letter), "--json"))["event"]["ad"] == "1"


def test_an_id_that_is_none_or_several_is_refused_by_name() -> None:
    letters = [a_letter(str(n)) for n in range(2)]
    world, store = a_world_with(*letters)
    same = letters[0].id[:4]
    store.beginning = lambda prefix: letters if prefix == same else []  # type: ignore[method-assign]

    several = lago(world, "dead", "show", same)

    assert all(letter.id in several.stderr for letter in letters)
    for typed in ("abcdef", "a", "no-such-letter"):
        assert lago(world, "dead", "show", typed).exit_code == 2


def test_one_letter_is_brought_back_without_asking() -> None:
    letter = a_letter("1")
    world, store = a_world_with(letter, a_letter("2"))

    result = lago(world, "dead", "redrive", letter.id[:6])

    assert "1 dead letter brought back" in result.stdout
    assert [(row.id, row.generation) for row in store.alive] == [(letter.id, 1)]


def test_all_are_brought_back_after_a_question_at_the_rate_that_was_asked_for() -> None:
    world, store = a_world_with(*(a_letter(str(n), ago=n) for n in range(AT_ONCE + 5)))

    refused = lago(world, "dead", "redrive", "--all", typed="n\n")
    assert (refused.exit_code, store.alive) == (1, [])
    assert "100 dead letters or more" in refused.stderr

    done = lago(world, "dead", "redrive", "--all", "--per-minute", "60", typed="y\n")

    assert f"{AT_ONCE + 5} dead letters brought back" in done.stdout
    assert [row.next_attempt_at - NOW for row in store.alive] == [n * 1_000 for n in range(AT_ONCE + 5)]


def test_by_filter_only_what_fits_is_brought_back() -> None:
    world, store = a_world_with(a_letter("1"), a_letter("2", reason="outage"))

    done = answer(lago(world, "dead", "redrive", "--reason", "outage", "--yes", "--json"))

    assert (done["done"], done["cursor"]) == (1, None)
    assert [row.id for row in store.alive] == [a_letter("2").id]


def test_a_letter_that_was_brought_back_too_often_is_named() -> None:
    letter = a_letter("1", generation=3)
    world, store = a_world_with(letter)

    result = lago(world, "dead", "redrive", letter.id)

    assert "0 dead letters brought back" in result.stdout
    assert f"{letter_id(letter)} stays dead: brought back 3 times already" in result.stderr
    assert store.alive == []


@pytest.mark.parametrize("arguments", [[], ["--all", "--reason", "outage"], ["abcd", "--all"]])
@pytest.mark.parametrize("command", [["redrive"], ["discard", "--because", "sold"]])
def test_it_must_be_said_in_one_way_which_letters_are_meant(command: list[str], arguments: list[str]) -> None:
    world, store = a_world_with(a_letter("1", reason="outage"))

    result = lago(world, "dead", *command, *arguments, "--yes")

    assert (result.exit_code, len(store.dead)) == (2, 1)
    assert "ids of dead letters, filters, or --all" in result.stderr


def test_a_filter_that_fits_nothing_asks_nothing() -> None:
    result = lago(a_world_with(a_letter("1"))[0], "dead", "redrive", "--reason", "outage")

    assert (result.exit_code, "no dead letter" in result.stderr) == (2, True)


def test_letters_are_discarded_for_a_reason_and_never_without() -> None:
    letters = [a_letter("1"), a_letter("2")]
    world, store = a_world_with(*letters)

    assert lago(world, "dead", "discard", letters[0].id).exit_code == 2
    result = lago(world, "dead", "discard", *(letter.id for letter in letters), "--because", "sold")

    assert "2 dead letters discarded." in result.stdout
    assert sorted(store.discarded) == sorted((letter.id, "sold") for letter in letters)


def test_all_are_discarded_only_after_a_question() -> None:
    world, store = a_world_with(a_letter("1"))

    assert lago(world, "dead", "discard", "--all", "--because", "sold", typed="n\n").exit_code == 1
    assert len(store.dead) == 1
    assert lago(world, "dead", "discard", "--all", "--because", "sold", typed="y\n").exit_code == 0
    assert store.dead == []


def test_letters_are_exported_whole_one_a_line() -> None:
    world, _ = a_world_with(*(a_letter(str(n), ago=n, title="two\nlines") for n in range(AT_ONCE + 5)))

    lines = lago(world, "dead", "export").stdout.splitlines()

    assert [json.loads(line)["event"]["ad"] for line in lines] == [str(n) for n in range(AT_ONCE + 5)]
