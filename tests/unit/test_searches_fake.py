"""The in-memory store keeps the same promises as DynamoDB."""

from lago.domain.search import Search
from lago.ports import Cycles, Searches, Sources
from tests.contracts.cycles_contract import CyclesContract
from tests.contracts.searches_contract import SearchesContract
from tests.contracts.sources_contract import SourcesContract
from tests.fakes.searches import FakeCycles, FakeSearches, FakeSources


class TestFakeSearches(SearchesContract):
    def make_searches(self) -> Searches:
        return FakeSearches()

    def put(self, searches: Searches, search: Search) -> None:
        assert isinstance(searches, FakeSearches)
        searches.put(search)


class TestFakeSources(SourcesContract):
    def make_sources(self) -> Sources:
        return FakeSources()


class TestFakeCycles(CyclesContract):
    def make_cycles(self) -> Cycles:
        return FakeCycles()
