"""What is watched and who is told: checked before anything is deployed, stored after."""

import secrets
from dataclasses import dataclass

from lago.domain.ids import DestinationId, OwnerId
from lago.domain.query import Query
from lago.domain.watch import Watch
from lago.errors import LagoError
from lago_cli.bot import TelegramBot
from lago_cli.checks import label
from lago_cli.clock import now
from lago_cli.errors import explain
from lago_cli.identifiers import new_watch_id
from lago_cli.marketplace import WillhabenMarketplace
from lago_cli.ports import Narrowing, Stack
from lago_cli.setup import store_destination
from lago_cli.wanted import query_for
from scripts.local_stack import LocalStackError
from scripts.run_messages import DESTINATION


@dataclass(frozen=True)
class Wanted:
    """What is watched: the query, its address for people, what messages call it, and where it is read."""

    query: Query
    url: str
    label: str
    marketplace: WillhabenMarketplace


def understand(wanted: str, base_url: str, contact: str = "") -> Wanted:
    """Check that the search can be understood. Raises LocalStackError with one sentence."""
    try:
        marketplace = WillhabenMarketplace(base_url, contact)
        query = query_for(wanted, Narrowing(), marketplace)
    except LagoError as error:
        raise LocalStackError(sentence(error)) from error
    return Wanted(query, marketplace.url(query), label(None, wanted), marketplace)


def require_readable(wanted: Wanted, base_url: str) -> None:
    """Read its first page once. Raises LocalStackError with one sentence."""
    try:
        wanted.marketplace.fetch(wanted.query, 1)
    except LagoError as error:
        raise LocalStackError(f"{sentence(error)} Check WILLHABEN_BASE_URL ({base_url}) and the network.") from error


def require_bot(api_url: str, token: str, chat: str) -> str:
    """Check the token, and find the chat unless it is given; returns the chat's id. Raises LocalStackError."""
    try:
        bot = TelegramBot(api_url, token)
        name = bot.name()
        chats = [] if chat else bot.chats(0)
    except LagoError as error:
        raise LocalStackError(sentence(error)) from error
    if chat:
        return chat
    if len(chats) != 1:
        found = "several conversations" if chats else "no conversation yet"
        ids = "".join(f" {each.id} ({each.title})" for each in chats)
        raise LocalStackError(
            f"{name} has {found}: write to it in Telegram and run again, or choose with TELEGRAM_CHAT_ID=…{ids}"
        )
    return chats[0].id


def connect(stack: Stack, token: str, chat: str) -> None:
    """Store the token as a secret and the chat as the destination."""
    parameter = stack.output("TelegramTokenParameter")
    stack.secrets.put(parameter, token)
    known = stack.destinations.get(DestinationId(DESTINATION))
    if known is None or known.address != chat:
        store_destination(stack.destinations, DestinationId(DESTINATION), chat, parameter)


def watch_once(stack: Stack, wanted: Wanted) -> Watch | None:
    """Add the watch; None when this search is watched already."""
    search = wanted.query.search_id(int(stack.output("SearchShards")))
    if any(watch.search == search for watch in stack.watches.all()):
        return None
    watch = Watch(
        id=new_watch_id(secrets.token_bytes),
        search=search,
        owner=OwnerId(DESTINATION),
        label=wanted.label,
        url=wanted.url,
        destinations=(DestinationId(DESTINATION),),
        created=now(),
    )
    stack.watches.add(wanted.query, watch)
    return watch


def sentence(error: LagoError) -> str:
    """The error as a person reads it."""
    explained = explain(error)
    return explained[0] if explained else str(error)
