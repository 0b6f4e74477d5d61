"""The DynamoDB stores keep the contract that the in-memory fakes keep."""

import msgspec

from lago.domain.ids import SearchId
from lago.domain.search import Search
from lago.ports import Cycles, Searches, Sources
from lago.store.searches import CycleStore, SearchItem, SearchStore, SourceStore, key
from tests.contracts.cycles_contract import CyclesContract
from tests.contracts.searches_contract import SearchesContract, a_search
from tests.contracts.sources_contract import SourcesContract


class TestSearchStore(SearchesContract):
    def make_searches(self) -> Searches:
        return SearchStore()

    def put(self, searches: Searches, search: Search) -> None:
        SearchItem(
            *key(search.id),
            source=search.query.source,
            path=search.query.path,
            params=msgspec.json.encode(search.query.params),
            version=search.version,
            watches=search.watches,
            awaiting=set(search.awaiting) or None,
        ).save()

    def test_a_search_that_a_newer_version_wrote_stops_no_other(self) -> None:
        searches, _ = self.given(a_search("0.a"))
        self.put(searches, a_search("0.b"))
        SearchItem(*key(SearchId("0.b"))).update([SearchItem.cursor.set(b"from the future")])

        assert [search.id for search in searches.in_shard(0)] == ["0.a"]


class TestSourceStore(SourcesContract):
    def make_sources(self) -> Sources:
        return SourceStore()


class TestCycleStore(CyclesContract):
    def make_cycles(self) -> Cycles:
        return CycleStore()
