"""The world of the commands, in memory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from lago.dead_letters import DeadLetters
from lago.destinations import Directory
from lago.domain.ad import Ad, Page
from lago.domain.ids import AdId, DestinationId, EpochMs, Milliseconds, OwnerId, SearchId, SourceName, WatchId
from lago.domain.mailbox import Row
from lago.domain.notification import Destination
from lago.domain.query import Query
from lago.domain.watch import Watch
from lago.errors import BadInputError
from lago_cli.errors import FunctionError, StackError, TelegramError
from lago_cli.ports import Chat, Narrowing, World
from tests.cli import fake_deployment
from tests.cli.fake_deployment import FakeDeployment
from tests.fakes.dead_letters import FakeDeadLetters
from tests.fakes.destinations import FakeRemovals, a_spec
from tests.fakes.mailboxes import FakeMailboxes

NOW = fake_deployment.NOW

OUTPUTS = {
    "WillhabenBaseUrl": "http://127.0.0.1:8099",
    "TelegramApiUrl": "http://127.0.0.1:8099/telegram",
    "TelegramTokenParameter": "/lago/test/telegram-bot-token",
    "SearchShards": "2",
    "DestinationSecrets": "/lago/test/destinations",
    "NotifyFunction": "test-notify",
    "DrainFunction": "test-drain",
    "ScrapeFunction": "test-scrape",
}


def an_ad(number: int, **changes: object) -> Ad:
    known: dict[str, object] = {
        "source": SourceName("willhaben"),
        "id": AdId(str(number)),
        "title": f"Rennrad {number}",
        "price": 45_000,
        "published": NOW,
        "url": f"https://www.willhaben.at/iad/object?adId={number}",
        "place": "Wien",
        "seller_kind": "private",
    }
    return Ad(**{**known, **changes})  # type: ignore[arg-type]


def a_watch(identifier: str, **changes: object) -> Watch:
    known: dict[str, object] = {
        "id": WatchId(identifier),
        "search": SearchId("0.abc"),
        "owner": OwnerId("me"),
        "label": "rennrad",
        "url": "https://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz?keyword=rennrad",
        "destinations": (DestinationId("me"),),
        "created": NOW,
    }
    return Watch(**{**known, **changes})  # type: ignore[arg-type]


def a_destination(**changes: object) -> Destination:
    known: dict[str, object] = {
        "id": DestinationId("me"),
        "owner": OwnerId("me"),
        "channel": "telegram",
        "address": "1",
    }
    return Destination(**{**known, **changes})  # type: ignore[arg-type]


@dataclass
class FakeWatches:
    kept: list[Watch] = field(default_factory=list)
    queries: dict[WatchId, Query] = field(default_factory=dict)
    unsent: int = 0

    def add(self, query: Query, watch: Watch) -> None:
        self.kept.append(watch)
        self.queries[watch.id] = query

    def all(self) -> list[Watch]:
        return list(self.kept)

    def set_paused(self, watch: Watch, reason: str) -> bool:
        self.kept = [replace(each, paused=reason) if each.id == watch.id else each for each in self.kept]
        return True

    def turn(self, watch: Watch, destinations: tuple[DestinationId, ...]) -> int:
        self.kept = [replace(each, destinations=destinations) if each.id == watch.id else each for each in self.kept]
        return self.unsent

    def remove(self, watch: Watch) -> int:
        self.kept = [each for each in self.kept if each.id != watch.id]
        return self.unsent


class FakeDestinations:
    """Destinations with their mailboxes."""

    def __init__(self, kept: Mapping[DestinationId, Destination] | None = None) -> None:
        self.mailboxes = FakeMailboxes()
        self.removals = FakeRemovals(self.mailboxes)
        for destination in (kept or {}).values():
            self.put(destination)

    @property
    def kept(self) -> dict[DestinationId, Destination]:
        heads = {name: self.mailboxes.head(name) for name in self.mailboxes.destinations()}
        return {name: head.destination for name, head in heads.items() if head is not None}

    def put(self, destination: Destination) -> None:
        self.mailboxes.put_destination(destination)

    def get(self, destination: DestinationId) -> Destination | None:
        return self.kept.get(destination)

    def all(self) -> list[Destination]:
        return list(self.kept.values())


@dataclass
class FakeFunctions:
    answers: dict[str, object] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def invoke(self, name: str, event: dict[str, object]) -> object:
        self.asked.append((name, event))
        answer = self.answers.get(name, {})
        if isinstance(answer, FunctionError):
            raise answer
        return answer


@dataclass
class FakeSecrets:
    kept: dict[str, str] = field(default_factory=dict)

    def put(self, name: str, value: str) -> None:
        self.kept[name] = value

    def put_if_missing(self, name: str, value: str) -> None:
        self.kept.setdefault(name, value)

    def get(self, name: str) -> str | None:
        return self.kept.get(name)

    def delete(self, names: tuple[str, ...]) -> None:
        for name in names:
            self.kept.pop(name, None)


def some_dead_letters(*rows: Row, store: FakeDeadLetters | None = None) -> DeadLetters:
    return DeadLetters(store or FakeDeadLetters(list(rows)), clock=lambda: NOW, random=lambda: 0.5)


@dataclass
class FakeStack:
    name: str = "test"
    watches: FakeWatches = field(default_factory=FakeWatches)
    destinations: FakeDestinations = field(default_factory=FakeDestinations)
    dead_letters: DeadLetters = field(default_factory=some_dead_letters)
    functions: FakeFunctions = field(default_factory=FakeFunctions)
    secrets: FakeSecrets = field(default_factory=FakeSecrets)
    stats: object = field(default_factory=dict)

    @property
    def directory(self) -> Directory:
        return Directory(
            self.destinations.mailboxes,
            self.destinations.removals,
            self.watches,
            self.secrets,
            prefix=OUTPUTS["DestinationSecrets"],
            clock=Clock(),
            random_bytes=lambda count: bytes(range(count)),
            spec_of=a_spec,
        )

    def output(self, key: str) -> str:
        return OUTPUTS[key]

    def read_stats(self) -> object:
        return self.stats


@dataclass
class FakeMarketplace:
    pages: list[Page] = field(default_factory=list)
    base_url: str = ""
    narrow: Narrowing | None = None
    failure: Exception | None = None
    fetched: list[int] = field(default_factory=list)
    status: int = 200

    def parse_url(self, url: str) -> Query:
        if "willhaben.at/iad/" not in url:
            raise BadInputError("url", url, "the address of a willhaben search")
        return Query(source=SourceName("willhaben"), path=url.partition("willhaben.at")[2])

    def from_keyword(self, keyword: str, narrow: Narrowing) -> Query:
        self.narrow = narrow
        if "Atlantis" in narrow.areas:
            raise BadInputError("areas", "Atlantis", "a state")
        if narrow.category == "bikes":
            raise BadInputError("category", "bikes", "a number")
        return Query(source=SourceName("willhaben"), path="/iad", params=(("keyword", keyword),))

    def url(self, query: Query) -> str:
        return f"https://www.willhaben.at{query.path}"

    def fetch(self, query: Query, page: int) -> Page:
        self.fetched.append(page)
        if self.failure is not None:
            raise self.failure
        return self.pages[page - 1]

    def knock(self) -> int:
        if self.failure is not None:
            raise self.failure
        return self.status


@dataclass
class FakeBot:
    rounds: list[list[Chat]] = field(default_factory=list)
    """What each look at the updates finds; after the last one, nothing."""
    refuses: bool = False
    sent: list[tuple[str, str]] = field(default_factory=list)
    token: str = ""
    unknown: set[str] = field(default_factory=set)
    """Chats that it may not write to."""
    updates_go_to: str = ""

    def name(self) -> str:
        if self.refuses:
            raise TelegramError("Telegram does not know this token (Unauthorized): copy it again from @BotFather.")
        return "@lago_test_bot"

    def chats(self, wait_seconds: int) -> list[Chat]:
        return self.rounds.pop(0) if self.rounds else []

    def send(self, chat: str, text: str) -> None:
        self.sent.append((chat, text))

    def chat(self, chat: str) -> Chat:
        if chat in self.unknown:
            raise TelegramError("Telegram refused getChat: Bad Request: chat not found.")
        return Chat(chat, "Anna")

    def webhook(self) -> str:
        return self.updates_go_to


class Clock:
    """Moves on by a second whenever it is looked at, so that no waiting lasts for ever."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> EpochMs:
        self.now = EpochMs(self.now + 1_000)
        return self.now

    def sleep(self, duration: Milliseconds) -> None:
        self.now = EpochMs(self.now + duration)


def a_world(
    stack: FakeStack | None = None,
    marketplace: FakeMarketplace | None = None,
    bot: FakeBot | None = None,
    open_stack: Callable[[str], FakeStack] | None = None,
    environ: dict[str, str] | None = None,
    deployment: FakeDeployment | None = None,
    browser: list[str] | None = None,
) -> World:
    clock = Clock()
    shop = marketplace or FakeMarketplace()

    def at(base_url: str) -> FakeMarketplace:
        shop.base_url = base_url
        return shop

    def with_token(_url: str, token: str) -> FakeBot:
        made = bot or FakeBot()
        made.token = token
        return made

    def the_stack(_name: str) -> FakeStack:
        if stack is None:
            raise StackError("There is no stack here.")
        return stack

    def the_deployment(_name: str) -> FakeDeployment:
        return deployment or FakeDeployment()

    def browse(address: str) -> bool:
        if browser is not None:
            browser.append(address)
        return browser is not None

    return World(
        open_stack=open_stack or the_stack,
        deployment=the_deployment,
        browse=browse,
        marketplace=at,
        bot=with_token,
        clock=clock,
        sleep=clock.sleep,
        random_bytes=lambda count: bytes(range(count)),
        environ=environ or {},
    )
