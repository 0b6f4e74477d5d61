"""Telegram: one message to one chat through the Bot API (core.telegram.org/bots/api), and a classified outcome back.

A message has up to three forms, each simpler than the one before: a photo with a caption, HTML text, plain text. When
Telegram refuses a form the next one goes at once, so that neither a broken picture nor a flaw in the markup costs a
person an ad.

Nothing is sent twice from here: a request whose answer was lost, perhaps over a connection that died unnoticed while
the function was frozen, ends as AMBIGUOUS, and what then happens is the sender's policy.
"""

import re
from typing import Any

import msgspec
from msgspec import Struct

from lago.channels import telegram_html
from lago.channels.pace import Pace
from lago.channels.post import post
from lago.channels.rendering import rendered
from lago.channels.telegram_answer import Verdict, judge
from lago.channels.telegram_target import CHAT
from lago.domain.ids import Clock, Milliseconds, Sleep
from lago.domain.notification import Destination, Message
from lago.domain.outcome import Outcome, OutcomeKind
from lago.domain.redact import reason
from lago.http import HttpClient

CHAT_SPACING = Milliseconds(1_000)
GROUP_SPACING = Milliseconds(3_000)
"""20 messages a minute (core.telegram.org/bots/faq, limits)."""
OVERALL_SPACING = Milliseconds(67)
"""30 messages a second to all chats together (the same page); Notify and Drain may send at once: each keeps to half."""

LONGEST_REQUEST = Milliseconds(20_000)
"""Connecting, sending and reading, with the time-outs that HttpSettings has by default."""
_LONGEST_TURN = Milliseconds(1_000)
"""How long a request waits for its turn at most."""

_TOKEN = re.compile(r"\d{1,20}:[A-Za-z0-9_-]{3,100}", re.ASCII)
"""The shape only: enough to keep the URL whole. Whether it is the right one, Telegram says."""
_HEADERS = {"content-type": "application/json"}


class _Form(Struct, frozen=True):
    """One way to send a message: a method of the Bot API and its parameters, all but the chat."""

    method: str
    parameters: dict[str, Any]


class TelegramChannel:
    """Sends through `client`, at most 15 requests a second in this process. Thread-safe.

    `longest_request` is the longest that `client` lets one request take. Up to four requests may belong to one send
    (a moved chat, three forms); as a refusal comes fast, `timeout` covers two of the longest, and no further request
    begins unless it could end in time.
    """

    name = "telegram"

    def __init__(
        self,
        client: HttpClient,
        *,
        api_url: str,
        clock: Clock,
        sleep: Sleep,
        longest_request: Milliseconds = LONGEST_REQUEST,
    ) -> None:
        self._client, self._clock = client, clock
        self._api_url = api_url.rstrip("/")
        self._longest_request = longest_request
        self._pace = Pace(OVERALL_SPACING, clock=clock, sleep=sleep)
        self.timeout = Milliseconds(2 * (longest_request + _LONGEST_TURN))

    def spacing(self, address: str) -> Milliseconds:
        """1 message a second to a person, 20 a minute to a group or channel: a negative id, or a name."""
        return GROUP_SPACING if address.startswith(("-", "@")) else CHAT_SPACING

    def send(self, destination: Destination, secret: str, message: Message) -> Outcome:
        """Send `message` to the chat in `destination.address`; `secret` is the bot token. Never raises."""
        token = secret.strip()
        if not _TOKEN.fullmatch(token):
            problem = "does not look like a bot token" if token else "is missing"
            text = f"the bot token {problem} (TELEGRAM_TOKEN_PARAMETER): `lago setup` stores one"
            return Outcome(kind=OutcomeKind.OUTAGE, reason=text)
        if not CHAT.fullmatch(destination.address):
            text = "not a Telegram chat: expected its number, or @name of a channel"
            return Outcome(kind=OutcomeKind.DESTINATION, reason=text)
        forms = rendered(lambda: _forms(message, destination.time_zone))
        if isinstance(forms, Outcome):
            return forms
        return self._send_forms(token, destination.address, forms)

    def _send_forms(self, token: str, chat: str, forms: list[_Form]) -> Outcome:
        """Send the first form; go on while the answer leaves something better to try, and time for it."""
        last_start = self._clock() + self.timeout - self._longest_request - _LONGEST_TURN
        moved_to: str | None = None
        while True:
            verdict = self._request(token, moved_to or chat, forms[0])
            refused = verdict.outcome.kind is OutcomeKind.MESSAGE
            if verdict.moved_to and moved_to is None:
                moved_to = verdict.moved_to
            elif refused and len(forms) > 1:
                forms = forms[-1:] if verdict.markup else forms[1:]
            else:
                return msgspec.structs.replace(verdict.outcome, address=moved_to)
            if self._clock() > last_start:
                text = reason(f"no time left to go on after: {verdict.outcome.reason}", token)
                return Outcome(kind=OutcomeKind.OUTAGE, reason=text, address=moved_to)

    def _request(self, token: str, chat: str, form: _Form) -> Verdict:
        self._pace.wait()
        url = f"{self._api_url}/bot{token}/{form.method}"
        content = msgspec.json.encode({"chat_id": chat, **form.parameters})
        ended = post(
            self._client,
            url,
            service="Telegram",
            label=form.method,
            content=content,
            headers=_HEADERS,
            secrets=(token,),
        )
        if isinstance(ended, Outcome):
            return Verdict(outcome=ended)
        return judge(ended, now=self._clock(), token=token)


def _forms(message: Message, time_zone: str) -> list[_Form]:
    """All ways to send a message, richest first; the last has nothing that Telegram could fail to parse or to fetch."""
    look: dict[str, Any] = {"parse_mode": "HTML"}
    if button := telegram_html.button(message):
        look["reply_markup"] = {"inline_keyboard": [[{"text": button.text, "url": button.url}]]}
    no_preview = {"link_preview_options": {"is_disabled": True}}
    forms = [
        _Form("sendMessage", {"text": telegram_html.text(message, time_zone), **look, **no_preview}),
        _Form("sendMessage", {"text": telegram_html.plain(message, time_zone), **no_preview}),
    ]
    if photo := telegram_html.photo(message):
        caption = telegram_html.caption(message, time_zone)
        forms.insert(0, _Form("sendPhoto", {"photo": photo, "caption": caption, **look}))
    return forms
