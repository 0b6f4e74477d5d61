"""A message put into a channel's own form, or the outcome of failing at it."""

import logging
from collections.abc import Callable

from lago.domain.outcome import Outcome, OutcomeKind

_log = logging.getLogger("lago.rendering")


def rendered[Form](render: Callable[[], Form]) -> Form | Outcome:
    """What `render` makes. Never raises: whatever breaks there is our fault, and costs this message only (rule 6)."""
    try:
        return render()
    except Exception as error:  # noqa: BLE001 (see above)
        _log.exception("message could not be rendered")
        return Outcome(kind=OutcomeKind.RENDER, reason=type(error).__name__)
