"""What every store of searches must do, the in-memory fake and DynamoDB alike.

Subclass and implement `make_searches` (a fresh, empty store) and `put`.
"""

import pytest

from lago.domain.event import EVENT_BYTES, PENDING_EVENTS, AdEvent, WatchLive, event_size
from lago.domain.ids import AdId, EpochMs, Minor, SearchId, SourceName, WatchId
from lago.domain.query import Query
from lago.domain.search import Cursor, Health, KnownAd, Search
from lago.errors import ConflictError
from lago.ports import Searches

NOW = EpochMs(1_796_000_000_000)
WILLHABEN = SourceName("willhaben")
QUERY = Query(source=WILLHABEN, path="/iad/kaufen-und-verkaufen/marktplatz", params=(("keyword", "rennrad"),))
BLOCKED = Health(kind="blocked", reason="403", failures=2, since=NOW, retry_at=EpochMs(NOW + 60_000))
NOBODY: frozenset[WatchId] = frozenset()


def a_search(number: str = "0.a", *, watches: int = 1, awaiting: frozenset[WatchId] = NOBODY) -> Search:
    return Search(id=SearchId(number), query=QUERY, version=0, watches=watches, awaiting=awaiting)


def a_cursor(*ads: str, gap: bool = False) -> Cursor:
    return Cursor(
        began=NOW,
        newest=NOW,
        highest_id=920_000_001,
        window=tuple(KnownAd(AdId(ad), Minor(31_000), Minor(27_900)) for ad in ads),
        fingerprint="0123456789abcdef",
        total=12,
        gap=gap,
    )


def an_event(ad: str = "920000002", title: str = "Rennrad <alt> & gut 🚲") -> AdEvent:
    return AdEvent(
        kind="new_ad",
        source=WILLHABEN,
        ad=AdId(ad),
        title=title,
        price=Minor(31_000),
        currency="EUR",
        price_text="€ 310",
        old_price=None,
        published=NOW,
        found=NOW,
        url=f"https://marketplace.example/{ad}",
        image=None,
        place="Wien",
        seller_kind="private",
        seller_name="",
        coordinates=(48.2, 16.4),
        details=("56 cm",),
    )


