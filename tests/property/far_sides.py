"""Every channel with a far side that says what a test lets it say: what comes back is what rows and logs hold."""

import json
from collections.abc import Callable
from typing import NamedTuple

import httpx
from botocore.exceptions import ClientError
from hypothesis import strategies as st

from lago.channels.discord.channel import DiscordChannel
from lago.channels.email.channel import EmailChannel
from lago.channels.email.ses import SesTransport
from lago.channels.email.smtp_answer import judge_reply
from lago.channels.ntfy.channel import NtfyChannel
from lago.channels.slack.channel import SlackChannel
from lago.channels.telegram import TelegramChannel
from lago.channels.webhook.channel import WebhookChannel
from lago.domain.notification import Destination
from lago.domain.outcome import Outcome
from lago.http import HttpClient, HttpSettings
from tests.property import secrets
from tests.property.secrets import Secret
from tests.unit.apprise import builders as apprise
from tests.unit.email.builders import a_reader
from tests.unit.telegram.builders import FakeTime, chat, message, news

WEBHOOK_KEY = "whsec_" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3"


class Side(NamedTuple):
    """`hears` sends a message with the secret that is given, to a far side that answers `says` with `status`."""

    hears: Callable[[str, str, int], Outcome]
    own: st.SearchStrategy[tuple[str, Secret]]
    """What is kept in the secret store, and what of it the far side knows."""


def _client(answer: httpx.Response) -> HttpClient:
    return HttpClient(HttpSettings(), transport=httpx.MockTransport(lambda _: answer))


def _place(channel: str, address: str = "far.example") -> Destination:
    return chat(address, channel=channel)


def _telegram(secret: str, says: str, status: int) -> Outcome:
    answer = httpx.Response(status, json={"ok": False, "error_code": status, "description": says})
    time = FakeTime()
    channel = TelegramChannel(_client(answer), api_url="https://api.telegram.org", clock=time.clock, sleep=time.sleep)
    return channel.send(chat(), secret, message(news()))


def _slack(secret: str, says: str, status: int) -> Outcome:
    answer = httpx.Response(status, text=f"invalid_payload: {says}")
    return SlackChannel(_client(answer), clock=FakeTime().clock).send(_place("slack"), secret, message(news()))


def _discord(secret: str, says: str, status: int) -> Outcome:
    answer = httpx.Response(status, json={"code": 50_006, "message": says})
    return DiscordChannel(_client(answer), clock=FakeTime().clock).send(_place("discord"), secret, message(news()))


def _webhook(secret: str, says: str, status: int) -> Outcome:
    time = FakeTime()
    channel = WebhookChannel(_client(httpx.Response(status, text=says)), clock=time.clock, sleep=time.sleep)
    return channel.send(_place("webhook"), secret, message(news()))


def _ntfy(secret: str, says: str, status: int) -> Outcome:
    answer = httpx.Response(status, json={"code": 40_000, "http": status, "error": says})
    time = FakeTime()
    channel = NtfyChannel(_client(answer), clock=time.clock, sleep=time.sleep)
    return channel.send(_place("ntfy"), secret, message(news()))


class _Ses:
    def __init__(self, says: str, status: int) -> None:
        self._says, self._status = says, status

    def send_email(self, **request: object) -> dict[str, object]:
        error = {"Code": "MessageRejected", "Message": self._says}
        raise ClientError({"Error": error, "ResponseMetadata": {"HTTPStatusCode": self._status}}, "SendEmail")

    def close(self) -> None:
        """Nothing is open."""


def _ses(secret: str, says: str, status: int) -> Outcome:
    clock = FakeTime().clock
    transport = SesTransport(configuration_set="", clock=clock, make=lambda: _Ses(says, status))
    channel = EmailChannel(transport, mail_from="lago@example.org", api_url=lambda: "", clock=clock)
    return channel.send(a_reader(), secret, message(news()))


def _smtp(password: str, says: str, status: int) -> Outcome:
    return judge_reply("login", status, says, password)


def _apprise(secret: str, says: str, _status: int) -> Outcome:
    def fails() -> bool:
        raise RuntimeError(says)

    return apprise.channel(apprise.loading(apprise.a_service(fails))).send(_place("apprise"), secret, message(news()))


def _itself(secret: Secret) -> tuple[str, Secret]:
    return secret.whole, secret


def _signed(key: Secret) -> tuple[str, Secret]:
    return json.dumps({"url": "https://hooks.example/in", "keys": [key.whole]}), key


def _hooked(key: str) -> tuple[str, Secret]:
    url = f"https://hooks.example/in/{key}"
    return json.dumps({"url": url, "keys": [WEBHOOK_KEY]}), Secret(f"Cannot POST /in/{key}", key)


def _topic(token: Secret) -> tuple[str, Secret]:
    return json.dumps({"url": "https://ntfy.example/ads", "token": token.whole}), token


keys = secrets.random_text(secrets.LETTERS, 24, 40)

SIDES = {
    "telegram": Side(_telegram, secrets.bot_tokens.map(_itself)),
    "slack": Side(_slack, secrets.slack_urls.map(_itself)),
    "discord": Side(_discord, secrets.discord_urls.map(_itself)),
    "webhook": Side(_webhook, st.one_of(secrets.webhook_keys.map(_signed), keys.map(_hooked))),
    "ntfy": Side(_ntfy, secrets.ntfy_tokens.map(_topic)),
    "email": Side(_ses, keys.map(lambda key: (json.dumps({"unsubscribe_key": key}), Secret(f"?d=anna&t={key}", key)))),
    "email by SMTP": Side(_smtp, keys.map(lambda key: (key, Secret(key, key)))),
    "apprise": Side(_apprise, secrets.apprise_urls.map(_itself)),
}
"""By channel, and by the way it goes where there are two."""
