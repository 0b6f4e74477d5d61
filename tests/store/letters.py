"""Dead letters for tests: lying in their mailboxes, listed, and the office that handles them."""

from lago.dead_letters import DeadLetters
from lago.domain.dead_letter import EVERY, Wanted
from lago.domain.event import Event
from lago.domain.ids import EpochMs
from lago.domain.mailbox import Row, dead
from lago.store.dead_letters import DeadLetterStore
from lago.store.mailboxes import MailboxStore
from tests.builders import NOW, a_destination, a_row, an_event
from tests.fakes.sending import FakeClock, Post
from tests.store.steps import found, run_notify, watching


def a_letter(
    ad: str, *, died: int = NOW, reason: str = "message", to: str = "me", event: Event | None = None, **more: object
) -> Row:
    return dead(a_row(event or an_event(ad), destination=to, **more), reason, EpochMs(died))


def buried(*letters: Row, shards: int = 1) -> DeadLetterStore:
    """The letters lie in their mailboxes."""
    mailboxes = MailboxStore(shards)
    for name in sorted({letter.notification.destination for letter in letters}):
        mailboxes.put_destination(a_destination(name))
        own = tuple(letter for letter in letters if letter.notification.destination == name)
        mailboxes.enqueue(a_destination(name), own, now=NOW)
    return DeadLetterStore(mailboxes)


def the_office(store: DeadLetterStore, now: int = NOW, jitter: float = 0.5) -> DeadLetters:
    return DeadLetters(store, clock=FakeClock(now), random=lambda: jitter)


def ads(rows) -> list[str]:
    return [row.notification.event.ad for row in rows]


def pages(store: DeadLetterStore, wanted: Wanted = EVERY, *, limit: int) -> list[list[str]]:
    """The ads of all parts of the list."""
    parts, after = [], None
    while True:
        part = store.part(wanted, limit=limit, after=after)
        parts.append(ads(part.rows))
        after = part.after
        if after is None:
            return parts


def died_of_a_refusal(post: Post) -> DeadLetters:
    watching(post)
    found(an_event())
    assert run_notify(post).tally.dead == 1
    return DeadLetters(DeadLetterStore(post.mailboxes), clock=post.clock, random=lambda: 0.5)
