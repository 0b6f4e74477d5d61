"""What tests of deliveries do with a `Post`: watch, find, notify, drain; and what gets in between."""

from lago.domain.ids import EpochMs, Milliseconds
from lago.domain.watch import Watch
from lago.drain import DrainReport, drain
from lago.errors import StoreUnavailableError
from lago.notify import NotifyReport, notify
from lago.store.mailboxes import MailboxStore
from lago.store.searches import SearchStore
from tests.builders import NOW, a_cursor, a_destination, a_query, a_search_id, a_watch
from tests.fakes.sending import Post, WorkerKilledError

FOREVER = EpochMs(NOW + 10**12)


def watching(post: Post, *watches) -> None:
    """The watches are there, with their destinations."""
    for watch in watches or (a_watch(),):
        for destination in watch.destinations:
            post.mailboxes.put_destination(a_destination(destination, address=f"10{len(destination)}"))
        post.watches.add(a_query(), watch)
        announced(watch)


def announced(*watches: Watch) -> None:
    """The watches had their baseline, and their message about it."""
    store = SearchStore()
    search = store.get(a_search_id())
    store.commit(search, cursor=a_cursor(), events=(), announced=frozenset(watch.id for watch in watches), now=NOW)


def found(*events) -> None:
    """A scrape commits these events."""
    store = SearchStore()
    search = store.get(a_search_id())
    store.commit(search, cursor=a_cursor(), events=events, announced=frozenset(), now=NOW)


def run_notify(post: Post) -> NotifyReport:
    return notify(
        a_search_id(), searches=SearchStore(), watches=post.watches, sender=post.sender, deadline=post.deadline
    )


def run_drain(post: Post, budget: int = 20_000) -> DrainReport:
    return drain(
        mailboxes=post.mailboxes,
        sender=post.sender,
        clock=post.clock,
        batch=50,
        budget=Milliseconds(budget),
        deadline=post.deadline,
    )


def outbox():
    return SearchStore().get(a_search_id()).outbox


def due(post: Post | MailboxStore) -> list[str]:
    queue = post.mailboxes if isinstance(post, Post) else post
    return [box.destination for box in queue.due(0, FOREVER, 10)]


def just_before(target, name: str, interruption) -> None:
    """Something else happens once, just before `target` does this."""
    method = getattr(target, name)

    def interrupted(*args, **kwargs):
        setattr(target, name, method)
        interruption()
        return method(*args, **kwargs)

    setattr(target, name, interrupted)


def unavailable(*_args, **_kwargs):
    raise StoreUnavailableError("DynamoDB: ThrottlingException")


def killed(*_args, **_kwargs):
    raise WorkerKilledError
