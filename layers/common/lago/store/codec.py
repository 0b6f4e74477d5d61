"""Small stored forms. A search item is written twice for each find and billed per KB, so its window is packed tight."""

import zlib

import msgspec
from msgspec import Struct

from lago.domain.ids import AdId, EpochMs, Minor
from lago.domain.search import Cursor, KnownAd


class _Packed(Struct, array_like=True, frozen=True):
    """The columns of a cursor: numeric ids as differences, the lowest price only where it is not the first one."""

    began: int
    newest: int
    highest_id: int
    fingerprint: str
    total: int | None
    gap: bool
    numeric: bool
    ids: list[int | str]
    firsts: list[int | None]
    lows: dict[int, int | None]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Packed).decode


def encode_cursor(cursor: Cursor) -> bytes:
    """About 8 bytes for each known ad."""
    ids = [ad.id for ad in cursor.window]
    numeric = all(id_.isascii() and id_.isdigit() and str(int(id_)) == id_ for id_ in ids)
    packed = _Packed(
        cursor.began,
        cursor.newest,
        cursor.highest_id,
        cursor.fingerprint,
        cursor.total,
        cursor.gap,
        numeric,
        _differences([int(id_) for id_ in ids]) if numeric else list(ids),
        [ad.first for ad in cursor.window],
        {n: ad.low for n, ad in enumerate(cursor.window) if ad.low != ad.first},
    )
    return zlib.compress(_encode(packed), level=9)


def decode_cursor(data: bytes) -> Cursor:
    """The cursor that `encode_cursor` stored. Raises msgspec.DecodeError or zlib.error for anything else."""
    packed = _decode(zlib.decompress(data))
    ids = _sums(packed.ids) if packed.numeric else [str(id_) for id_ in packed.ids]
    window = tuple(
        KnownAd(AdId(id_), _minor(first), _minor(packed.lows.get(n, first)))
        for n, (id_, first) in enumerate(zip(ids, packed.firsts, strict=True))
    )
    return Cursor(
        began=EpochMs(packed.began),
        newest=EpochMs(packed.newest),
        highest_id=packed.highest_id,
        window=window,
        fingerprint=packed.fingerprint,
        total=packed.total,
        gap=packed.gap,
    )


def _minor(value: int | None) -> Minor | None:
    return None if value is None else Minor(value)


def _differences(numbers: list[int]) -> list[int | str]:
    return [number - before for before, number in zip([0, *numbers], numbers, strict=False)]


def _sums(differences: list[int | str]) -> list[str]:
    total, sums = 0, []
    for difference in differences:
        total += int(difference)
        sums.append(str(total))
    return sums
