"""Ids of watches: short enough to type, and any unique beginning will do."""

from base64 import b32encode
from collections.abc import Callable

from lago.domain.ids import WatchId
from lago.domain.watch import Watch
from lago.errors import BadInputError

_BYTES = 5
"""Five random bytes are eight characters of base32."""


def new_watch_id(random_bytes: Callable[[int], bytes]) -> WatchId:
    """Eight characters of a-z and 2-7."""
    return WatchId(b32encode(random_bytes(_BYTES)).decode().lower())


def find(watches: list[Watch], beginning: str) -> Watch:
    """The watch whose id starts so. Raises BadInputError when none or several do."""
    wanted = beginning.strip().lower()
    exact = [watch for watch in watches if watch.id == wanted]
    matches = exact or [watch for watch in watches if wanted and watch.id.startswith(wanted)]
    if not matches:
        known = "there are no watches yet" if not watches else "`lago watch list` shows them"
        raise BadInputError("ID", beginning, f"the id of a watch or its beginning ({known})")
    if len(matches) > 1:
        ids = ", ".join(sorted(watch.id for watch in matches))
        raise BadInputError("ID", beginning, f"more characters, since it could be any of {ids}")
    return matches[0]
