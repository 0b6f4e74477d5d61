"""Amazon SES, by its API v2."""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Protocol

from lago.channels.email.ses_answer import judge_refusal
from lago.channels.email.transport import Mail
from lago.domain.ids import Clock, EpochMs, Milliseconds
from lago.domain.outcome import DELIVERED, Outcome, OutcomeKind
from lago.domain.redact import reason

CONNECT_SECONDS = 2
READ_SECONDS = 6
KEEP_ALIVE = Milliseconds(20_000)
"""A POST can't be repeated safely, so none goes over a connection that may have died while the function was frozen."""


class SesClient(Protocol):
    """What is used of boto3's `sesv2` client."""

    def send_email(self, **request: Any) -> Mapping[str, Any]:
        """Accept a mail and give its MessageId, or raise botocore's errors."""
        ...

    def close(self) -> None:
        """Give up the open connections; the next request makes a new one."""
        ...


def make_client() -> SesClient:
    """A client that waits briefly and asks once."""
    import boto3  # noqa: PLC0415 (whoever sends no mail does not pay for it)
    from botocore.config import Config  # noqa: PLC0415

    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"total_max_attempts": 1, "mode": "standard"},
    )
    client: SesClient = boto3.client("sesv2", config=config)
    return client


class SesTransport:
    """Sends through SES, with the events of `configuration_set` if one is named. Thread-safe.

    The client is made for the first mail.
    """

    timeout = Milliseconds(1000 * (CONNECT_SECONDS + 2 * READ_SECONDS))
    """Connecting, a body that is written slowly, and the first byte of an answer that never comes."""

    def __init__(self, *, configuration_set: str, clock: Clock, make: Callable[[], SesClient] = make_client) -> None:
        self._configuration_set, self._clock, self._make = configuration_set, clock, make
        self._client: SesClient | None = None
        self._used = EpochMs(0)
        self._lock = Lock()

    def send(self, mail: Mail) -> Outcome:
        """Hand over one mail. Never raises for what SES or the network does."""
        from botocore import exceptions as boto  # noqa: PLC0415 (as in make_client)

        not_sent = (
            boto.ConnectTimeoutError,
            boto.EndpointConnectionError,
            boto.ProxyConnectionError,
            boto.SSLError,
            boto.NoCredentialsError,
            boto.PartialCredentialsError,
            boto.CredentialRetrievalError,
            boto.ParamValidationError,
        )
        try:
            client = self._fresh_client()
        except (boto.BotoCoreError, ValueError) as error:
            return _failed(OutcomeKind.OUTAGE, f"no client could be made ({error})")
        try:
            answer = client.send_email(**self._request(mail))
        except boto.ClientError as error:
            return _refused(error.response)
        except not_sent as error:
            return _failed(OutcomeKind.OUTAGE, type(error).__name__)
        except boto.BotoCoreError as error:
            # a time-out of the answer, a connection that ended, an answer that is none: it may have been sent
            return _failed(OutcomeKind.AMBIGUOUS, type(error).__name__)
        if not answer.get("MessageId"):
            # a proxy's page, for example: botocore takes any 200 for an answer
            return _failed(OutcomeKind.AMBIGUOUS, "an answer without a message id")
        return DELIVERED

    def _fresh_client(self) -> SesClient:
        """The client, without connections from before a pause."""
        with self._lock:
            now = self._clock()
            if self._client is None:
                self._client = self._make()
            elif not 0 <= now - self._used <= KEEP_ALIVE:
                self._client.close()
            self._used = now
            return self._client

    def _request(self, mail: Mail) -> dict[str, Any]:
        request: dict[str, Any] = {
            "FromEmailAddress": mail.sender,
            "Destination": {"ToAddresses": [mail.recipient]},
            "Content": {"Raw": {"Data": mail.content}},
        }
        if self._configuration_set:
            request["ConfigurationSetName"] = self._configuration_set
        return request


def _refused(response: Any) -> Outcome:
    error = response.get("Error", {})
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return judge_refusal(int(status), str(error.get("Code", "")), str(error.get("Message", "")))


def _failed(kind: OutcomeKind, said: str) -> Outcome:
    return Outcome(kind=kind, reason=reason(f"SES: {said}"))
