"""Which events a watch lets through."""

import re
import unicodedata

from lago.domain.event import AdEvent, Event, WatchLive
from lago.domain.ids import Minor
from lago.domain.watch import Filters, Watch

_WORD = re.compile(r"[^\W_]+")
_SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_CUT = "…"
"""How a stored name that was too long ends."""

Words = tuple[str, ...]


def concerns(watch: Watch, event: Event) -> bool:
    """Whether the event is for this watch by its kind and filters: a watch_live is for its own watch alone.

    Whether a price drop is deep enough depends on the price last told: see `passes_drop`.
    """
    if isinstance(event, AdEvent):
        return passes(watch.filters, event)
    return isinstance(event, WatchLive) and event.watch == watch.id


def passes(filters: Filters, event: AdEvent) -> bool:
    """Words, seller, seller kind and price. What an ad does not tell cannot exclude it."""
    return (
        _passes_price(filters, event.price)
        and (filters.seller_kind is None or event.seller_kind is None or event.seller_kind == filters.seller_kind)
        and not any(_is_seller(name, event.seller_name) for name in filters.exclude_sellers)
        and not any(has_word(filters.exclude_words, text) for text in (event.title, *event.details))
    )


def passes_drop(filters: Filters, reference: Minor | None, price: Minor | None) -> bool:
    """Whether `price` is a drop from `reference` (last told, else first remembered) that the watch wants to hear of.

    Without a price on either side there is no drop. Of two thresholds, passing one is enough.
    """
    if reference is None or price is None or price >= reference:
        return False
    if filters.drop_percent is None and filters.drop_amount is None:
        return True
    drop = reference - price
    deep_enough = filters.drop_percent is not None and 100 * drop >= filters.drop_percent * reference
    return deep_enough or (filters.drop_amount is not None and drop >= filters.drop_amount)


def has_word(words: tuple[str, ...], text: str) -> bool:
    """Whether one of the words (or runs of words) stands in the text as a whole, however it is spelled.

    Case, accents and invisible characters make no difference; ä equals ae and a, ß equals ss.

    >>> has_word(("Rader",), "Alte Räder"), has_word(("raeder",), "RÄDER!"), has_word(("rad",), "Radio")
    (True, True, False)
    """
    spellings = _spellings(text)
    return any(_contains(spelling, word) for phrase in words for word in _spellings(phrase) for spelling in spellings)


def _passes_price(filters: Filters, price: Minor | None) -> bool:
    if price is None:
        return True
    above = filters.price_from is None or price >= filters.price_from
    return above and (filters.price_to is None or price <= filters.price_to)


def _is_seller(excluded: str, seller: str) -> bool:
    names = _spellings(seller)
    if seller.endswith(_CUT):
        return any(name and wanted[: len(name)] == name for wanted in _spellings(excluded) for name in _cut(names))
    return any(wanted and wanted in names for wanted in _spellings(excluded))


def _cut(names: set[Words]) -> list[Words]:
    """Without the last word, which may have been cut in the middle."""
    return [name[:-1] for name in names]


def _spellings(text: str) -> set[Words]:
    """The words of a text, with umlauts spelled out and with umlauts stripped."""
    visible = "".join(char for char in text if unicodedata.category(char) != "Cf")
    folded = unicodedata.normalize("NFKC", visible).casefold()
    return {_words(folded), _words(folded.translate(_SPELLED_OUT))}


def _words(text: str) -> Words:
    bare = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return tuple(_WORD.findall(bare))


def _contains(text: Words, phrase: Words) -> bool:
    length = len(phrase)
    return length > 0 and any(text[i : i + length] == phrase for i in range(len(text) - length + 1))
