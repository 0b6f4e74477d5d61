"""Prices as willhaben writes them, read into whole cents; None where no single price is said."""

import re
from decimal import ROUND_HALF_UP, Decimal

from lago.domain.ids import Minor

_MAX_CHARS = 80
_MAX_CENTS = 100_000_000_000
"""A billion euros: more is a typing error or a joke, and None."""

_NUMBER = re.compile(r"[0-9](?:[0-9.,'\u2019]|[ \u00a0\u202f\u2009](?=[0-9]{3}(?![0-9])))*(?:[eE]\+?[0-9]{1,2}\b)?")
_SCIENTIFIC = re.compile(r"[0-9]+(?:\.[0-9]+)?[eE]\+?[0-9]{1,2}")
_PER_AREA = re.compile(r"(?:/|\bpro|\bje|\bper)\s*(?:m²|m2|qm|ha\b|ar\b)", re.IGNORECASE)
_MINUS = re.compile(r"[-\u2212]\s*(?:€|EUR)?\s*[0-9]")
_GIFT = frozenset({"zu verschenken", "verschenke", "gratis", "kostenlos"})
_UNSAID = re.compile(r"anfrage|\bvb\b|\bvhb\b|verhandlung|vereinbarung|absprache", re.IGNORECASE)


def price_of(number: str, display: str) -> Minor | None:
    """The price of an ad by its numeric attribute, or by the display text where that says nothing.

    A number that the display gives per square metre is no price. 0 is a gift, unless the display says that the price
    is to be asked for.
    """
    shown = parse_price(display)
    if not number:
        return shown
    price = parse_price(number)
    if price is None:
        return shown
    if is_per_area(display) and parse_price(_PER_AREA.sub("", display)) == price:
        return None
    if price == 0 and shown is None and _UNSAID.search(display):
        return None
    return price


def is_per_area(text: str) -> bool:
    """Whether the text prices an area's unit, as in "€ 6.700/m²"."""
    return bool(_PER_AREA.search(text))


def parse_price(text: str) -> Minor | None:
    """The one price in `text` in cents: "€ 1.200,-", "4.500", "2879.2", "2.350.000", "796,76", "1.0E7".

    Of two kinds of separators the last is the decimal one; a single one before exactly three digits groups thousands.
    None for words, several numbers, prices per area, negative and absurd ones.
    """
    if len(text) > _MAX_CHARS or is_per_area(text) or _MINUS.search(text):
        return None
    numbers = _NUMBER.findall(text)
    if not numbers:
        return Minor(0) if text.strip().casefold() in _GIFT else None
    value = _decimal(numbers[0]) if len(numbers) == 1 else None
    if value is None:
        return None
    cents = int((value * 100).to_integral_value(ROUND_HALF_UP))
    return Minor(cents) if cents <= _MAX_CENTS else None


def _decimal(number: str) -> Decimal | None:
    if _SCIENTIFIC.fullmatch(number):  # as Java prints a double from ten millions on
        return Decimal(number)
    digits = re.sub(r"['\u2019\s]", "", number).rstrip(".,")
    separators = [char for char in digits if char in ".,"]
    if not separators:
        return Decimal(digits) if digits.isdigit() else None
    last = separators[-1]
    whole, _, rest = digits.rpartition(last)
    groups = re.split(r"[.,]", whole)
    is_grouped = all(len(group) == 3 for group in groups[1:]) and 1 <= len(groups[0]) <= 3
    if len(separators) == 1:
        if len(rest) == 3 and is_grouped and not whole.startswith("0"):
            return Decimal(whole + rest)
        return Decimal(f"{whole}.{rest}")
    if not is_grouped:
        return None
    if len(set(separators)) == 1:
        return Decimal("".join([*groups, rest])) if len(rest) == 3 else None
    if separators.count(last) > 1:
        return None
    return Decimal(f"{''.join(groups)}.{rest}")
