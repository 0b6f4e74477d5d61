"""Telegram's HTML parse mode, as Telegram reads it."""

import pytest

from simulator.html_mode import ParseError, parse, utf16


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("schlicht", "schlicht"),
        ("<b>fett</b> und <i>schräg</i>", "fett und schräg"),
        ("<B>groß</B>", "groß"),
        ("&lt;b&gt; &amp; &quot;", '<b> & "'),
        ("&#8364; &#x20AC;", "€ €"),
        ("&amp;lt;", "&lt;"),
        ("Rad & Tat &nbsp; &euro;", "Rad & Tat &nbsp; &euro;"),
        ("  \n oben und unten \n ", "oben und unten"),
        ('<span class="tg-spoiler">geheim</span>', "geheim"),
        ("a > b", "a > b"),
    ],
)
def test_what_the_person_reads(source: str, shown: str) -> None:
    assert parse(source).text == shown


def test_entities_count_utf_16_units() -> None:
    parsed = parse('🚲 <b>Rad 🇦🇹</b> <a href="https://example.org/?a=1&amp;b=2">hier</a>')

    assert parsed.text == "🚲 Rad 🇦🇹 hier"
    assert parsed.entities == (
        {"type": "bold", "offset": 3, "length": 8},
        {"type": "text_link", "offset": 12, "length": 4, "url": "https://example.org/?a=1&b=2"},
    )


def test_nested_tags_and_outer_white_space() -> None:
    parsed = parse(" <b> fett <i>beides</i></b> ")

    assert parsed.text == "fett beides"
    assert parsed.entities == (
        {"type": "bold", "offset": 0, "length": 11},
        {"type": "italic", "offset": 5, "length": 6},
    )


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("ä <neu>", 'Unsupported start tag "neu" at byte offset 3'),
        ("a < b>", 'Unsupported start tag "" at byte offset 2'),
        ("<script>alert(1)</script>", 'Unsupported start tag "script" at byte offset 0'),
        ("<b>offen", 'Can\'t find end tag corresponding to start tag "b"'),
        ("zu</b>", "Unexpected end tag at byte offset 2"),
        ("<b><i>x</b></i>", 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'),
        ("<b", "Unclosed start tag at byte offset 0"),
        ('<a href="x', "Unclosed start tag at byte offset 0"),
        ("<b>x</b", "Unclosed end tag at byte offset 4"),
        ("<span>x</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
    ],
)
def test_what_telegram_complains_about(source: str, complaint: str) -> None:
    with pytest.raises(ParseError) as error:
        parse(source)

    assert str(error.value) == complaint


def test_length_counts_both_halves_of_a_pair() -> None:
    assert (utf16("aä€"), utf16("🚲"), utf16("👨‍👩‍👧")) == (3, 2, 8)
