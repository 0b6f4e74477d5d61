"""What every marketplace adapter offers."""

from typing import Protocol

from lago.domain.ad import Page
from lago.domain.ids import AdId, EpochMs, SourceName
from lago.domain.query import Query


class Source(Protocol):
    """A marketplace, read politely. Errors are SourceError (all its searches) or SearchError (this one)."""

    name: SourceName

    def parse_url(self, url: str) -> Query:
        """The canonical query of a pasted search URL. Raises BadInputError that says what is wrong with it."""
        ...

    def url(self, query: Query) -> str:
        """The search for a person to open in a browser."""
        ...

    def fetch(self, query: Query, page: int) -> Page:
        """Result page `page` (from 1), newest first."""
        ...

    def first_published(self, ad: AdId, url: str) -> EpochMs | None:
        """When the ad was first published, by its own page; None where the page does not tell."""
        ...
