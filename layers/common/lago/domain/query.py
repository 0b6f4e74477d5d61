"""What is asked of a source, in canonical form."""

from hashlib import blake2b

from msgspec import Struct

from lago.domain.ids import SearchId, SourceName


class Query(Struct, frozen=True, kw_only=True):
    """Two pasted URLs that mean the same search are the same Query: that is the source's duty when it makes one.

    `path` is the source's own path without its base URL, `params` its parameters in canonical order without noise,
    paging and sort order.
    """

    source: SourceName
    path: str
    params: tuple[tuple[str, str], ...] = ()

    def search_id(self, shards: int) -> SearchId:
        """The id of the search that watches this query: the shard it lives in, a dot, and a digest of the query."""
        text = "\n".join((self.source, self.path, *(f"{name}={value}" for name, value in self.params)))
        digest = blake2b(text.encode(), digest_size=10).hexdigest()
        return SearchId(f"{int(digest, 16) % shards}.{digest}")


def shard_of(search: SearchId) -> int:
    """The shard that a search id names."""
    return int(search.partition(".")[0])
