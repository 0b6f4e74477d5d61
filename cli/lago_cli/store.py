"""The stack's tables as the commands use them. Import it only when the tables' names are in the environment."""

from lago.domain.ids import Clock, DestinationId
from lago.domain.notification import Destination
from lago.domain.query import Query
from lago.domain.watch import Watch
from lago.stats import Stats, read_stats
from lago.store.destinations import turn
from lago.store.mailboxes import MailboxStore
from lago.store.searches import CycleStore, SearchStore, SourceStore
from lago.store.watches import WatchStore

_MOST_WAITING = 1_000
"""Rows of a mailbox looked through for a removed watch; the sender cancels the rest when their time comes."""


class StackWatches:
    """Watches, and their unsent messages."""

    def __init__(self, mailboxes: MailboxStore, search_shards: int) -> None:
        self._watches, self._mailboxes = WatchStore(search_shards), mailboxes

    def add(self, query: Query, watch: Watch) -> None:
        """Store a watch and make sure that its search exists."""
        self._watches.add(query, watch)

    def all(self) -> list[Watch]:
        """Every watch of the stack."""
        return self._watches.all()

    def set_paused(self, watch: Watch, reason: str) -> bool:
        """Let a watch rest, or run again."""
        return self._watches.set_paused(watch, reason)

    def turn(self, watch: Watch, destinations: tuple[DestinationId, ...]) -> int:
        """Send what it finds elsewhere, and cancel what waits for it where it no longer goes."""
        turn(watch, destinations)
        return sum(self._cancel(watch, each) for each in watch.destinations if each not in destinations)

    def remove(self, watch: Watch) -> int:
        """Delete a watch, then what waits for nobody else. Dying in between loses nothing: the sender cancels too."""
        self._watches.remove(watch)
        return sum(self._cancel(watch, destination) for destination in watch.destinations)

    def _cancel(self, watch: Watch, destination: DestinationId) -> int:
        head = self._mailboxes.head(destination)
        if head is None:
            return 0
        waiting = self._mailboxes.waiting(destination, _MOST_WAITING)
        unwanted = [row for row in waiting if set(row.notification.watches) == {watch.id}]
        return self._mailboxes.cancel(head.destination, unwanted)


class StackDestinations:
    """Destinations, which live with their mailboxes."""

    def __init__(self, mailboxes: MailboxStore) -> None:
        self._mailboxes = mailboxes

    def put(self, destination: Destination) -> None:
        """Create or replace a destination."""
        self._mailboxes.put_destination(destination)

    def get(self, destination: DestinationId) -> Destination | None:
        """One destination."""
        head = self._mailboxes.head(destination)
        return None if head is None else head.destination

    def all(self) -> list[Destination]:
        """Every destination of the stack."""
        heads = (self._mailboxes.head(each) for each in self._mailboxes.destinations())
        return [head.destination for head in heads if head is not None]


def current_stats(mailboxes: MailboxStore, search_shards: int, clock: Clock) -> Stats:
    """The figures of GET /stats."""
    return read_stats(
        mailboxes=mailboxes,
        searches=SearchStore(),
        sources=SourceStore(),
        cycles=CycleStore(),
        search_shards=search_shards,
        clock=clock,
    )
