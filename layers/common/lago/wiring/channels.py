"""The channels as functions send through them, each made when a message first takes it: no cold start pays for it."""

import os
from collections.abc import Callable
from threading import Lock

from msgspec import Struct

from lago import drain, http_shared, notify
from lago.channels.base import Channel
from lago.channels.email.transport import Transport
from lago.channels.telegram import TelegramChannel
from lago.domain.ids import Milliseconds
from lago.http import HttpSettings
from lago.http_guard import Trusted, read_origins
from lago.settings import Environment, text
from lago.wiring.clock import now, pause
from lago.wiring.secrets import ParameterSecrets

HTTP = HttpSettings(
    connect_seconds=2,
    read_seconds=5,
    total_seconds=7,
    keepalive_seconds=20,
    max_connections=max(notify.THREADS, drain.THREADS),
)
"""A POST can't be repeated safely, so none goes over a connection that may have died while the function was frozen; a
send that hangs ends well before function and lease do; and no send waits for a connection that a hanging one holds."""
LONGEST_REQUEST = Milliseconds(int(1000 * (HTTP.connect_seconds + 2 * HTTP.read_seconds)))
"""Connecting, a body that is written slowly, and the first byte of an answer that never comes."""


class ChannelSettings(Struct, frozen=True, kw_only=True):
    """Where the services answer, and what mail needs. `trusted` are origins inside that webhooks and ntfy may name."""

    telegram_api_url: str
    slack_api_url: str
    discord_api_url: str
    trusted: Trusted
    mail_from: str
    mail_configuration_set: str
    smtp_parameter: str
    """The SSM parameter with the mail server's URL; empty sends by SES."""
    api_url_parameter: str
    """The SSM parameter with the address of this stack's own API."""

    @classmethod
    def read(cls, environment: Environment = os.environ) -> "ChannelSettings":
        """From the environment. Raises SettingError."""
        return cls(
            telegram_api_url=text(environment, "TELEGRAM_API_URL", "https://api.telegram.org"),
            slack_api_url=text(environment, "SLACK_API_URL", "https://hooks.slack.com"),
            discord_api_url=text(environment, "DISCORD_API_URL", "https://discord.com"),
            trusted=read_origins(text(environment, "TRUSTED_ORIGINS", ""), "TRUSTED_ORIGINS"),
            mail_from=text(environment, "MAIL_FROM", ""),
            mail_configuration_set=text(environment, "MAIL_CONFIGURATION_SET", ""),
            smtp_parameter=text(environment, "SMTP_PARAMETER", ""),
            api_url_parameter=text(environment, "API_URL_PARAMETER", ""),
        )


class Channels:
    """Every channel that this version knows, by name. Thread-safe."""

    def __init__(self, settings: ChannelSettings, secrets: ParameterSecrets) -> None:
        """`secrets` holds what a channel itself needs, beside what its destinations have."""
        self._settings, self._secrets = settings, secrets
        self._made: dict[str, Channel] = {}
        self._lock = Lock()
        self._makers: dict[str, Callable[[], Channel]] = {
            "telegram": self._telegram,
            "email": self._email,
            "webhook": self._webhook,
            "ntfy": self._ntfy,
            "slack": self._slack,
            "discord": self._discord,
            "apprise": self._apprise,
        }

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(self._makers)

    def get(self, name: str) -> Channel | None:
        """The channel, or None for one that this version does not know."""
        with self._lock:
            if name not in self._made and name in self._makers:
                self._made[name] = self._makers[name]()
            return self._made.get(name)

    def _telegram(self) -> Channel:
        url = self._settings.telegram_api_url
        client = http_shared.client(HTTP)
        return TelegramChannel(client, api_url=url, clock=now, sleep=pause, longest_request=LONGEST_REQUEST)

    def _email(self) -> Channel:
        from lago.channels.email.channel import EmailChannel  # noqa: PLC0415 - see the module

        own = self._settings.api_url_parameter
        return EmailChannel(
            self._transport(),
            mail_from=self._settings.mail_from,
            api_url=lambda: self._secrets.get(own) if own else "",
            clock=now,
        )

    def _transport(self) -> Transport:
        if server := self._settings.smtp_parameter:
            from lago.channels.email.smtp import SmtpTransport  # noqa: PLC0415 - see the module

            return SmtpTransport(lambda: self._secrets.get(server))
        from lago.channels.email.ses import SesTransport  # noqa: PLC0415 - see the module

        return SesTransport(configuration_set=self._settings.mail_configuration_set, clock=now)

    def _webhook(self) -> Channel:
        from lago.channels.webhook.channel import WebhookChannel  # noqa: PLC0415 - see the module
        from lago.http_backend import guarded_client  # noqa: PLC0415

        return WebhookChannel(guarded_client(trusted=self._settings.trusted), clock=now, sleep=pause)

    def _ntfy(self) -> Channel:
        from lago.channels.ntfy.channel import NtfyChannel  # noqa: PLC0415 - see the module
        from lago.http_backend import guarded_client  # noqa: PLC0415

        return NtfyChannel(guarded_client(trusted=self._settings.trusted), clock=now, sleep=pause)

    def _slack(self) -> Channel:
        from lago.channels.slack.channel import SlackChannel  # noqa: PLC0415 - see the module

        url = self._settings.slack_api_url
        return SlackChannel(http_shared.client(HTTP), clock=now, api_url=url, longest_request=LONGEST_REQUEST)

    def _discord(self) -> Channel:
        from lago.channels.discord.channel import DiscordChannel  # noqa: PLC0415 - see the module

        url = self._settings.discord_api_url
        return DiscordChannel(http_shared.client(HTTP), clock=now, api_url=url, longest_request=LONGEST_REQUEST)

    def _apprise(self) -> Channel:
        from lago.channels.apprise.channel import AppriseChannel  # noqa: PLC0415 - see the module

        return AppriseChannel(trusted=self._settings.trusted)
