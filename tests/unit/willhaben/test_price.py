import pytest

from lago.sources.willhaben.price import parse_price, price_of


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        ("€ 1.200,-", 120_000),
        ("€ 1.200,--", 120_000),
        ("4.500", 450_000),
        ("2879.2", 287_920),
        ("2.350.000", 235_000_000),
        ("€ 2.350.000,-", 235_000_000),
        ("796,76", 79_676),
        ("€ 0,40", 40),
        ("0.40", 40),
        ("819.0", 81_900),
        ("€ 819", 81_900),
        ("€ 2.350,50", 235_050),
        ("1,200.50", 120_050),
        ("€\u00a01\u202f200,50", 120_050),
        ("CHF 1'200", 120_000),
        ("€ 450 VB", 45_000),
        ("11.382286", 1_138),
        ("1.0E7", 1_000_000_000),
        ("0", 0),
        ("€ 0", 0),
        ("Zu verschenken", 0),
    ],
)
def test_every_way_to_write_a_price_is_read_into_cents(text: str, cents: int) -> None:
    assert parse_price(text) == cents


@pytest.mark.parametrize(
    "text",
    [
        "", "Preis auf Anfrage", "VB", "€ 6.700/m²", "11,38 € pro m²", "€ 9 / m2", "-5", "€ -5", "€ 100 - 200",
        "€ 450 statt € 600", "nan", "inf", "1.2.3", "12,34,56", "99999999999999999", "1e99", "٣٤", "9" * 200,
    ],
)  # fmt: skip
def test_no_price_is_read_where_none_or_no_single_one_is_said(text: str) -> None:
    assert parse_price(text) is None


def test_the_number_counts_more_than_the_display() -> None:
    assert price_of("796.76", "€ 797") == 79_676


def test_the_display_helps_out_where_the_number_is_missing_or_broken() -> None:
    assert price_of("", "€ 1.200,-") == 120_000
    assert price_of("NaN", "€ 1.200,-") == 120_000


def test_a_number_that_the_display_gives_per_square_metre_is_no_price() -> None:
    assert price_of("6700", "€ 6.700/m²") is None


def test_a_total_beside_a_price_per_square_metre_stays() -> None:
    assert price_of("796.76", "€ 11,38/m²") == 79_676


def test_zero_is_a_gift() -> None:
    assert price_of("0", "") == 0
    assert price_of("0.0", "Zu verschenken") == 0


@pytest.mark.parametrize("display", ["Preis auf Anfrage", "VB", "nach Absprache"])
def test_zero_beside_words_that_hold_the_price_back_is_no_gift(display: str) -> None:
    assert price_of("0", display) is None
