"""The body of a request: one JSON object of limited size, with known names only."""

from collections.abc import Mapping

import msgspec

from lago.errors import BadInputError

LONGEST_BODY = 64 * 1024
"""Bytes: a hundred ids of dead letters of long-named destinations, and room to spare."""


def read_object(body: str | None, known: tuple[str, ...]) -> dict[str, object]:
    """The fields of a body. Raises BadInputError, which never repeats the body: it may hold a secret."""
    expected = f"a JSON object with {', '.join(known)}"
    if body is None or not body.strip():
        raise BadInputError("body", "nothing", expected)
    size = len(body.encode("utf-8", "surrogatepass"))
    if size > LONGEST_BODY:
        raise BadInputError("body", f"{size} bytes", f"at most {LONGEST_BODY} bytes")
    try:
        fields = msgspec.json.decode(body, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        raise BadInputError("body", "something else", expected) from None
    require_known(fields, known, "body")
    return fields


def require_known(fields: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    """A misspelt name would change nothing, and look as if it had. Raises BadInputError."""
    for name in fields:
        if name not in known:
            raise BadInputError(where, name, f"only {', '.join(known)}")