class SearchesContract:
    def make_searches(self) -> Searches:
        raise NotImplementedError

    def put(self, searches: Searches, search: Search) -> None:
        """Place a search that has neither cursor nor outbox, as adding its first watch does."""
        raise NotImplementedError

    def given(self, search: Search) -> tuple[Searches, Search]:
        searches = self.make_searches()
        self.put(searches, search)
        return searches, self.read(searches, search.id)

    def read(self, searches: Searches, search: str) -> Search:
        found = searches.get(SearchId(search))
        assert found is not None
        return found

    def test_a_search_that_was_never_added_is_not_there(self) -> None:
        assert self.make_searches().get(SearchId("0.nowhere")) is None

    def test_a_search_comes_back_as_it_was_put(self) -> None:
        search = a_search(awaiting=frozenset({WatchId("w1")}))

        _, found = self.given(search)

        assert (found.query, found.watches, found.awaiting) == (QUERY, 1, search.awaiting)
        assert (found.cursor, found.outbox, found.outbox_id, found.health) == (None, (), None, None)

    def test_a_shard_lists_its_own_searches_only(self) -> None:
        searches = self.make_searches()
        for number in ("0.a", "0.b", "1.a"):
            self.put(searches, a_search(number))

        assert sorted(search.id for search in searches.in_shard(0)) == ["0.a", "0.b"]
        assert searches.in_shard(7) == []

    def test_a_baseline_is_kept_and_leaves_the_outbox_empty(self) -> None:
        searches, search = self.given(a_search())

        searches.commit(search, cursor=a_cursor("1", "2"), events=(), announced=NOBODY, now=NOW)

        found = self.read(searches, "0.a")
        assert found.cursor == a_cursor("1", "2")
        assert (found.outbox, found.outbox_id, found.outbox_since) == ((), None, None)

    @pytest.mark.parametrize(
        "cursor",
        [
            a_cursor(),
            a_cursor("1", gap=True),
            Cursor(began=NOW, newest=EpochMs(0), highest_id=0, window=(), fingerprint=""),
            Cursor(
                began=NOW,
                newest=NOW,
                highest_id=0,
                window=(
                    KnownAd(AdId("kein-zähler"), None, None),
                    KnownAd(AdId("007"), Minor(0), Minor(0)),
                    KnownAd(AdId("7"), Minor(5), Minor(3)),
                ),
                fingerprint="f",
                total=0,
            ),
        ],
        ids=["empty window", "gap", "empty baseline", "ids that are no numbers, gifts and missing prices"],
    )
    def test_every_cursor_comes_back_as_it_was_committed(self, cursor: Cursor) -> None:
        searches, search = self.given(a_search())

        searches.commit(search, cursor=cursor, events=(), announced=NOBODY, now=NOW)

        assert self.read(searches, "0.a").cursor == cursor

    def test_events_are_pending_under_an_outbox_id_since_their_commit(self) -> None:
        searches, search = self.given(a_search())
        live = WatchLive(watch=WatchId("w1"), found=NOW, total=12, newest=())

        searches.commit(search, cursor=a_cursor("1"), events=(an_event(), live), announced=NOBODY, now=NOW)

        found = self.read(searches, "0.a")
        assert found.outbox == (an_event(), live)
        assert found.outbox_id
        assert found.outbox_since == NOW

    def test_the_second_of_two_commits_on_one_version_conflicts_and_writes_nothing(self) -> None:
        searches, search = self.given(a_search())
        searches.commit(search, cursor=a_cursor("1"), events=(), announced=NOBODY, now=NOW)

        with pytest.raises(ConflictError):
            searches.commit(search, cursor=a_cursor("2"), events=(an_event(),), announced=NOBODY, now=NOW)

        found = self.read(searches, "0.a")
        assert (found.cursor, found.outbox, found.outbox_id) == (a_cursor("1"), (), None)

    def test_a_commit_onto_a_pending_outbox_appends_under_a_new_id_and_keeps_its_age(self) -> None:
        searches, search = self.given(a_search())
        searches.commit(search, cursor=a_cursor("1"), events=(an_event("1"),), announced=NOBODY, now=NOW)
        pending = self.read(searches, "0.a")

        later = EpochMs(NOW + 60_000)
        searches.commit(pending, cursor=a_cursor("1", "2"), events=(an_event("2"),), announced=NOBODY, now=later)

        found = self.read(searches, "0.a")
        assert found.outbox == (an_event("1"), an_event("2"))
        assert found.outbox_id not in (None, pending.outbox_id)
        assert found.outbox_since == NOW

    def test_a_commit_without_events_leaves_what_is_pending(self) -> None:
        searches, search = self.given(a_search())
        searches.commit(search, cursor=a_cursor("1"), events=(an_event("1"),), announced=NOBODY, now=NOW)

        pending = self.read(searches, "0.a")
        searches.commit(pending, cursor=a_cursor("2"), events=(), announced=NOBODY, now=NOW)

        found = self.read(searches, "0.a")
        assert found.outbox == (an_event("1"),)
        assert found.outbox_id

    def test_events_handed_out_between_read_and_commit_do_not_come_back(self) -> None:
        searches, search = self.given(a_search())
        searches.commit(search, cursor=a_cursor("1"), events=(an_event("1"),), announced=NOBODY, now=NOW)
        pending = self.read(searches, "0.a")
        assert searches.clear_outbox(pending.id, pending.outbox_id or "")

        try:
            searches.commit(pending, cursor=a_cursor("1", "2"), events=(an_event("2"),), announced=NOBODY, now=NOW)
        except ConflictError:
            assert self.read(searches, "0.a").outbox == ()
        else:
            assert self.read(searches, "0.a").outbox == (an_event("2"),)

    def test_a_full_outbox_of_the_largest_events_fits(self) -> None:
        searches, search = self.given(a_search())
        event = an_event(title="ü" * 200)
        assert event_size(event) <= EVENT_BYTES

        searches.commit(search, cursor=a_cursor(), events=(event,) * PENDING_EVENTS, announced=NOBODY, now=NOW)

        assert len(self.read(searches, "0.a").outbox) == PENDING_EVENTS

    def test_only_announced_watches_stop_waiting(self) -> None:
        searches, search = self.given(a_search(awaiting=frozenset({WatchId("w1"), WatchId("w2")})))

        searches.commit(search, cursor=a_cursor(), events=(), announced=frozenset({WatchId("w1")}), now=NOW)
        assert self.read(searches, "0.a").awaiting == {"w2"}

        again = self.read(searches, "0.a")
        searches.commit(again, cursor=a_cursor(), events=(), announced=frozenset({WatchId("w2")}), now=NOW)
        assert self.read(searches, "0.a").awaiting == frozenset()

    def test_health_is_kept_until_it_is_cleared(self) -> None:
        searches, search = self.given(a_search())

        searches.set_health(search.id, BLOCKED)
        assert self.read(searches, "0.a").health == BLOCKED

        searches.set_health(search.id, None)
        assert self.read(searches, "0.a").health is None

    def test_recording_health_stands_in_no_commits_way(self) -> None:
        searches, search = self.given(a_search())
        searches.set_health(search.id, BLOCKED)

        searches.commit(search, cursor=a_cursor("1"), events=(), announced=NOBODY, now=NOW)

        assert self.read(searches, "0.a").cursor == a_cursor("1")

    def test_a_commit_ends_failures(self) -> None:
        searches, search = self.given(a_search())
        searches.set_health(search.id, BLOCKED)

        searches.commit(self.read(searches, "0.a"), cursor=a_cursor(), events=(), announced=NOBODY, now=NOW)

        assert self.read(searches, "0.a").health is None

    def test_health_of_a_search_that_is_gone_brings_it_not_back(self) -> None:
        searches = self.make_searches()

        searches.set_health(SearchId("0.gone"), BLOCKED)
        searches.set_health(SearchId("0.gone"), None)

        assert searches.get(SearchId("0.gone")) is None
        assert searches.in_shard(0) == []

    def test_only_the_outbox_that_was_read_is_cleared(self) -> None:
        searches, search = self.given(a_search())
        searches.commit(search, cursor=a_cursor("1"), events=(an_event("1"),), announced=NOBODY, now=NOW)
        first = self.read(searches, "0.a")
        searches.commit(first, cursor=a_cursor("2"), events=(an_event("2"),), announced=NOBODY, now=NOW)
        second = self.read(searches, "0.a")

        assert not searches.clear_outbox(first.id, first.outbox_id or "")
        assert self.read(searches, "0.a") == second

        assert searches.clear_outbox(second.id, second.outbox_id or "")
        cleared = self.read(searches, "0.a")
        assert (cleared.outbox, cleared.outbox_id, cleared.outbox_since) == ((), None, None)
        assert cleared.cursor == a_cursor("2")

    def test_an_outbox_is_cleared_once(self) -> None:
        searches, search = self.given(a_search())
        searches.commit(search, cursor=a_cursor(), events=(an_event(),), announced=NOBODY, now=NOW)
        outbox_id = self.read(searches, "0.a").outbox_id or ""

        assert searches.clear_outbox(search.id, outbox_id)
        assert not searches.clear_outbox(search.id, outbox_id)
        assert not searches.clear_outbox(SearchId("0.gone"), outbox_id)

    def test_a_search_without_watches_and_events_is_retired_once(self) -> None:
        searches, search = self.given(a_search(watches=0))

        assert searches.retire(search)
        assert searches.get(search.id) is None
        assert not searches.retire(search)

    def test_a_watched_search_is_not_retired(self) -> None:
        searches, search = self.given(a_search(watches=1))

        assert not searches.retire(search)
        assert searches.get(search.id) is not None

    def test_a_search_with_pending_events_is_not_retired(self) -> None:
        searches, search = self.given(a_search(watches=0))
        searches.commit(search, cursor=a_cursor(), events=(an_event(),), announced=NOBODY, now=NOW)

        assert not searches.retire(search)
        assert self.read(searches, "0.a").outbox == (an_event(),)

    def test_a_commit_on_a_retired_search_conflicts_and_brings_it_not_back(self) -> None:
        searches, search = self.given(a_search(watches=0))
        searches.retire(search)

        with pytest.raises(ConflictError):
            searches.commit(search, cursor=a_cursor(), events=(an_event(),), announced=NOBODY, now=NOW)

        assert searches.get(search.id) is None
