"""The doctor's checks of what is outside the stack: secrets, Telegram, the marketplace."""

from collections.abc import Iterator

import msgspec

from lago.domain.notification import Destination
from lago.errors import BadInputError, SourceError
from lago_cli import checks
from lago_cli.doctor_case import MOST_SHOWN, Case, Check, Finding, epoch, fine, warning, wrong
from lago_cli.errors import TelegramError
from lago_cli.ports import Bot
from lago_cli.text import plain, span

_TELEGRAM = "telegram"
_BLOCKED = frozenset({401, 403, 429, 451})
_BLOCKED_FOR_LONG_MS = 3_600_000


def secrets_are_there(case: Case) -> Iterator[Finding]:
    """Every secret that a destination refers to: readable, and of the shape that its channel needs. None is shown."""
    named = {each.credentials: each.channel for each in case.destinations if each.credentials}
    named.setdefault(case.stack.output("TelegramTokenParameter"), _TELEGRAM)
    bot_is_used = any(each.channel == _TELEGRAM for each in case.destinations) or not case.destinations
    for name, channel in sorted(named.items()):
        if channel != _TELEGRAM or bot_is_used:
            yield _secret(name, channel, case.stack.secrets.get(name))


def _secret(name: str, channel: str, secret: str | None) -> Finding:
    shown = plain(name)
    again = "run `lago setup`" if channel == _TELEGRAM else "add the destination again with `lago destination add`"
    if secret is None:
        return wrong(f"{shown} is not there", again)
    if not secret.strip():
        return wrong(f"{shown} is empty", again)
    if channel == _TELEGRAM and not _is_token(secret):
        return wrong(f"{shown} holds no bot token", again)
    if secret.lstrip().startswith("{") and not _is_json(secret):
        return wrong(f"{shown} is cut or damaged", again)
    return fine(f"{shown} can be read")


def bot_can_write(case: Case) -> Iterator[Finding]:
    """Each bot's token, whether its updates go elsewhere, and each chat that it writes to."""
    telegram = [each for each in case.destinations if each.channel == _TELEGRAM]
    if not telegram and case.destinations:
        yield fine("not used")
        return
    default = case.stack.output("TelegramTokenParameter")
    by_token: dict[str, list[Destination]] = {}
    for each in telegram:
        by_token.setdefault(each.credentials or default, []).append(each)
    for name, destinations in (by_token or {default: []}).items():
        secret = case.stack.secrets.get(name)
        if secret is not None and _is_token(secret):  # else the check of the secrets says so
            yield from _bot(case.world.bot(case.stack.output("TelegramApiUrl"), secret), destinations)


def _bot(bot: Bot, destinations: list[Destination]) -> Iterator[Finding]:
    try:
        yield fine(f"the token works: it is {bot.name()}'s")
        host = bot.webhook()
    except TelegramError as error:
        yield wrong(str(error), "is the token revoked? `lago setup` stores a new one")
        return
    if host:
        yield warning(
            f"the bot's updates go to {host}: `lago setup` cannot look for your chat meanwhile",
            "give the chat with `lago setup --chat`, or delete the webhook if it is not yours (deleteWebhook)",
        )
    for each in destinations[:MOST_SHOWN]:
        try:
            yield fine(f"“{plain(each.id)}” is {bot.chat(each.address).title}")
        except TelegramError as error:
            yield wrong(
                f"“{plain(each.id)}”: {error}",
                "write to the bot from that chat (in a group: add it again), then run `lago setup`",
            )
    if len(destinations) > MOST_SHOWN:
        yield fine(f"{len(destinations) - MOST_SHOWN} more chats were not asked for")


def sources_answer(case: Case) -> Iterator[Finding]:
    """One request from here for robots.txt, and how the functions fare by the figures."""
    base = case.stack.output("WillhabenBaseUrl")
    host = plain(base.partition("://")[2])
    try:
        status = case.world.marketplace(base).knock()
    except SourceError as error:
        yield warning(f"from here: {error}", "check this machine's network, then whether the site is down")
    else:
        said = f"from here, {host} answers ({status} for robots.txt)"
        odd = status in _BLOCKED or status >= 500
        yield warning(said, "the functions read from elsewhere: their health counts") if odd else fine(said)
    for name, source in case.stats["sources"].items():
        yield _health(plain(name), source, case.world.clock())


def _health(name: str, source: dict[str, object], now: int) -> Finding:
    if source["healthy"]:
        return fine(f"the functions read {name}")
    since = epoch(str(source["since"]))
    said = f"{name} rests for {span(now - since)}: {plain(str(source['reason']))}; tried again at {source['retry_at']}"
    remedy = "nothing is lost meanwhile as far as its pages reach; a block that stays may mean to read more seldom"
    return wrong(said, remedy) if now - since > _BLOCKED_FOR_LONG_MS else warning(said, remedy)


def _is_token(secret: str) -> bool:
    try:
        checks.bot_token(secret)
    except BadInputError:
        return False
    return True


def _is_json(secret: str) -> bool:
    try:
        msgspec.json.decode(secret)
    except msgspec.DecodeError:
        return False
    return True


CHECKS = (
    Check("secrets", secrets_are_there),
    Check("telegram", bot_can_write),
    Check("sources", sources_answer),
)
