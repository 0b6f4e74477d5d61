"""The real world behind the commands."""

import os
import secrets
import webbrowser

from lago_cli.bot import TelegramBot
from lago_cli.clock import now, pause
from lago_cli.deployment import Deployment
from lago_cli.ports import Marketplace, Stack, World


def real_world() -> World:
    """AWS, the marketplace, Telegram, the clock and the system's randomness."""
    return World(
        open_stack=_open_stack,
        deployment=_deployment,
        browse=webbrowser.open,
        marketplace=_marketplace,
        bot=TelegramBot,
        clock=now,
        sleep=pause,
        random_bytes=secrets.token_bytes,
        environ=dict(os.environ),
    )


def _open_stack(name: str) -> Stack:
    from lago_cli.stack import open_stack  # noqa: PLC0415 - `lago search` must not wait for AWS's library

    return open_stack(name)


def _deployment(name: str) -> Deployment:
    from lago_cli.aws_deployment import open_deployment  # noqa: PLC0415 - as above

    return open_deployment(name)


def _marketplace(base_url: str) -> Marketplace:
    from lago_cli.marketplace import WillhabenMarketplace  # noqa: PLC0415 - `lago stats` needs no HTTP client

    return WillhabenMarketplace(base_url, os.environ.get("CONTACT", "").strip())
