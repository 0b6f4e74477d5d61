"""Hostile characters, and lengths as Telegram counts them."""

import doctest

import pytest

from lago.channels import clean, wording
from lago.channels.clean import cut, one_line, utf16_length, web_link
from lago.channels.rich import Room, Span, shortened, to_html, visible_length

FAMILY = "👩\u200d👩\u200d👧"


@pytest.mark.parametrize("module", [clean, wording])
def test_the_documented_examples_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


def test_length_is_counted_in_utf16_code_units() -> None:
    assert utf16_length("aä€") == 3
    assert utf16_length("🚲") == 2


@pytest.mark.parametrize(
    "hidden", ["\u202e", "\u2067", "\u200b", "\u200e", "\ufeff", "\u00ad", "\x00", "\ud800", "\ue000"]
)
def test_invisible_characters_go(hidden: str) -> None:
    assert one_line(f"Renn{hidden}rad", 100) == "Rennrad"


def test_white_space_of_all_kinds_becomes_one_blank() -> None:
    assert one_line("  a\n\n\tb\u2028c\u00a0 d\u3000", 100) == "a b c d"


def test_a_stack_of_accents_is_cut_down() -> None:
    assert one_line("a" + "\u0301" * 50, 100) == "a" + "\u0301" * 4


def test_the_joiner_stays_inside_emoji_only() -> None:
    assert one_line(FAMILY, 100) == FAMILY
    assert one_line("🐈\u200d⬛", 100) == "🐈\u200d⬛"
    assert one_line("Renn\u200drad\u200d", 100) == "Rennrad"


def test_a_mention_is_defused_and_a_price_each_is_not() -> None:
    assert "@" not in one_line("@durov hello", 100)
    assert one_line("3 Stück @50mm", 100) == "3 Stück @50mm"


@pytest.mark.parametrize(
    ("text", "units", "expected"),
    [
        ("Rennrad", 7, "Rennrad"),
        ("Rennrad", 6, "Rennr…"),
        ("Renn rad", 6, "Renn…"),
        ("a🚲🚲", 4, "a🚲…"),
        ("🚲🚲", 3, "🚲…"),
        ("🚲🚲", 2, "…"),
        ("ab", 1, "…"),
        ("ab", 0, ""),
        ("xae\u0301e\u0301", 5, "xae\u0301…"),
        ("xae\u0301e\u0301", 4, "xa…"),
        ("x" + FAMILY, 7, "x…"),
        ("xxx👍🏽y", 6, "xxx…"),
    ],
)
def test_cutting_never_splits_what_a_person_sees_as_one(text: str, units: int, expected: str) -> None:
    assert cut(text, units) == expected


def test_a_link_is_plain_http() -> None:
    assert web_link("https://www.willhaben.at/iad/x?a=1#b") == "https://www.willhaben.at/iad/x?a=1#b"
    assert web_link("http://127.0.0.1:8080/ä") == "http://127.0.0.1:8080/ä"
    assert web_link(None) == ""


class TestRoom:
    def test_counts_the_text_without_its_tags(self) -> None:
        text = (Span("abc", "b", "https://a.example/" + "x" * 100),)

        assert Room(3, visible_length).holds(text)
        assert not Room(2, visible_length).holds(text)

    def test_is_cut_between_tags_only(self) -> None:
        text = (Span("abc"), Span("<def>", "b"), Span("never seen"))

        assert to_html(shortened(text, Room(6, visible_length))) == "abc&lt;d…"

    def test_takes_no_more_links_than_telegram_does(self) -> None:
        text = tuple(Span("a", "", "https://a.example/") for _ in range(150))

        html = to_html(shortened(text, Room(1_000, visible_length)))
        assert html.count("<a ") == 100
        assert html.endswith("a" * 50)

    def test_takes_no_more_bytes_of_links_than_telegram_does(self) -> None:
        text = tuple(Span("a", "", "https://a.example/" + "ä" * 900) for _ in range(9))

        assert to_html(shortened(text, Room(1_000, visible_length))).count("<a ") == 4
