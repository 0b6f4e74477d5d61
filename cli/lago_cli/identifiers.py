"""Ids of watches: short enough to type, and any unique beginning or the watch's own name will do."""

from base64 import b32encode
from collections.abc import Callable

from lago.domain.ids import WatchId
from lago.domain.watch import Watch
from lago.errors import BadInputError
from lago_cli.text import plain

_BYTES = 5
"""Five random bytes are eight characters of base32."""


def new_watch_id(random_bytes: Callable[[int], bytes]) -> WatchId:
    """Eight characters of a-z and 2-7."""
    return WatchId(b32encode(random_bytes(_BYTES)).decode().lower())


def find(watches: list[Watch], typed: str) -> Watch:
    """The watch whose id is or starts so, or whose label it is. Raises BadInputError when none or several do."""
    wanted = typed.strip().lower()
    exact = [watch for watch in watches if watch.id == wanted]
    matches = exact or [watch for watch in watches if wanted and _is_meant(watch, wanted)]
    if not matches:
        known = "there are no watches yet" if not watches else "`lago watch list` shows them"
        raise BadInputError("WATCH", typed, f"the id of a watch, its beginning, or the watch's name ({known})")
    if len(matches) > 1:
        ids = ", ".join(sorted(watch.id for watch in matches))
        raise BadInputError("WATCH", typed, f"an id or more of it, since it could be any of {ids}")
    return matches[0]


def _is_meant(watch: Watch, wanted: str) -> bool:
    return watch.id.startswith(wanted) or plain(watch.label).lower() == wanted
