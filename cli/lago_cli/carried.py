"""Watches and destinations as one JSON document, to be carried from one stack to another.

It holds what a person chose, and neither secrets nor anything that a search remembers: in the other stack a search
begins anew, takes stock and tells only what is new from then on. The version grows when an older command could
misread the document.
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from lago.channels.registry import target_spec
from lago.domain.ids import DestinationId
from lago.domain.notification import Destination
from lago.domain.watch import Filters, Watch
from lago.errors import BadInputError
from lago_cli import checks
from lago_cli.text import plain

FORMAT = "lago watches and destinations"
VERSION = 1
LARGEST = 4 * 1024 * 1024
"""Bytes: some ten thousand watches."""

_DAY_MINUTES = 24 * 60
_MOST_PRICE = 10**12
_MOST_NAMES = 200
_WATCH = re.compile(r"[A-Za-z0-9_-]{1,64}")


class DocumentError(BadInputError):
    """The document is not what `lago export` writes: `field` is the place in it."""

    def __init__(self, field: str, expected: str) -> None:
        """The message names the place and what would be right there."""
        super().__init__(field, "", expected)
        self.args = (f"{field}: {expected}",)


class CarriedDestination(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A destination without its secret, and whether it has one that a person gave. Times are minutes of the day."""

    id: DestinationId
    channel: str
    address: str
    needs_secret: bool
    time_zone: str = "Europe/Vienna"
    quiet: tuple[int, int] | None = None
    club_seconds: int = 0
    digest_at: int | None = None
    disabled: str = ""


