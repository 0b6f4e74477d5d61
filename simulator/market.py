"""The invented market: who publishes, bumps, promotes, drops and sells, and what a search finds. No I/O."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from simulator import ads as ad_module
from simulator.ads import Ad, Place, Status
from simulator.catalogue import KINDS, WIEN_7, Offer, offer
from simulator.checks import NoSuchThingError
from simulator.searching import SearchRequest, in_order, select

Clock = Callable[[], int]
"""Now, in UTC epoch milliseconds."""

FIRST_ID = 2_147_483_400
"""Ids grow with time; these pass 2^31 early on, where a 32-bit reader breaks."""
MINUTE = 60_000


@dataclass(frozen=True)
class ResultPage:
    """One page of a search: `found` counts every match once, `ads` may hold a promoted one twice."""

    request: SearchRequest
    ads: tuple[Ad, ...]
    found: int
    applied_sort: int | None
    filtered: bool = True


class Market:
    """Ads under ids that grow with time. Everything random comes from the seed and a counter that is kept."""

    def __init__(self, seed: int, clock: Clock, count: int = 40) -> None:
        self.seed, self.clock = seed, clock
        self.ads: dict[str, Ad] = {}
        self.made = 0
        self.steps = 0
        self._last_id = FIRST_ID
        now = clock()
        for index in range(count):
            self._invent(published=now - (count - index) * 7 * MINUTE)
        for ad_id in list(self.ads)[3 : count - 1 : 17]:
            self.promote(ad_id)

    def publish(self, *, kind: str | None = None, published: int | None = None, **given: object) -> Ad:
        """A new ad. With a title (or any other field) plain defaults fill the rest; with none, all is invented."""
        if not given:
            return self._invent(published=published, kind=kind)
        what = KINDS[kind or "rennrad"]
        now = self.clock() if published is None else published
        fields: dict[str, object] = {
            "title": f"Anzeige {self.made + 1}",
            "body": what.body,
            "cents": 10_000,
            "vertical": what.vertical,
            "categories": what.categories,
            "attributes": what.extra,
            "place": WIEN_7,
        }
        fields |= given
        ad_id = self._next_id()
        fields.setdefault("images", _images(ad_id, 1))
        return self._keep(Ad(id=ad_id, published=now, first_published=now, changed=now, **fields))  # type: ignore[arg-type]

    def get(self, ad_id: str) -> Ad:
        """The ad, removed or not. Raises NoSuchThingError."""
        try:
            return self.ads[ad_id]
        except KeyError:
            raise NoSuchThingError(f"no ad {ad_id!r}") from None

    def reprice(self, ad_id: str, cents: int | None) -> Ad:
        """Asks another price; the place in the list stays. A display text of the old price goes."""
        return self._keep(dataclasses.replace(self.get(ad_id), cents=cents, price_text="", changed=self.clock()))

    def bump(self, ad_id: str) -> Ad:
        """Published anew under the same id: back at the top, first publication unchanged."""
        now = self.clock()
        return self._keep(dataclasses.replace(self.get(ad_id), published=now, changed=now, bumped=True))

    def promote(self, ad_id: str, *, on: bool = True) -> Ad:
        """Paid to stand first on the first page, besides its organic place; or no longer."""
        return self._keep(dataclasses.replace(self.get(ad_id), promoted=on))

    def end(self, ad_id: str, status: Status) -> Ad:
        """Sold: out of the lists, its page says so. Removed: its page is a soft 404. Active: it is back."""
        return self._keep(dataclasses.replace(self.get(ad_id), status=status, changed=self.clock()))

    def edit(self, ad_id: str, **changes: object) -> Ad:
        """Any other change of fields."""
        return self._keep(dataclasses.replace(self.get(ad_id), changed=self.clock(), **changes))  # type: ignore[arg-type]

    def search(
        self, request: SearchRequest, *, sort_applied: bool = True, filters: bool = True, page: int | None = None
    ) -> ResultPage:
        """A result page: promoted ads lead page 1 and stand again at their organic place."""
        number = request.page if page is None else page
        sort = request.sort if sort_applied else None
        found = select(self.ads.values(), request, self.clock(), filters=filters)
        ordered = in_order(found, sort, f"{self.seed}/{request.one('keyword')}")
        window = ordered[(number - 1) * request.rows : number * request.rows]
        leading = [ad for ad in ordered if ad.promoted][:3] if number == 1 else []
        return ResultPage(request, (*leading, *window), len(ordered), sort, filters)

    def live_step(self) -> tuple[str, Ad]:
        """Something plausible happens, and only once for each count of `steps`: what, and to which ad."""
        self.steps += 1
        random = Random(f"{self.seed}/step/{self.steps}")
        active = [ad for ad in self.ads.values() if ad.status == "active"]
        what = random.choices(("new", "drop", "bump", "sale"), (50, 27, 13, 10))[0]
        if what == "new" or len(active) < 5:
            return "new", self._invent()
        chosen = random.choice(active)
        if what == "drop":
            priced = [ad for ad in active if ad.cents]
            chosen = random.choice(priced) if priced else chosen
            lower = (chosen.cents or 0) * random.choice((95, 90, 85, 80)) // 10_000 * 100
            return "drop", self.reprice(chosen.id, lower)
        if what == "bump":
            return "bump", self.bump(chosen.id)
        return "sale", self.end(chosen.id, "sold")

    def to_json(self) -> dict[str, object]:
        """A form for the state file."""
        return {
            "seed": self.seed,
            "made": self.made,
            "steps": self.steps,
            "last_id": self._last_id,
            "ads": [ad.to_json() for ad in self.ads.values()],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object], clock: Clock) -> "Market":
        """The market that `to_json` wrote. Raises TypeError, KeyError or ValueError for anything else."""
        market = cls(int(str(data["seed"])), clock, count=0)
        market.made, market.steps = int(str(data["made"])), int(str(data["steps"]))
        market._last_id = int(str(data["last_id"]))
        listed = data["ads"]
        if not isinstance(listed, list):
            raise TypeError("ads is a list")
        market.ads = {ad.id: ad for ad in map(ad_module.from_json, listed)}
        return market

    def _keep(self, ad: Ad) -> Ad:
        self.ads[ad.id] = ad
        return ad

    def _next_id(self) -> str:
        self.made += 1
        self._last_id += Random(f"{self.seed}/id/{self.made}").randint(1, 9)
        return str(self._last_id)

    def _invent(self, published: int | None = None, kind: str | None = None) -> Ad:
        ad_id = self._next_id()
        random = Random(f"{self.seed}/ad/{self.made}")
        made: Offer = offer(random, kind)
        what = KINDS[made.kind]
        now = self.clock() if published is None else published
        place: Place = made.place
        return self._keep(
            Ad(
                id=ad_id,
                title=made.title,
                body=what.body,
                cents=made.cents,
                published=now,
                first_published=now,
                changed=now,
                vertical=what.vertical,
                categories=what.categories,
                place=place,
                private=made.private,
                seller=made.seller,
                paylivery=made.paylivery,
                images=_images(ad_id, made.images),
                seo=random.random() < 0.95,
                tree_attributes=(random.choice(("22", "2546", "23", "24")), random.choice(("2536", "2537"))),
                attributes=what.extra,
            )
        )


def _images(ad_id: str, count: int) -> tuple[str, ...]:
    """Paths below the image cache; some of willhaben's carry a minus sign."""
    base = f"{ad_id[-1]}/{ad_id[:3]}/{ad_id[3:6]}/{ad_id[6:]}"
    return tuple(f"{base}_{'-' if number % 2 else ''}{111 * (number + 1)}.jpg" for number in range(count))
