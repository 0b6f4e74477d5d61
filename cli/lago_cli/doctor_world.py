"""The doctor's checks of what is outside the stack: Telegram, the marketplace."""

from collections.abc import Iterator

from lago.domain.notification import Destination
from lago.errors import SourceError
from lago_cli.doctor_case import MOST_SHOWN, TELEGRAM, Case, Check, Finding, epoch, fine, warning, wrong
from lago_cli.doctor_secrets import is_usable
from lago_cli.errors import TelegramError
from lago_cli.ports import Bot
from lago_cli.text import plain, span

_BLOCKED = frozenset({401, 403, 429, 451})
_BLOCKED_FOR_LONG_MS = 3_600_000


def bot_can_write(case: Case) -> Iterator[Finding]:
    """Each bot's token, whether its updates go elsewhere, and each chat that it writes to."""
    telegram = [each for each in case.destinations if each.channel == TELEGRAM]
    if not telegram and case.destinations:
        yield fine("not used")
        return
    default = case.stack.output("TelegramTokenParameter")
    by_token: dict[str, list[Destination]] = {}
    for each in telegram:
        by_token.setdefault(each.credentials or default, []).append(each)
    for name, destinations in (by_token or {default: []}).items():
        secret = case.stack.secrets.get(name)
        if secret is not None and is_usable(TELEGRAM, secret):  # else the check of the secrets says so
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


CHECKS = (
    Check("telegram", bot_can_write),
    Check("sources", sources_answer),
)