class CarriedFilters(Filters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A filter that this version does not know must not be lost silently."""


class CarriedWatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A watch; its search is the address that a person would paste."""

    id: str
    label: str
    url: str
    destinations: tuple[DestinationId, ...]
    filters: CarriedFilters = CarriedFilters()
    near: tuple[float, float] | None = None
    paused: str = ""


class Document(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole; `exported` is a time in ISO 8601 and `stack` a name, both for people to read."""

    format: str
    version: int
    exported: str
    stack: str
    destinations: tuple[CarriedDestination, ...]
    watches: tuple[CarriedWatch, ...]


def document(stack: str, exported: str, destinations: list[Destination], watches: list[Watch]) -> Document:
    """What a stack holds, in an order that stays the same."""
    return Document(
        format=FORMAT,
        version=VERSION,
        exported=exported,
        stack=stack,
        destinations=tuple(_destination(each) for each in sorted(destinations, key=lambda each: each.id)),
        watches=tuple(_watch(each) for each in sorted(watches, key=lambda each: (each.created, each.id))),
    )


def read(content: bytes) -> Document:
    """The document, every field of it checked but the searches' addresses. Raises DocumentError."""
    if len(content) > LARGEST:
        raise DocumentError("the file", f"must be at most {LARGEST // 1024 // 1024} MB")
    try:
        found: Any = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise DocumentError("the file", "must be JSON as `lago export` writes it") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise DocumentError("format", f"must be {FORMAT!r}: this is no file of `lago export`")
    version = found.get("version")
    if type(version) is not int or version < 1:
        raise DocumentError("version", f"must be a number from 1 to {VERSION}")
    if version > VERSION:
        raise DocumentError("version", f"{version} is newer than this command, which reads {VERSION}: update it first")
    try:
        whole = msgspec.convert(found, Document)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$")
        raise DocumentError(place.strip(".`") or "the file", problem.lower()) from None
    _each_once("destinations", [each.id for each in whole.destinations])
    _each_once("watches", [each.id for each in whole.watches])
    return msgspec.structs.replace(
        whole,
        destinations=tuple(_checked(f"destinations[{n}]", each) for n, each in enumerate(whole.destinations)),
        watches=tuple(_checked_watch(f"watches[{n}]", each) for n, each in enumerate(whole.watches)),
    )


def _destination(each: Destination) -> CarriedDestination:
    return CarriedDestination(
        id=each.id,
        channel=each.channel,
        address=each.address,
        needs_secret=_needs_secret(each.channel),
        time_zone=each.time_zone,
        quiet=each.quiet,
        club_seconds=each.club_seconds,
        digest_at=each.digest_at,
        disabled=each.disabled,
    )


def _needs_secret(channel: str) -> bool:
    """Whether a person has to give one: what Lago makes itself, as a mail's key to unsubscribe, it makes anew."""
    try:
        return channel == "telegram" or target_spec(channel).private
    except BadInputError:  # a channel of another version
        return True


def _watch(each: Watch) -> CarriedWatch:
    return CarriedWatch(
        id=each.id,
        label=each.label,
        url=each.url,
        destinations=each.destinations,
        filters=CarriedFilters(**msgspec.structs.asdict(each.filters)),
        near=each.near,
        paused=each.paused,
    )


def _each_once(where: str, ids: list[Any]) -> None:
    twice = {id_ for id_ in ids if ids.count(id_) > 1} if len(set(ids)) < len(ids) else set()
    if twice:
        raise DocumentError(where, f"must not name {plain(min(twice), 64)!r} twice")


def _checked(where: str, each: CarriedDestination) -> CarriedDestination:
    _as(f"{where}.id", lambda: checks.destination_name(each.id))
    _as(f"{where}.channel", lambda: target_spec(each.channel))
    _require(f"{where}.address", each.address and plain(each.address, 500) == each.address, "must be visible text")
    if not each.needs_secret:
        _as(f"{where}.address", lambda: target_spec(each.channel).make(each.address, bytes))
    _as(f"{where}.time_zone", lambda: checks.time_zone(each.time_zone))
    _as(f"{where}.club_seconds", lambda: checks.club_seconds("club_seconds", each.club_seconds))
    minutes = (*(each.quiet or ()), *(() if each.digest_at is None else (each.digest_at,)))
    in_the_day = all(0 <= minute < _DAY_MINUTES for minute in minutes)
    _require(f"{where}.quiet, digest_at", in_the_day, "must be minutes of the day, from 0 to 1439")
    _require(f"{where}.quiet", each.quiet is None or each.quiet[0] != each.quiet[1], "must be two different times")
    return msgspec.structs.replace(each, disabled=plain(each.disabled, 200))


def _checked_watch(where: str, each: CarriedWatch) -> CarriedWatch:
    _require(f"{where}.id", _WATCH.fullmatch(each.id), "must be a watch's id: letters, digits, hyphens, underscores")
    _require(f"{where}.label", plain(each.label), "must be some visible text")
    _require(f"{where}.destinations", 0 < len(each.destinations) <= _MOST_NAMES, "must name at least one destination")
    _each_once(f"{where}.destinations", list(each.destinations))
    near = each.near
    on_earth = near is None or (-90 <= near[0] <= 90 and -180 <= near[1] <= 180)
    _require(f"{where}.near", on_earth, "must be latitude and longitude in degrees")
    return msgspec.structs.replace(
        each,
        label=plain(each.label, 80),
        paused=plain(each.paused, 200),
        filters=_checked_filters(f"{where}.filters", each.filters),
    )


def _checked_filters(where: str, each: CarriedFilters) -> CarriedFilters:
    for name in ("exclude_words", "exclude_sellers"):
        given: tuple[str, ...] = getattr(each, name)
        _require(f"{where}.{name}", len(given) <= _MOST_NAMES, f"must be at most {_MOST_NAMES}")
        _require(f"{where}.{name}", all(map(plain, given)), "must be some visible text each")
    for name in ("price_from", "price_to", "drop_amount"):
        price = getattr(each, name)
        _require(f"{where}.{name}", price is None or 0 <= price < _MOST_PRICE, "must be cents, 0 or more")
    if each.price_from is not None and each.price_to is not None:
        _require(f"{where}.price_to", each.price_from <= each.price_to, "must be at least price_from")
    in_hundred = each.drop_percent is None or 0 < each.drop_percent <= 100
    _require(f"{where}.drop_percent", in_hundred, "must be above 0 and at most 100")
    return msgspec.structs.replace(
        each,
        exclude_words=tuple(plain(word, 80) for word in each.exclude_words),
        exclude_sellers=tuple(plain(name, 80) for name in each.exclude_sellers),
    )


def _require(where: str, holds: object, expected: str) -> None:
    if not holds:
        raise DocumentError(where, expected)


def _as(where: str, check: Callable[[], object]) -> None:
    """What a check that speaks of options says, with the place in the document."""
    try:
        check()
    except BadInputError as error:
        raise DocumentError(where, f"must be {error.expected}") from None
