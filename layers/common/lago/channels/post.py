"""One POST to a far side, and what is to be said where no answer can be judged."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from lago.domain.outcome import Outcome, OutcomeKind
from lago.domain.redact import reason
from lago.http import ForbiddenTargetError, HttpClient, NoAnswerError, NotSentError, Reply, TransportError

_TELLING = 5
"""A part of a URL with so many characters may be a secret; a shorter one is none, and stands in many words."""


def post(
    client: HttpClient,
    url: str,
    *,
    service: str,
    label: str = "",
    content: bytes,
    headers: Mapping[str, str],
    secrets: Sequence[str],
) -> Reply | Outcome:
    """The answer, or how it ended without one. Never raises.

    An answer whose status came and whose content did not (it was endless, or broke off) is one with empty content:
    the far side has said what became of the request. `service` names it in reasons, and in the log without a `label`.
    """
    try:
        return client.post(url, label=label or service.lower(), content=content, headers=headers)
    except ForbiddenTargetError as error:
        return _ended(OutcomeKind.DESTINATION, service, error, secrets)
    except NotSentError as error:
        return _ended(OutcomeKind.OUTAGE, service, error, secrets)
    except NoAnswerError as error:
        return error.begun or _ended(OutcomeKind.AMBIGUOUS, service, error, secrets)
    except TransportError as error:
        return _ended(OutcomeKind.AMBIGUOUS, service, error, secrets)


def secret_parts(url: str) -> tuple[str, ...]:
    """What of a URL no reason may repeat, be it that a far side says "cannot POST" and a path."""
    parts = urlsplit(url)
    pieces = (parts.path.strip("/"), parts.query, *parts.path.split("/"))
    return (url, *(piece for piece in pieces if len(piece) >= _TELLING))


def _ended(kind: OutcomeKind, service: str, error: TransportError, secrets: Sequence[str]) -> Outcome:
    return Outcome(kind=kind, reason=reason(f"{service}: {error.reason}", *secrets))
