"""DynamoDB answers a part, or an empty page that is not the last, or what should be gone: all is found, and no more."""

import pytest
from msgspec.structs import replace

from lago.domain.ids import EpochMs, Minor
from lago.domain.mailbox import Settlement, dead
from lago.domain.resolve import Told
from lago.errors import ConflictError, StoreUnavailableError
from lago.store import connection
from lago.store.deliveries import DAY_MS, DeliveryItem, DeliveryStore
from lago.store.mailboxes import MailboxStore
from lago.store.queue_reads import Counts
from lago.store.searches import SearchStore
from lago.store.watches import WatchStore
from tests.builders import ME, NOW, a_destination, a_query, a_row, a_search_id, a_watch, an_event
from tests.fakes.reluctant_dynamodb import UnprocessedKeys, empty_pages
from tests.fakes.sending import a_post
from tests.store.letters import a_letter, ads, buried, pages
from tests.store.steps import found, run_notify, watching

FIVE = tuple(str(n) for n in range(5))
HUNDRED_AND_MORE = tuple(str(n) for n in range(130))


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(connection, "PAUSES", (0, 0, 0))


def a_log(*told: str) -> DeliveryStore:
    log = DeliveryStore(days=400)
    log.log(ME, [an_event(ad) for ad in told], NOW)
    return log


def a_queue(*waiting: str) -> MailboxStore:
    queue = MailboxStore(1)
    queue.put_destination(a_destination())
    queue.enqueue(a_destination(), tuple(a_row(an_event(ad)) for ad in waiting), now=NOW)
    return queue


# keys that are left unprocessed


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("served", [0, 2])
def test_a_log_that_answers_in_pieces_is_read_whole(served, times):
    log = a_log(*FIVE)

    with UnprocessedKeys(served=served, times=times).installed() as database:
        told = log.told(ME, [an_event(ad) for ad in FIVE])

    assert set(told) == {f"willhaben/{ad}" for ad in FIVE}
    assert len(database.asked) > 1


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("served", [0, 2])
def test_a_queue_that_answers_in_pieces_knows_all_its_rows(served, times):
    queue = a_queue(*FIVE)
    ids = [a_row(an_event(ad)).id for ad in FIVE]

    with UnprocessedKeys(served=served, times=times).installed() as database:
        assert queue.known(ME, ids) == set(ids)
        assert queue.enqueue(a_destination(), tuple(a_row(an_event(ad)) for ad in FIVE), now=NOW) == 0

    assert len(database.asked) > 2
    assert queue.counts() == {"telegram": Counts(5, 0)}


def test_a_database_that_serves_one_key_at_a_time_is_asked_as_long_as_something_comes():
    log = a_log(*FIVE)

    with UnprocessedKeys(served=1).installed() as database:
        told = log.told(ME, [an_event(ad) for ad in FIVE])

    assert len(told) == 5
    assert database.asked == [5, 4, 3, 2, 1]


def test_a_database_that_serves_keys_of_nothing_is_asked_as_long_as_fewer_are_left():
    log = a_log("0")

    with UnprocessedKeys(served=1).installed() as database:
        told = log.told(ME, [an_event(str(n)) for n in range(12)])

    assert set(told) == {"willhaben/0"}
    assert database.asked == list(range(12, 0, -1))


def test_what_is_read_in_several_batches_is_read_whole():
    log = a_log("3", "127")

    with UnprocessedKeys(served=60).installed() as database:
        told = log.told(ME, [an_event(ad) for ad in HUNDRED_AND_MORE])

    assert set(told) == {"willhaben/3", "willhaben/127"}
    assert max(database.asked) <= 100


def test_a_log_that_answers_nothing_for_ever_is_away_and_not_empty():
    log = a_log("1")

    with UnprocessedKeys().installed() as database, pytest.raises(StoreUnavailableError, match="unprocessed"):
        log.told(ME, [an_event("1")])

    assert len(database.asked) == 1 + len(connection.PAUSES)


def test_a_queue_that_answers_nothing_for_ever_queues_nothing():
    queue = a_queue("1")

    with UnprocessedKeys().installed(), pytest.raises(StoreUnavailableError):
        queue.enqueue(a_destination(), (a_row(an_event("2")),), now=NOW)

    assert queue.counts() == {"telegram": Counts(1, 0)}


def test_a_dead_letter_is_not_claimed_by_its_outbox_while_the_database_answers_in_pieces():
    letter = a_letter("1")
    buried(letter)
    queue = MailboxStore(1)

    with UnprocessedKeys(times=2).installed(), pytest.raises(ConflictError):
        queue.claim(queue.head(ME), [letter.id], now=NOW, lease_until=EpochMs(NOW + 60_000))

    assert queue.head(ME).lease_until is None


