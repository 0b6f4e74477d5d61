"""Builders: the smallest valid thing, with what the test is about named."""

from lago.domain.event import AdEvent, WatchLive
from lago.domain.ids import AdId, DestinationId, EpochMs, Minor, OwnerId, SearchId, SourceName, WatchId
from lago.domain.mailbox import Row
from lago.domain.notification import Destination, Notification, notification_id
from lago.domain.query import Query
from lago.domain.search import Cursor, KnownAd
from lago.domain.watch import Filters, Watch

NOW = EpochMs(1_795_000_000_000)
WILLHABEN = SourceName("willhaben")
ME = DestinationId("me")
ANY = Filters()


def a_query(keyword: str = "rennrad") -> Query:
    return Query(source=WILLHABEN, path="/iad/kaufen-und-verkaufen/marktplatz", params=(("keyword", keyword),))


def a_search_id(keyword: str = "rennrad") -> SearchId:
    return a_query(keyword).search_id(1)


def a_cursor(*ids: str, newest: int = NOW, fingerprint: str = "f") -> Cursor:
    window = tuple(KnownAd(AdId(id_), Minor(10_000), Minor(10_000)) for id_ in ids or ("1",))
    return Cursor(began=NOW, newest=EpochMs(newest), highest_id=1, window=window, fingerprint=fingerprint)


def an_event(
    ad: str = "910000001",
    kind: str = "new_ad",
    price: int | None = 12_000,
    old_price: int | None = None,
    found: int = NOW,
    title: str = "Holzregal",
    coordinates: tuple[float, float] | None = None,
    seller_name: str = "",
) -> AdEvent:
    return AdEvent(
        kind=kind,  # type: ignore[arg-type]
        source=WILLHABEN,
        ad=AdId(ad),
        title=title,
        price=None if price is None else Minor(price),
        currency="EUR",
        price_text="",
        old_price=None if old_price is None else Minor(old_price),
        published=EpochMs(found),
        found=EpochMs(found),
        url=f"https://www.willhaben.at/iad/object?adId={ad}",
        image=None,
        place="Wien",
        seller_kind="private",
        seller_name=seller_name,
        coordinates=coordinates,
        details=(),
    )


def a_live_event(watch: str = "w1", found: int = NOW) -> WatchLive:
    return WatchLive(watch=WatchId(watch), found=EpochMs(found), total=12, newest=())


def a_watch(
    id_: str = "w1",
    destinations: tuple[str, ...] = ("me",),
    filters: Filters = ANY,
    created: int = NOW,
    keyword: str = "rennrad",
    paused: str = "",
    near: tuple[float, float] | None = None,
) -> Watch:
    return Watch(
        id=WatchId(id_),
        search=a_search_id(keyword),
        owner=OwnerId("me"),
        label=keyword,
        url="https://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz?keyword=rennrad",
        destinations=tuple(DestinationId(name) for name in destinations),
        created=EpochMs(created),
        filters=filters,
        paused=paused,
        near=near,
    )


def a_destination(id_: str = "me", address: str = "1001") -> Destination:
    return Destination(id=DestinationId(id_), owner=OwnerId("me"), channel="telegram", address=address)


def a_row(event: AdEvent | None = None, destination: str = "me", created: int = NOW, **more: object) -> Row:
    event = event or an_event()
    to = DestinationId(destination)
    notification = Notification(
        id=notification_id(to, event),
        destination=to,
        event=event,
        search=a_search_id(),
        watches=(WatchId("w1"),),
        label="rennrad",
        search_url="https://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz?keyword=rennrad",
    )
    return Row(notification=notification, created=EpochMs(created), next_attempt_at=EpochMs(created), **more)  # type: ignore[arg-type]
