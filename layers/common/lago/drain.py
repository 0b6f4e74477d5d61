"""Retries what is due: mailboxes by the time of their next attempt, several at once, within a time budget."""

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from msgspec import Struct

from lago.correlation import about
from lago.courier import Tally
from lago.delivery import Sender
from lago.domain.ids import Clock, DestinationId, EpochMs, Milliseconds
from lago.ports import DueMailbox, Mailboxes

log = logging.getLogger(__name__)

THREADS = 8
"""Mailboxes served at once: one chat that hangs holds up nobody else."""
_LOOKED_AT = 20
"""Mailboxes that the index shows as due after a drain, of which the oldest that really is gives the age."""


class DrainReport(Struct, frozen=True, kw_only=True):
    """What a drain did, and how the queue stands after it. `oldest_due_ms` is how long the oldest has been due."""

    mailboxes: int
    tally: Tally
    failed: int
    pending: int
    dead: int
    oldest_due_ms: Milliseconds


class Turn(NamedTuple):
    """What a mailbox got in a round; `unfinished` when its share of the time was over before it was."""

    tally: Tally
    unfinished: bool


def drain(
    *, mailboxes: Mailboxes, sender: Sender, clock: Clock, batch: int, budget: Milliseconds, deadline: EpochMs
) -> DrainReport:
    """Send what is due, oldest first, `batch` mailboxes a round, until nothing is due or `budget` ms have passed.

    Each of a round has its share of the time, so that no backlog keeps another's fresh message waiting; what is left of
    the time then is the backlog's. With nothing due it writes nothing and reads one index page and the counters of each
    shard. `deadline` is when the function must have ended. Raises StoreError when the queue can't be read.
    """
    soft = EpochMs(clock() + budget)
    tally, failed = Tally(), 0
    seen: set[DestinationId] = set()
    unfinished: list[DueMailbox] = []
    with ThreadPoolExecutor(max_workers=THREADS) as pool:
        while True:
            due = [box for shard in range(mailboxes.shards) for box in mailboxes.due(shard, clock(), batch + len(seen))]
            fresh = sorted((box for box in due if box.destination not in seen), key=lambda box: box.due_at)[:batch]
            room = batch - len(fresh)
            turns, unfinished = [*fresh, *unfinished[:room]], unfinished[room:]
            if not turns or clock() >= soft:
                break
            seen.update(box.destination for box in turns)
            share = max(1, (soft - clock()) * THREADS // max(THREADS, len(turns)))

            def turn(box: DueMailbox, share: int = share) -> Turn:
                until = min(soft, EpochMs(clock() + share))
                with about(destination=box.destination):
                    sent = sender.drain(box.destination, soft=until, deadline=deadline)
                return Turn(sent, unfinished=clock() >= until)

            sends = [pool.submit(turn, box) for box in turns]
            for box, send in zip(turns, sends, strict=True):
                try:
                    tally.add(send.result().tally)
                    if send.result().unfinished:
                        unfinished.append(box)
                except Exception:
                    # the outermost loop over mailboxes: one that fails must not hold back the others
                    log.exception("could not drain", extra={"destination": box.destination})
                    failed += 1
    counts = mailboxes.counts()
    return DrainReport(
        mailboxes=len(seen),
        tally=tally,
        failed=failed,
        pending=sum(count.pending for count in counts.values()),
        dead=sum(count.dead for count in counts.values()),
        oldest_due_ms=_oldest(due, mailboxes, clock()),
    )


def _oldest(due: list[DueMailbox], mailboxes: Mailboxes, now: EpochMs) -> Milliseconds:
    """How long the oldest has been due. The index may lag behind what was just sent, so the mailboxes decide."""
    for box in sorted(due, key=lambda box: box.due_at)[:_LOOKED_AT]:
        head = mailboxes.head(box.destination)
        if head is not None and head.due_at is not None and head.due_at <= now:
            return Milliseconds(now - head.due_at)
    return Milliseconds(0)
