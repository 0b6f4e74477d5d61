"""Fan-out: the events of a search's outbox to the destinations of its watches, then the outbox is cleared."""

import logging
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct

from lago.correlation import about
from lago.courier import Candidate, Tally
from lago.delivery import Sender
from lago.domain.event import AdEvent, Event, WatchLive
from lago.domain.filters import concerns
from lago.domain.geo import distance_km
from lago.domain.ids import DestinationId, EpochMs, NotificationId, SearchId
from lago.domain.mailbox import Row
from lago.domain.notification import Notification, notification_id
from lago.domain.search import Search
from lago.domain.watch import Watch
from lago.errors import StoreError
from lago.ports import Searches, Watches

log = logging.getLogger(__name__)

THREADS = 8
"""Destinations served at once: one chat that hangs holds up nobody else."""

Fan = dict[DestinationId, dict[NotificationId, Candidate]]


class NotifyReport(Struct, frozen=True, kw_only=True):
    """What one outbox led to. `failed` counts whom the store failed for: the outbox stays then."""

    search: SearchId
    events: int = 0
    tally: Tally
    missed: int = 0
    failed: int = 0
    cleared: bool = False


def notify(
    search_id: SearchId, *, searches: Searches, watches: Watches, sender: Sender, deadline: EpochMs
) -> NotifyReport:
    """Hand out the outbox of a search. Done twice, or from an old wake-up, it tells nothing twice.

    `deadline` is when the function must have ended, in epoch ms. Raises StoreError when the search can't be read.
    """
    tally = Tally()
    # in this order: a watch added in between is not heard of; one that is heard of is known to await its baseline
    interested = watches.of(search_id)
    search = searches.get(search_id)
    if search is None or search.outbox_id is None:
        return NotifyReport(search=search_id, tally=tally)
    fan, missed = fan_out(search, interested)
    failed = 0
    with ThreadPoolExecutor(max_workers=THREADS) as pool:
        sends = [
            (destination, pool.submit(_deliver, sender, search_id, destination, tuple(news.values()), deadline))
            for destination, news in fan.items()
        ]
        for destination, send in sends:
            try:
                tally.add(send.result())
            except Exception:
                # the outermost loop over destinations: one that fails must not hold back the others
                log.exception("could not notify", extra={"search": search_id, "destination": destination})
                failed += 1
    for watch, found in missed:
        try:
            watches.count_missed(watch, found)
        except StoreError:
            log.exception("could not count what was missed", extra={"search": search_id, "watch": watch.id})
            failed += 1
    cleared = failed == 0 and searches.clear_outbox(search_id, search.outbox_id)
    return NotifyReport(
        search=search_id,
        events=len(search.outbox),
        tally=tally,
        missed=sum(len(found) for _, found in missed),
        failed=failed,
        cleared=cleared,
    )


def _deliver(
    sender: Sender, search: SearchId, destination: DestinationId, news: tuple[Candidate, ...], deadline: EpochMs
) -> Tally:
    with about(search=search, destination=destination):
        return sender.deliver(destination, news, deadline=deadline)


def fan_out(search: Search, watches: list[Watch]) -> tuple[Fan, list[tuple[Watch, tuple[EpochMs, ...]]]]:
    """Which events go to which destination, each once however many watches match; and what paused watches missed."""
    fan: Fan = {}
    missed = []
    for watch in watches:
        wanted = [event for event in _since_it_is_live(search, watch) if concerns(watch, event)]
        if watch.paused:
            found = tuple(event.found for event in wanted)
            if found:
                missed.append((watch, found))
            continue
        for event in wanted:
            for destination in watch.destinations:
                _add(fan.setdefault(destination, {}), search, watch, destination, event)
    return fan, missed


def _since_it_is_live(search: Search, watch: Watch) -> tuple[Event, ...]:
    """What was found since the watch had its baseline: what stands before its own watch_live is another watch's past.

    The order of the outbox decides, no clock: the one that made the watch may be ahead of ours.
    """
    if watch.id in search.awaiting:
        return ()
    for place, event in enumerate(search.outbox):
        if isinstance(event, WatchLive) and event.watch == watch.id:
            return search.outbox[place:]
    return search.outbox


def _add(
    news: dict[NotificationId, Candidate], search: Search, watch: Watch, destination: DestinationId, event: Event
) -> None:
    id_ = notification_id(destination, event)
    before = news.get(id_)
    away = None
    if watch.near and isinstance(event, AdEvent) and event.coordinates:
        away = distance_km(watch.near, event.coordinates)
    notification = Notification(
        id=id_,
        destination=destination,
        event=event,
        search=search.id,
        watches=(*(before.row.notification.watches if before else ()), watch.id),
        label=before.row.notification.label if before else watch.label,
        search_url=watch.url,
        distance_km=before.row.notification.distance_km if before else away,
    )
    # found in one scrape, they have one time: a millisecond apart they keep their order in the mailbox
    order = EpochMs(event.found + search.outbox.index(event))
    row = Row(notification=notification, created=event.found, next_attempt_at=order)
    news[id_] = Candidate(row, (*(before.filters if before else ()), watch.filters))
