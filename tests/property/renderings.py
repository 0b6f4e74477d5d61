"""Every channel with a far side that refuses all it is given: what it was given is every form of a message.

Each form is checked against its service's documented limits, and read by a reader that knows nothing but our markup.
"""

import hmac
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import httpx

from lago.channels.base import Channel
from lago.channels.discord.channel import DiscordChannel
from lago.channels.email.letter import write_letter
from lago.channels.email.unsubscribe import link
from lago.channels.ntfy.channel import NtfyChannel
from lago.channels.slack.channel import SlackChannel
from lago.channels.telegram import TelegramChannel
from lago.channels.webhook.channel import WebhookChannel
from lago.domain.notification import Destination, Message
from lago.domain.outcome import DELIVERED, OutcomeKind
from lago.http import HttpClient, HttpSettings
from simulator.hook_payloads import check_discord, check_ntfy, check_slack
from tests.property import telegram_markup
from tests.property.chat_markup import Read, entities_read, read_markdown, read_mrkdwn, read_page
from tests.unit.apprise import builders as apprise
from tests.unit.discord.test_webhook_url import URL as DISCORD_URL
from tests.unit.email import builders as mail
from tests.unit.ntfy import builders as ntfy
from tests.unit.slack import builders as slack
from tests.unit.telegram.builders import TOKEN, FakeTime, chat
from tests.unit.webhook import builders as webhook
from tests.unit.webhook.test_payload import mismatch

Json = dict[str, Any]


class Form(NamedTuple):
    """What one form of a message shows: `listed` is the text that tells a club as a list, where one does."""

    texts: list[str]
    links: list[str]
    listed: str = ""


class _FarSide:
    def __init__(self, status: int, refusal: Json | str) -> None:
        body = refusal if isinstance(refusal, str) else json.dumps(refusal)
        self._answer = lambda: httpx.Response(status, text=body)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return self._answer()

    def refuses(self, make: Callable[[HttpClient], Channel], place: Destination, secret: str, message: Message) -> None:
        channel = make(HttpClient(HttpSettings(), transport=httpx.MockTransport(self)))
        outcome = channel.send(place, secret, message)
        assert outcome.kind is OutcomeKind.MESSAGE, outcome

    @property
    def payloads(self) -> list[Json]:
        return [json.loads(request.content) for request in self.requests]


def _telegram(message: Message) -> Iterator[Form]:
    """core.telegram.org/bots/api#sendmessage, …#sendphoto; what is counted is what is left of the HTML."""
    time, side = FakeTime(), _FarSide(400, {"ok": False, "error_code": 400, "description": "Bad Request: no"})

    def make(client: HttpClient) -> Channel:
        return TelegramChannel(client, api_url="https://api.telegram.org", clock=time.clock, sleep=time.sleep)

    side.refuses(make, chat(), TOKEN, message)

    assert len(side.payloads) >= 2
    for payload in side.payloads:
        text, most = (payload["caption"], 1_024) if "photo" in payload else (payload["text"], 4_096)
        html = payload.get("parse_mode") == "HTML"
        shown = telegram_markup.read(text) if html else telegram_markup.Read(text, [], 0)
        keys = [key for row in payload.get("reply_markup", {}).get("inline_keyboard", []) for key in row]
        assert 0 < telegram_markup.units(shown.text) <= most
        assert shown.entities <= 100
        assert sum(len(link.encode()) for link in shown.links) <= 8_000
        photo = [payload["photo"]] if "photo" in payload else []
        yield Form([shown.text, *(key["text"] for key in keys)], [*shown.links, *(key["url"] for key in keys), *photo])


def _slack(message: Message) -> Iterator[Form]:
    side = _FarSide(400, "invalid_blocks")

    side.refuses(lambda client: SlackChannel(client, clock=FakeTime().clock), slack.place(), slack.URL, message)

    assert len(side.payloads) >= 2
    for payload in side.payloads:
        check_slack(payload)
        assert payload["unfurl_links"] is False
        if "blocks" not in payload:
            assert payload["mrkdwn"] is False
            text = entities_read(payload["text"])
            yield Form([text], [], text)
            continue
        fallback = read_mrkdwn(payload["text"])
        blocks = [_slack_block(block) for block in payload["blocks"]]
        texts = [read.text for read in blocks]
        links = [*fallback.links, *(link for read in blocks for link in read.links)]
        yield Form([fallback.text, *texts], links, "\n".join(texts))


