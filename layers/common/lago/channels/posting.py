"""A message posted to a far side over HTTP in up to three forms, each simpler than the one before.

When the far side refuses a form, the next goes at once, so that neither a broken picture nor a flaw in the markup costs
a person an ad. Nothing is sent twice from here: a request whose answer was lost ends as AMBIGUOUS.
"""

from collections.abc import Callable, Mapping, Sequence

from lago.channels.post import post
from lago.channels.rendering import rendered
from lago.domain.ids import Clock, Milliseconds
from lago.domain.outcome import Outcome, OutcomeKind
from lago.domain.redact import reason
from lago.http import HttpClient, Reply

LONGEST_REQUEST = Milliseconds(20_000)
"""Connecting, sending and reading, with the time-outs that HttpSettings has by default."""

Judge = Callable[[Reply], Outcome]
"""What an answer means; a MESSAGE outcome refuses this form of the message only while a simpler one is left."""


class Posting:
    """Sends through `client`; thread-safe.

    `longest_request` is the longest that `client` lets one request take. A refusal comes fast, so `timeout` covers two
    of the longest, and no further request begins unless it could end in time.
    """

    def __init__(
        self, client: HttpClient, *, service: str, clock: Clock, longest_request: Milliseconds = LONGEST_REQUEST
    ) -> None:
        """`service` names the far side in reasons and in the log."""
        self._client, self._service, self._clock = client, service, clock
        self._longest_request = longest_request
        self.timeout = Milliseconds(2 * longest_request)

    def send(
        self,
        url: str,
        render: Callable[[], Sequence[bytes]],
        *,
        headers: Mapping[str, str],
        judge: Judge,
        secrets: Sequence[str],
    ) -> Outcome:
        """Post what `render` makes, richest form first. `secrets` are kept out of the reason. Never raises."""
        forms = rendered(lambda: list(render()))
        if isinstance(forms, Outcome):
            return forms
        last_start = self._clock() + self.timeout - self._longest_request
        while True:
            outcome = self._request(url, forms.pop(0), headers, judge, secrets)
            if outcome.kind is not OutcomeKind.MESSAGE or not forms:
                return outcome
            if self._clock() > last_start:
                text = reason(f"no time left to go on after: {outcome.reason}", *secrets)
                return Outcome(kind=OutcomeKind.OUTAGE, reason=text)

    def _request(
        self, url: str, content: bytes, headers: Mapping[str, str], judge: Judge, secrets: Sequence[str]
    ) -> Outcome:
        ended = post(self._client, url, service=self._service, content=content, headers=headers, secrets=secrets)
        return ended if isinstance(ended, Outcome) else judge(ended)
