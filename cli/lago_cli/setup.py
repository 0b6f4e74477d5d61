"""`lago setup`: connect a Telegram bot and chat to the stack."""

import sys
from typing import Annotated

import msgspec
import typer

from lago.domain.ids import DestinationId, Milliseconds, OwnerId
from lago.domain.notification import Destination
from lago_cli import checks, options
from lago_cli.errors import TelegramError
from lago_cli.output import print_json, remark, say
from lago_cli.ports import Bot, Chat, Destinations, World

CONNECTED = "Lago is connected"
PATIENCE_SECONDS = 60
POLL_SECONDS = 5
_STANDARD_INPUT = "-"


def setup(
    ctx: typer.Context,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            envvar="TELEGRAM_BOT_TOKEN",
            help="The bot's token from @BotFather; `-` reads it from standard input. Asked for when left out.",
            show_default=False,
        ),
    ] = None,
    chat: Annotated[
        str | None,
        typer.Option("--chat", envvar="TELEGRAM_CHAT_ID", help="The chat's id, instead of looking for it."),
    ] = None,
    destination: Annotated[
        str, typer.Option("--destination", metavar="NAME", help="What `lago watch add --to` calls it.")
    ] = "me",
    time_zone: Annotated[
        str | None,
        typer.Option(
            "--time-zone",
            metavar="NAME",
            help="Where the times in messages are shown, such as Europe/Vienna. Stays as it is when left out.",
            show_default=False,
        ),
    ] = None,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Store the bot's token as a secret, find your chat and send a first message there.

    1. In Telegram, talk to @BotFather, send `/newbot` and copy the token.
    2. Run `lago setup`, paste the token, then write anything to your new bot.

    **Examples:**

        lago setup

        pass telegram-bot | lago setup --token - --chat 123456789
    """
    world: World = ctx.obj
    to, zone = checks.destination_name(destination), checks.time_zone(time_zone)
    if token is not None and token != _STANDARD_INPUT:
        checks.bot_token(token)
    stack = world.open_stack(stack_name)
    secret = _token(token)
    bot = world.bot(stack.output("TelegramApiUrl"), secret)
    name = bot.name()
    remark(f"The token works: it is {name}'s.")
    found = Chat(chat.strip(), "the chat that you named") if chat else _find_chat(world, bot, name)
    parameter = stack.output("TelegramTokenParameter")
    stack.secrets.put(parameter, secret)
    store_destination(stack.destinations, to, found.id, parameter, zone)
    bot.send(found.id, CONNECTED)
    if as_json:
        print_json({"bot": name, "chat": found.id, "title": found.title, "destination": destination})
        return
    say(f"Connected: {name} writes to {found.title} ({found.id}). Look for “{CONNECTED}” there.")
    remark("If this token replaced another one, the functions use it within 5 minutes.")


def store_destination(
    destinations: Destinations, name: DestinationId, chat: str, parameter: str, time_zone: str | None = None
) -> None:
    """Create the destination, or re-address and revive it; its time zone stays unless another is given."""
    known = destinations.get(name) or Destination(id=name, owner=OwnerId("me"), channel="telegram", address=chat)
    if known.disabled:
        remark(f"“{name}” was disabled ({known.disabled}); `lago watch resume WATCH` wakes a watch that this paused.")
    destinations.put(
        msgspec.structs.replace(
            known,
            channel="telegram",
            address=chat,
            credentials=parameter,
            time_zone=time_zone or known.time_zone,
            disabled="",
        )
    )


def _token(given: str | None) -> str:
    """From the option, from standard input, or asked for without showing it."""
    if given is None and sys.stdin.isatty():
        given = str(typer.prompt("Bot token (from @BotFather)", hide_input=True, err=True))
    if given is None or given == _STANDARD_INPUT:
        given = sys.stdin.readline()
    return checks.bot_token(given)


def _find_chat(world: World, bot: Bot, name: str) -> Chat:
    """The one conversation that the bot has; waits for the person to open it.

    Anybody may write to a bot, so of several conversations none is taken without being named.
    """
    chats = bot.chats(0)
    if not chats:
        remark(f"Now write anything to {name} in Telegram; waiting for a minute …")
    deadline = world.clock() + PATIENCE_SECONDS * 1000
    while not chats and world.clock() < deadline:
        chats = bot.chats(POLL_SECONDS)
        if not chats:
            world.sleep(Milliseconds(500))
    if not chats:
        raise TelegramError(f"Nobody wrote to {name} within a minute: write to it and run `lago setup` again.")
    if len(chats) > 1:
        listed = ", ".join(f"{each.id} ({each.title})" for each in chats)
        raise TelegramError(f"{name} has several conversations; choose one with --chat: {listed}.")
    return chats[0]