def _slack_block(block: Json) -> Read:
    parts: list[Json] = [block["text"]] if "text" in block else block["elements"]
    texts, links = [], []
    for part in parts:
        text = part["text"]["text"] if part["type"] == "button" else part["text"]
        links += [part["url"]] if part["type"] == "button" else []
        read = Read(text, [])
        if part["type"] == "mrkdwn":
            assert part["verbatim"] is True
            read = read_mrkdwn(text)
        texts.append(read.text)
        links += read.links
    if picture := block.get("accessory"):
        texts.append(picture["alt_text"])
        links.append(picture["image_url"])
    return Read("\n".join(texts), links)


def _discord(message: Message) -> Iterator[Form]:
    side = _FarSide(400, {"code": 50_035, "message": "Invalid Form Body"})

    def make(client: HttpClient) -> Channel:
        return DiscordChannel(client, clock=FakeTime().clock)

    side.refuses(make, slack.place("discord"), DISCORD_URL, message)

    assert len(side.payloads) == 2
    for payload in side.payloads:
        check_discord(payload)
        assert payload["allowed_mentions"] == {"parse": []}
        reads = [read_markdown(payload.get("content", ""))]
        bare = []
        for embed in payload.get("embeds", []):
            reads += [read_markdown(embed.get("title", "")), read_markdown(embed.get("description", ""))]
            bare.append(embed.get("author", {}).get("name", ""))
            reads.append(Read("", [embed[key]["url"] for key in ("image",) if key in embed]))
            reads.append(Read("", [embed["url"]] if "url" in embed else []))
        text = "\n".join(read.text for read in reads)
        yield Form([text, *bare], [link for read in reads for link in read.links], text)


def _ntfy(message: Message) -> Iterator[Form]:
    time, side = FakeTime(), _FarSide(400, {"code": 40_000, "http": 400, "error": "no"})

    def make(client: HttpClient) -> Channel:
        return NtfyChannel(client, clock=time.clock, sleep=time.sleep)

    side.refuses(make, ntfy.topic(), ntfy.OPEN, message)

    for request, payload in zip(side.requests, side.payloads, strict=True):
        check_ntfy(payload)
        assert len(request.content) <= 8_192
        assert len(payload["message"].encode()) <= 4_096
        assert payload["message"].strip()
        assert payload["title"].strip()
        assert not payload.get("markdown")
        actions = payload.get("actions", [])
        links = [payload.get("click"), payload.get("attach"), *(action["url"] for action in actions)]
        yield Form([payload["title"], payload["message"]], [link for link in links if link], payload["message"])


def _webhook(message: Message) -> Iterator[Form]:
    """The published schema, and a signature checked as standard-webhooks.md describes it."""
    time, side = FakeTime(), _FarSide(400, "no")

    def make(client: HttpClient) -> Channel:
        return WebhookChannel(client, clock=time.clock, sleep=time.sleep)

    side.refuses(make, webhook.hook(), webhook.SECRET, message)

    for request, payload in zip(side.requests, side.payloads, strict=True):
        assert mismatch(_without_repetitions(payload)) == ""
        identity, moment = request.headers["webhook-id"], request.headers["webhook-timestamp"]
        signed = b".".join((identity.encode(), moment.encode(), request.content))
        key = b64decode(webhook.KEY.removeprefix("whsec_"))
        expected = b64encode(hmac.digest(key, signed, "sha256")).decode()
        assert request.headers["webhook-signature"] == f"v1,{expected}"
        assert payload["id"] == identity
        strings = list(_strings(payload["data"]))
        links = [text for name, text in strings if name in ("url", "image", "search_url")]
        yield Form([text for name, text in strings if text not in links], links)


