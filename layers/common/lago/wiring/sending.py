"""Notify and Drain: what sends."""

import os
import random

from msgspec import Struct

from lago import __version__
from lago.courier import Courier, DeliverySettings
from lago.delivery import Sender
from lago.domain.backoff import Backoff
from lago.domain.ids import DestinationId, Milliseconds
from lago.domain.kinds import Policies
from lago.operator_alerts import OperatorAlerts
from lago.operator_signs import DrainSigns
from lago.settings import Environment, kind_policies, milliseconds, number, queue_shards, text, whole
from lago.store.dead_letters import DeadLetterStore
from lago.store.deliveries import DeliveryStore
from lago.store.mailboxes import MailboxStore
from lago.store.operator import OperatorStore
from lago.store.searches import SearchStore
from lago.store.watches import WatchStore
from lago.wiring.channels import Channels, ChannelSettings
from lago.wiring.clock import now, pause
from lago.wiring.secrets import ParameterSecrets

SHORTEST_LEASE = 35
"""Seconds: a lease that did not outlast the slowest send would let none start (`Sender`)."""


class SendingSettings(Struct, frozen=True, kw_only=True):
    """What Notify and Drain share. `token_parameter` names the SSM parameter that holds the bot token."""

    delivery: DeliverySettings
    channels: ChannelSettings
    token_parameter: str
    queue_shards: int
    log_days: int
    operator: DestinationId = DestinationId("")
    """Who is told that something is wrong."""

    @classmethod
    def read(cls, environment: Environment = os.environ) -> "SendingSettings":
        """From the environment. Raises SettingError."""
        alert = Backoff(
            base=milliseconds(environment, "RETRY_BASE_SECONDS", 60, low=1, high=3600),
            factor=number(environment, "RETRY_FACTOR", 2, low=1, high=10),
            cap=milliseconds(environment, "RETRY_CAP_SECONDS", 960, low=1, high=86_400),
            jitter=number(environment, "RETRY_JITTER", 0.1, low=0, high=0.5),
            attempts=whole(environment, "RETRY_ATTEMPTS", 6, low=1, high=20),
        )
        return cls(
            delivery=DeliverySettings(
                policies=Policies(alert=alert, kinds=kind_policies(environment)),
                lease=milliseconds(environment, "LEASE_SECONDS", 60, low=SHORTEST_LEASE, high=900),
                club_threshold=whole(environment, "CLUB_THRESHOLD", 3, low=1, high=50),
            ),
            channels=ChannelSettings.read(environment),
            token_parameter=text(environment, "TELEGRAM_TOKEN_PARAMETER"),
            queue_shards=queue_shards(environment),
            log_days=whole(environment, "DELIVERY_LOG_DAYS", 400, low=1, high=3650),
            operator=DestinationId(text(environment, "OPERATOR_DESTINATION", "")),
        )


class DrainFunctionSettings(Struct, frozen=True, kw_only=True):
    """The drain function: `batch` mailboxes a round, no send after `budget` ms; `running` names this version."""

    sending: SendingSettings
    batch: int
    budget: Milliseconds
    running: str = ""

    @classmethod
    def read(cls, environment: Environment = os.environ) -> "DrainFunctionSettings":
        """From the environment. Raises SettingError."""
        return cls(
            sending=SendingSettings.read(environment),
            batch=whole(environment, "DRAIN_BATCH", 50, low=1, high=500),
            budget=milliseconds(environment, "DRAIN_SECONDS", 20, low=1, high=60),
            running=_running(text(environment, "LAYER", "")),
        )


def _running(layer: str) -> str:
    """A name for what runs: the package's version, and that of the layer (an ARN), which each deploy of code raises."""
    number = layer.rpartition(":")[2]
    return f"Lago {__version__}, layer {number}" if number else f"Lago {__version__}"


def make_mailboxes(settings: SendingSettings) -> MailboxStore:
    """The notification queue."""
    return MailboxStore(settings.queue_shards)


def make_sender(settings: SendingSettings, mailboxes: MailboxStore) -> Sender:
    """The one way out, with every channel that this version knows."""
    secrets = ParameterSecrets(settings.token_parameter)
    courier = Courier(
        mailboxes=mailboxes,
        deliveries=DeliveryStore(settings.log_days),
        watches=WatchStore(),
        channels=Channels(settings.channels, secrets),
        secrets=secrets,
        settings=settings.delivery,
        clock=now,
        sleep=pause,
        random=random.random,
    )
    return Sender(courier, SearchStore())


def make_operator_alerts(settings: SendingSettings, mailboxes: MailboxStore) -> OperatorAlerts:
    """What tells whoever runs Lago."""
    return OperatorAlerts(settings.operator, mailboxes=mailboxes, memory=OperatorStore(), clock=now)


def make_drain_signs(settings: DrainFunctionSettings, mailboxes: MailboxStore) -> DrainSigns:
    """What looks at the queue for that."""
    return DrainSigns(
        make_operator_alerts(settings.sending, mailboxes),
        mailboxes=mailboxes,
        letters=DeadLetterStore(mailboxes),
        clock=now,
        running=settings.running,
    )