def test_an_outcome_is_recorded_onto_what_is_left_while_the_database_answers_in_pieces():
    queue = a_queue("1", "2")
    first, second = queue.waiting(ME, 2)
    claim = queue.claim(queue.head(ME), [first.id, second.id], now=NOW, lease_until=EpochMs(NOW + 60_000))
    queue.acknowledge(a_destination(), [first.id])

    with UnprocessedKeys(served=1, times=1).installed() as database:
        letters = (dead(first, "message", NOW), dead(second, "message", NOW))
        assert queue.record(claim, Settlement(kept=letters), new=False, next_row_at=None, now=NOW)

    assert database.asked == [2, 1]
    assert (queue.counts(), queue.dead(ME)) == ({"telegram": Counts(0, 1)}, [letters[1]])


# an empty page that is not the last one


def test_every_mailbox_that_is_due_is_found_behind_empty_pages():
    queue = MailboxStore(1)
    names = [f"d{n}" for n in range(5)]
    for n, name in enumerate(names):
        queue.put_destination(a_destination(name))
        queue.enqueue(a_destination(name), (a_row(destination=name),), now=EpochMs(NOW + n))

    with empty_pages():
        assert [box.destination for box in queue.due(0, EpochMs(NOW + 10), 10)] == names
        assert [box.destination for box in queue.due(0, EpochMs(NOW + 10), 3)] == names[:3]
        assert queue.destinations() == names


def test_every_row_that_waits_is_found_behind_empty_pages_in_its_order():
    queue = a_queue(*FIVE)
    waiting = queue.waiting(ME, 10)

    with empty_pages():
        assert queue.waiting(ME, 10) == waiting
        assert queue.waiting(ME, 2) == waiting[:2]

    assert len(waiting) == 5


def test_every_dead_letter_is_listed_behind_empty_pages():
    letters = [a_letter(str(n), died=NOW + n // 2) for n in range(6)]
    store = buried(*letters)
    queue = MailboxStore(1)
    listed, newest = pages(store, limit=4), queue.dead_letters(10)

    with empty_pages():
        assert pages(store, limit=4) == listed
        assert queue.dead_letters(10) == newest
        assert sorted(ads(queue.dead(ME))) == sorted(ads(letters))
        assert ads(store.beginning(letters[0].id[:8])) == ads(letters[:1])

    assert (len(listed), len(newest)) == (2, 6)


def test_letters_of_several_shards_are_merged_behind_empty_pages():
    letters = [a_letter(str(n), died=NOW + n % 3, to=f"chat{n % 4}") for n in range(12)]
    store = buried(*letters, shards=3)
    listed = pages(store, limit=5)

    with empty_pages():
        assert pages(store, limit=5) == listed


def test_counts_are_exact_behind_empty_pages():
    queue = a_queue("1", "2")
    mail = replace(a_destination("mail"), channel="email")
    queue.put_destination(mail)
    queue.enqueue(mail, (a_row(destination="mail"),), now=NOW)

    with empty_pages():
        assert queue.counts() == {"email": Counts(1, 0), "telegram": Counts(2, 0)}


def test_every_search_and_every_watch_is_found_behind_empty_pages():
    store = WatchStore()
    for n in range(4):
        for name in (f"v{n}", f"w{n}"):
            store.add(a_query(f"k{n}"), replace(a_watch(name), search=a_search_id(f"k{n}")))

    with empty_pages():
        assert len(SearchStore().in_shard(0)) == 4
        assert len(store.all()) == 8


# what should be gone


def test_what_was_told_counts_past_its_time_while_dynamodb_keeps_it():
    DeliveryStore(days=1).log(ME, [an_event("1", price=12_000)], NOW)
    long_ago = EpochMs(NOW - 500 * DAY_MS)
    DeliveryStore(days=1).log(ME, [an_event("2", price=9_000)], long_ago)

    told = DeliveryStore(days=1).told(ME, [an_event("1"), an_event("2")])

    assert told == {"willhaben/1": Told(Minor(12_000), NOW), "willhaben/2": Told(Minor(9_000), long_ago)}
    assert DeliveryItem.get(ME, "willhaben/2").expires_at < NOW // 1000


def test_an_ad_is_not_told_twice_because_its_entry_outlived_its_time():
    post = a_post()
    watching(post)
    DeliveryStore(days=1).log(ME, [an_event("1")], EpochMs(NOW - 500 * DAY_MS))
    found(an_event("1"), an_event("2"))

    run_notify(post)

    assert post.channel.ads == [["2"]]