def _without_repetitions(payload: Json) -> Json:
    """A club of the same few many times, once each: the schema takes its time over each."""
    data = payload["data"]
    if "notifications" not in data:
        return payload
    each = {json.dumps(one): one for one in data["notifications"]}
    return payload | {"data": data | {"notifications": list(each.values())}}


def _strings(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _strings(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each, name)
    elif isinstance(value, str):
        yield name, value


_MAIL_HEADERS = [
    "Subject",
    "From",
    "To",
    "Date",
    "Message-ID",
    "X-Lago-Message",
    "Auto-Submitted",
    "List-Unsubscribe",
    "List-Unsubscribe-Post",
    "MIME-Version",
    "Content-Type",
]
UNSUBSCRIBE = link(mail.API, mail.a_reader().id, json.loads(mail.SECRET)["unsubscribe_key"])
"""Where a mail's reader unsubscribes."""


def _email(message: Message) -> Iterator[Form]:
    """RFC 5322 (998 octets a line), RFC 8058, and what Gmail shows of a mail's HTML."""
    transport = mail.FakeTransport()

    assert mail.a_channel(transport).send(mail.a_reader(), mail.SECRET, message) == DELIVERED

    (sent,) = transport.mails
    assert sent.recipient == mail.ANNA
    assert sent.content.isascii()
    assert all(len(line) <= 998 and not line.strip(b"\n").count(b"\n") for line in sent.content.split(b"\r\n"))
    read = mail.parsed(sent.content)
    assert sorted(read.keys()) == sorted(_MAIL_HEADERS)
    assert [str(header) for header in read.get_all("To", [])] == [mail.ANNA]
    assert read["List-Unsubscribe"] == f"<{UNSUBSCRIBE}>"
    assert f"List-Unsubscribe: <{UNSUBSCRIBE}>\r\n".encode() in sent.content
    parts = list(read.walk())
    assert [part.get_content_type() for part in parts] == ["multipart/alternative", "text/plain", "text/html"]
    assert not [defect for part in parts for defect in part.defects]
    subject, text, html = str(read["Subject"]), mail.body(read, "plain"), mail.body(read, "html")
    written = write_letter(message, mail.a_reader().time_zone, UNSUBSCRIBE)
    assert subject == written.subject.replace("=?", "\uff1d?")
    assert (text, html) == (written.text, written.html)
    assert 0 < telegram_markup.units(subject) <= 150
    assert len(html.encode()) <= 102_000
    page = read_page(html)
    yield Form([subject, text, page.text], [link for link in page.links if link != UNSUBSCRIBE], text)


_SERVICES = ((True, True, 30_000), (True, False, 1_000), (False, True, 140), (False, False, 10_000))


def _apprise(message: Message) -> Iterator[Form]:
    """Services of all sorts: those that show HTML, those that have titles, those of short and of long messages."""
    for html, titled, longest in _SERVICES:
        service = apprise.a_service(lambda: True, html=html, titled=titled, longest=longest)
        outcome = apprise.channel(apprise.loading(service)).send(slack.place("apprise"), apprise.URL, message)
        assert outcome == DELIVERED, outcome
        ((title, body, as_html),) = service.sent
        assert as_html is html
        assert body.strip()
        assert telegram_markup.units(body) <= longest
        assert telegram_markup.units(title) <= 200
        assert bool(title) is titled
        read = telegram_markup.read(body.replace("<br>\n", "\n")) if html else telegram_markup.Read(body, [], 0)
        for plain in (title,) if html else (title, body):
            # Apprise passes plain text on as it is, also to services that read Markdown and mentions in it
            assert not set("<>[]") & set(plain), f"markup to somebody: {plain!r}"
        assert "@" not in title
        yield Form([title, read.text], read.links, read.text if longest > 140 else "")


RENDERINGS: dict[str, Callable[[Message], Iterator[Form]]] = {
    "telegram": _telegram,
    "email": _email,
    "webhook": _webhook,
    "ntfy": _ntfy,
    "slack": _slack,
    "discord": _discord,
    "apprise": _apprise,
}
"""By channel: every form of a message, checked against the service's limits."""
CLUBS_AS_LISTS = ("email", "ntfy", "slack", "discord", "apprise")
