"""Whatever is pasted or written by a seller: prices and addresses keep their promises."""

from random import Random
from urllib.parse import quote, urlencode

from hypothesis import given
from hypothesis import strategies as st

from lago.domain.query import Query
from lago.errors import BadInputError
from lago.sources.willhaben import query_from_keyword
from lago.sources.willhaben.address import MARKETPLACE, NAME, PUBLIC_BASE, address, canonical, parse_url
from lago.sources.willhaben.price import parse_price

CENTS = st.integers(min_value=0, max_value=100_000_000_000)
PATHS = st.sampled_from(
    [
        MARKETPLACE,
        f"{MARKETPLACE}/fahrraeder-4525",
        f"{MARKETPLACE}/fahrraeder-4525/rennraeder-4530",
        "/iad/immobilien/mietwohnungen/mietwohnung-angebote",
        "/iad/gebrauchtwagen/auto/gebrauchtwagenboerse",
    ]
)
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp", "Cn", "Co"]), max_size=20)
NAMES = st.sampled_from(["keyword", "PRICE_FROM", "PRICE_TO", "areaId", "ATTRIBUTE_TREE", "CAR_MODEL/MAKE", "x y", "ß"])
PRICES = ("PRICE_FROM", "PRICE_TO")
AMOUNTS = st.from_regex(r"([0-9]{1,9}([.,][0-9]{1,2})?)?", fullmatch=True)
PARAMS = st.lists(NAMES.flatmap(lambda name: st.tuples(st.just(name), AMOUNTS if name in PRICES else TEXT)), max_size=8)
NOISE = st.lists(
    st.tuples(st.sampled_from(["sfId", "isNavigation", "page", "rows", "sort", "utm_source", "UTM_x", "view"]), TEXT),
    max_size=4,
)


def german(cents: int) -> str:
    return f"{cents // 100:,}".replace(",", ".") + (f",{cents % 100:02d}" if cents % 100 else "")


@given(CENTS)
def test_a_price_survives_every_way_to_write_it(cents: int) -> None:
    euros = f"{cents // 100}.{cents % 100:02d}"

    assert parse_price(euros) == cents
    assert parse_price(f"€ {german(cents)}") == cents
    if cents % 100 == 0:
        assert parse_price(f"€ {german(cents)},-") == cents
        assert parse_price(f"{cents // 100}") == cents
        assert parse_price(f"{cents // 100}.0") == cents


@given(CENTS)
def test_a_price_per_square_metre_is_never_a_price(cents: int) -> None:
    assert parse_price(f"€ {german(cents)}/m²") is None


@given(st.text() | st.text("0123456789.,-€ eE'/m²", max_size=30))
def test_any_text_is_a_price_in_range_or_none(text: str) -> None:
    price = parse_price(text)

    assert price is None or 0 <= price <= 100_000_000_000


@given(PATHS, PARAMS)
def test_an_address_made_of_a_query_means_that_query(path: str, params: list[tuple[str, str]]) -> None:
    query = canonical(path, params)

    assert parse_url(address(PUBLIC_BASE, query)) == query
    assert canonical(query.path, query.params) == query


@given(PATHS, PARAMS, NOISE, st.randoms(use_true_random=False))
def test_order_repetition_and_noise_change_nothing(
    path: str, params: list[tuple[str, str]], noise: list[tuple[str, str]], random: Random
) -> None:
    pasted = [*params, *params[:2], *noise]
    random.shuffle(pasted)

    query = parse_url(f"https://willhaben.at{path}/?{urlencode(pasted, quote_via=quote)}")

    assert query == canonical(path, params)


@given(st.text(max_size=300) | st.text("htps:/w.ilaben?&=%+-#@[]\\0", max_size=80).map(PUBLIC_BASE.__add__))
def test_anything_pasted_is_a_query_or_told_to_be_none(text: str) -> None:
    try:
        query = parse_url(text)
    except BadInputError:
        return
    assert query.path.startswith("/iad/")


@given(TEXT.filter(lambda text: bool(text.split())), CENTS, st.sets(st.integers(1, 99_999), max_size=4))
def test_a_keyword_with_options_is_the_query_of_its_own_address(keyword: str, cents: int, areas: set[int]) -> None:
    query = query_from_keyword(keyword, price_to=german(cents), areas=sorted(areas))

    assert isinstance(query, Query)
    assert query.source == NAME
    assert parse_url(address(PUBLIC_BASE, query)) == query
