"""What the commands need of the outside world, as small protocols; the tests bring in-memory fakes."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from lago.dead_letters import DeadLetters
from lago.destinations import Directory
from lago.domain.ad import Page, SellerKind
from lago.domain.ids import Clock, DestinationId, Minor, Sleep
from lago.domain.notification import Destination
from lago.domain.query import Query
from lago.domain.watch import Watch
from lago_cli.deployment import Deployment


class Watches(Protocol):
    """The watches of the stack, kept in step with the searches that they share."""

    def add(self, query: Query, watch: Watch) -> None:
        """Store a watch and make sure that its search exists."""
        ...

    def all(self) -> list[Watch]:
        """Every watch of the stack."""
        ...

    def set_paused(self, watch: Watch, reason: str) -> bool:
        """Let a watch rest for `reason`; an empty reason lets it run again. Says whether it was still there."""
        ...

    def turn(self, watch: Watch, destinations: tuple[DestinationId, ...]) -> int:
        """Send what it finds elsewhere; returns how many unsent messages to those that it leaves were cancelled."""
        ...

    def remove(self, watch: Watch) -> int:
        """Delete a watch; returns how many of its unsent messages were cancelled."""
        ...


class Destinations(Protocol):
    """Where the stack's messages go."""

    def put(self, destination: Destination) -> None:
        """Create or replace a destination."""
        ...

    def get(self, destination: DestinationId) -> Destination | None:
        """One destination."""
        ...

    def all(self) -> list[Destination]:
        """Every destination of the stack."""
        ...


class Functions(Protocol):
    """The stack's Lambda functions."""

    def invoke(self, name: str, event: dict[str, object]) -> object:
        """The answer of one synchronous invocation. Raises FunctionError with what the function said."""
        ...


class Secrets(Protocol):
    """The stack's secrets, encrypted in one place and referred to by name."""

    def put(self, name: str, value: str) -> None:
        """Create or replace a secret."""
        ...

    def put_if_missing(self, name: str, value: str) -> None:
        """Create a secret, unless it is there."""
        ...

    def delete(self, names: tuple[str, ...]) -> None:
        """Delete those that are there."""
        ...

    def get(self, name: str) -> str | None:
        """The secret; None when there is none of that name."""
        ...


class Narrowing(Struct, frozen=True, kw_only=True):
    """What the options beside a keyword ask for. Categories and areas as typed: the marketplace knows which exist."""

    price_from: Minor | None = None
    price_to: Minor | None = None
    category: str | None = None
    areas: tuple[str, ...] = ()
    seller_kind: SellerKind | None = None
    paylivery: bool = False


class Marketplace(Protocol):
    """The part of a source that a person's commands use."""

    def parse_url(self, url: str) -> Query:
        """The canonical query of a pasted search URL. Raises BadInputError."""
        ...

    def from_keyword(self, keyword: str, narrow: Narrowing) -> Query:
        """The canonical query of a keyword with options. Raises BadInputError."""
        ...

    def url(self, query: Query) -> str:
        """The search for a person to open in a browser."""
        ...

    def fetch(self, query: Query, page: int) -> Page:
        """Result page `page` (from 1), newest first."""
        ...

    def knock(self) -> int:
        """The status of one request for what every robot may read, robots.txt. Raises SourceError without an answer."""
        ...


class Chat(Struct, frozen=True):
    """A conversation that the bot has seen."""

    id: str
    title: str


class Bot(Protocol):
    """The person's Telegram bot. Errors are TelegramError and never hold the token."""

    def name(self) -> str:
        """The bot's @name: proves that the token works."""
        ...

    def chats(self, wait_seconds: int) -> list[Chat]:
        """The conversations in the bot's waiting updates, each once; waits that long for the first update."""
        ...

    def send(self, chat: str, text: str) -> None:
        """Send a plain text message."""
        ...

    def chat(self, chat: str) -> Chat:
        """The conversation, as the bot sees it. Raises TelegramError when it may not write there (any more)."""
        ...

    def webhook(self) -> str:
        """The host that the bot's updates are sent to; empty when there is none and they can be asked for."""
        ...


class Stack(Protocol):
    """One deployed stack, found through its outputs."""

    @property
    def name(self) -> str:
        """What it was deployed under."""
        ...

    @property
    def watches(self) -> Watches:
        """Its watches."""
        ...

    @property
    def destinations(self) -> Destinations:
        """Its destinations."""
        ...

    @property
    def directory(self) -> Directory:
        """All that can be done with its destinations."""
        ...

    @property
    def dead_letters(self) -> DeadLetters:
        """What could not be delivered."""
        ...

    @property
    def functions(self) -> Functions:
        """Its functions."""
        ...

    @property
    def secrets(self) -> Secrets:
        """Its secrets."""
        ...

    def output(self, key: str) -> str:
        """One output of the stack. Raises StackError when it has none of that name."""
        ...

    def read_stats(self) -> object:
        """The figures of GET /stats, as a struct or builtins."""
        ...


class World(Struct, frozen=True, kw_only=True):
    """Everything outside the commands: handed to the app as its context object."""

    open_stack: Callable[[str], Stack]
    deployment: Callable[[str], Deployment]
    """What AWS says of a stack, which may be half deployed."""
    browse: Callable[[str], bool]
    """Opens an address in the person's browser; says whether there is one."""
    marketplace: Callable[[str], Marketplace]
    """Makes the adapter for a base URL."""
    bot: Callable[[str, str], Bot]
    """Makes the bot for an API URL and a token."""
    clock: Clock
    sleep: Sleep
    random_bytes: Callable[[int], bytes]
    environ: dict[str, str]
