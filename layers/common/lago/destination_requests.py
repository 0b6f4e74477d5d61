"""What a request to `/destinations` asks for: everything in it is checked, and refused by name when it is wrong."""

from collections.abc import Callable, Mapping

from msgspec import UNSET, Struct, UnsetType

from lago.destination_options import Options, read_club, read_digest, read_id, read_quiet, read_reason, read_time_zone
from lago.destinations import Addition
from lago.errors import BadInputError

OPTIONS = ("time_zone", "quiet", "club_seconds", "digest")
ADDITION = ("id", "channel", "target", "replace", *OPTIONS)
CHANGE = ("enabled", "disabled", *OPTIONS)
_LONGEST_TARGET = 16_384
"""Characters: more than any target has; what a channel makes of it is limited more narrowly."""

Fields = Mapping[str, object]


class Change(Struct, frozen=True, kw_only=True):
    """What `PATCH` asks for: options, and that the destination is disabled with a reason, or enabled."""

    options: Options
    disable: str | None
    enable: bool


def read_addition(fields: Fields) -> Addition:
    """What is to be added. Raises BadInputError, which repeats no target: it may be a secret."""
    channel, target = _text(fields, "channel"), fields.get("target")
    if not isinstance(target, str) or not 1 <= len(target.strip()) <= _LONGEST_TARGET:
        shown = "nothing" if "target" not in fields else "something else"
        raise BadInputError("target", shown, f"1 to {_LONGEST_TARGET} characters")
    return Addition(
        id=read_id("id", _text(fields, "id")),
        channel=channel,
        target=target,
        options=read_options(fields),
        replace_channel=_flag(fields, "replace"),
    )


def read_change(fields: Fields) -> Change:
    """What is to be changed. Raises BadInputError."""
    if not fields:
        raise BadInputError("body", "{}", f"one or more of {', '.join(CHANGE)}")
    if "enabled" in fields and "disabled" in fields:
        raise BadInputError("enabled", "both", "one of enabled and disabled")
    if "enabled" in fields and fields["enabled"] is not True:
        raise BadInputError("enabled", fields["enabled"], "true; `disabled` takes the reason why not")
    return Change(
        options=read_options(fields),
        disable=read_reason("disabled", _text(fields, "disabled")) if "disabled" in fields else None,
        enable="enabled" in fields,
    )


def read_options(fields: Fields) -> Options:
    """How it is told. null, or "none", takes quiet hours or the digest back. Raises BadInputError."""
    return Options(
        time_zone=read_time_zone("time_zone", _text(fields, "time_zone")) if "time_zone" in fields else UNSET,
        quiet=_or_none(fields, "quiet", read_quiet),
        club_seconds=_club(fields),
        digest_at=_or_none(fields, "digest", read_digest),
    )


def _or_none[T](fields: Fields, name: str, read: Callable[[str, str], T | None]) -> T | UnsetType | None:
    if name not in fields:
        return UNSET
    return None if fields[name] is None else read(name, _text(fields, name))


def _club(fields: Fields) -> int | UnsetType:
    value = fields.get("club_seconds", UNSET)
    if value is UNSET:
        return UNSET
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadInputError("club_seconds", value, "a whole number of seconds")
    return read_club("club_seconds", value)


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise BadInputError(name, "nothing" if name not in fields else value, "a text")
    return value


def _flag(fields: Fields, name: str) -> bool:
    value = fields.get(name, False)
    if not isinstance(value, bool):
        raise BadInputError(name, value, "true or false")
    return value
