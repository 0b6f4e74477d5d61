"""What people offer in the invented market: German titles, prices, places, and now and then a hostile title."""

from dataclasses import dataclass, field
from random import Random

from simulator.ads import CARS, MARKETPLACE, REAL_ESTATE, Place


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of thing: templates of titles with {brand} and {detail}, a price range in euros, its category path."""

    vertical: int = MARKETPLACE
    categories: tuple[str, ...]
    titles: tuple[str, ...]
    brands: tuple[str, ...]
    details: tuple[str, ...]
    prices: tuple[int, int]
    body: str
    extra: dict[str, tuple[str, ...]] = field(default_factory=dict)


KINDS: dict[str, Kind] = {
    "rennrad": Kind(
        categories=("4525", "4530"),
        titles=("Rennrad {brand}, {detail}", "{brand} Rennrad {detail}", "Verkaufe Rennrad {brand} ({detail})"),
        brands=("Nordwind", "Ostrava", "Bergkette", "Velaro", "Simplonia"),
        details=("56 cm, Service neu", "54 cm, 105er", "58 cm Carbon", "Retro, 12-Gang", "RH 52, wenig gefahren"),
        prices=(180, 2400),
        body="Gut gepflegt, neue Reifen. Probefahrt gerne am Abend.",
    ),
    "regal": Kind(
        categories=("5824", "5878", "5884"),
        titles=("{brand} {detail}", "Regal: {brand} {detail}"),
        brands=("Holzregal", "Bücherregal", "Wandregal", "Kellerregal"),
        details=("Fichte 180 cm", "Eiche massiv", "weiß, 4 Fächer", "mit Leiter", "Selbstabholung"),
        prices=(0, 240),
        body="Stabiles Regal, leichte Gebrauchsspuren, Abholung im 2. Stock.",
    ),
    "e-bike": Kind(
        categories=("4525", "4560"),
        titles=('E-Bike Trekking "{brand}" {detail}', "E-Bike {brand} {detail}"),
        brands=("Nordwind", "Stromer & Söhne", "Alpenglück"),
        details=("500 Wh", "Rahmen 54", "Damen, tiefer Einstieg", "mit Garantie"),
        prices=(600, 3900),
        body="Ladegerät dabei. Akku hält noch rund 60 km.",
    ),
    "notebook": Kind(
        categories=("5824", "5826", "5828"),
        titles=("Notebook {brand} {detail}", "{brand} Notebook, {detail}"),
        brands=("Falkon", "Lumen Air", "Werkbuch Pro"),
        details=("14 Zoll, 16 GB", "13 Zoll, 512 GB SSD", "defektes Display", "wie neu, OVP"),
        prices=(90, 1300),
        body="Zurückgesetzt, mit Netzteil.",
    ),
    "kinderwagen": Kind(
        categories=("3928", "3930"),
        titles=("Kinderwagen {brand}, {detail}",),
        brands=("Bärli", "Mondschaf", "Kiesel"),
        details=("3-in-1", "mit Regenschutz", "für Zwillinge"),
        prices=(40, 650),
        body="Tierfreier Nichtraucherhaushalt.",
    ),
    "wohnung": Kind(
        vertical=REAL_ESTATE,
        categories=("7276",),
        titles=("Helle 3-Zimmer-Wohnung {brand}, {detail}", "3 Zimmer {brand}: {detail}"),
        brands=("mit Loggia", "nahe U-Bahn", "im Altbau", "mit Gartenanteil"),
        details=("provisionsfrei", "Erstbezug", "ab sofort", "befristet"),
        prices=(620, 1900),
        body="Küche eingerichtet, ab sofort zu vermieten.",
        extra={
            "ESTATE_SIZE": ("70",),
            "ESTATE_SIZE/LIVING_AREA": ("70",),
            "NUMBER_OF_ROOMS": ("3",),
            "ROOMS": ("3X3",),
            "FLOOR": ("4",),
            "PROPERTY_TYPE": ("Wohnung",),
            "PROPERTY_TYPE_ID": ("3",),
            "PROPERTY_TYPE_FLAT": ("true",),
            "ESTATE_PREFERENCE": ("24, 250, 27",),
        },
    ),
    "auto": Kind(
        vertical=CARS,
        categories=("1000",),
        titles=("{brand} Kombi, {detail}", "{brand} {detail}"),
        brands=("Donau 1.6", "Donau 1.6 Sport", "Donau 1.6 Allrad"),
        details=("Pickerl neu", "Erstbesitz", "8-fach bereift"),
        prices=(1900, 21000),
        body="Serviceheft lückenlos.",
        extra={
            "CAR_MODEL/MAKE": ("Donau",),
            "CAR_MODEL/MODEL": ("1.6",),
            "YEAR_MODEL": ("2017",),
            "MILEAGE": ("84000",),
            "ENGINE/EFFECT": ("85",),
            "ENGINE/FUEL": ("100001",),
            "ENGINE/FUEL_RESOLVED": ("Benzin",),
        },
    ),
}
CATEGORIES = {
    "4525": "Fahrräder / Radsport",
    "4530": "Rennräder",
    "4560": "E-Bikes",
    "5824": "Computer / Wohnen",
    "5826": "Computer",
    "5828": "Notebooks",
    "5878": "Regale / Schränke",
    "5884": "Regale",
    "3928": "Baby / Kind",
    "3930": "Kinderwagen",
}
"""Invented names of the invented category numbers."""
WEIGHTS = {"rennrad": 8, "regal": 4, "e-bike": 4, "notebook": 4, "kinderwagen": 2, "wohnung": 3, "auto": 2}

HOSTILE = (
    "{title} <b>TOP</b> & *_Preis_* [hier](http://example.org) </script><script>alert(1)</script>",
    "🚴‍♂️🔥 {title} 🇦🇹👍🏽",
    "\u202e{title}\u202c \u200bohne\u200d Haken",
    "{title}\n\n  Neue Zeile &lt;b&gt; &amp;amp; 50% !!!",
    "{title} " + "sehr " * 60 + "schön",
    "שלום {title} مرحبا ــ ~~`Code`~~ |x|",
)

SELLERS = (
    "Rad & Tat <Invented> GmbH",
    "Muster Computer (invented)",
    "Beispiel Immobilien (invented)",
    "Händler Huber KG",
)

WIEN_7 = Place(
    location="Wien, 07. Bezirk, Neubau",
    postcode="1070",
    district="Wien",
    state="Wien",
    areas=("900", "117229"),
    coordinates="48.2011,16.3489",
)
PLACES = (
    WIEN_7,
    Place(
        location="Wien, 16. Bezirk, Ottakring",
        postcode="1160",
        district="Wien",
        state="Wien",
        areas=("900", "117238"),
        coordinates="48.2140,16.3090",
    ),
    Place(
        location="Graz",
        postcode="8020",
        district="Graz",
        state="Steiermark",
        areas=("6", "601"),
        coordinates="47.0708,15.4234",
    ),
    Place(
        location="Linz",
        postcode="4020",
        district="Linz",
        state="Oberösterreich",
        areas=("4", "401"),
        coordinates="48.3059,14.2862",
    ),
    Place(
        location="Innsbruck",
        postcode="6020",
        district="Innsbruck",
        state="Tirol",
        areas=("7", "701"),
        coordinates="47.2692,11.4041",
    ),
    Place(
        location="Irgendwo",
        postcode="3100",
        district="Sankt Pölten",
        state="Niederösterreich",
        areas=("3", "302"),
        coordinates="0,0",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What a seller types in, before the market gives it an id and a time."""

    kind: str
    title: str
    cents: int | None
    place: Place
    private: bool
    seller: str
    paylivery: bool
    images: int


def offer(random: Random, kind: str | None = None) -> Offer:
    """A plausible offer; about one title in eight is hostile, one in fifteen has no price."""
    name = kind or random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    what = KINDS[name]
    title = random.choice(what.titles).format(brand=random.choice(what.brands), detail=random.choice(what.details))
    low, high = what.prices
    step = 5 if high < 3000 else 50
    cents: int | None = random.randrange(low, high + 1, step) * 100 + random.choice((0, 0, 0, 0, 90))
    if random.random() < 1 / 8:
        title = random.choice(HOSTILE).format(title=title)
    if random.random() < 1 / 15:
        cents = None
    private = random.random() < 0.7
    return Offer(
        kind=name,
        title=title,
        cents=cents,
        place=random.choice(PLACES),
        private=private,
        seller="" if private else random.choice(SELLERS),
        paylivery=what.vertical == MARKETPLACE and random.random() < 0.4,
        images=random.choice((0, 1, 1, 2, 3)),
    )
