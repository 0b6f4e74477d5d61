"""The shapes of willhaben's JSON that Lago reads, and nothing of the rest: msgspec skips what is not named here."""

from typing import Any

from msgspec import Raw, Struct

Scalar = str | int | float | None


class Attribute(Struct, gc=False):
    """A name with values: strings in every capture, so anything scalar is let through."""

    name: str
    values: list[Scalar] | None = None


class Attributes(Struct):
    """The wrapper around the attributes."""

    attribute: list[Attribute] | None = None


class Image(Struct, rename="camel", gc=False):
    """One picture of an ad, by its addresses on the image host."""

    main_image_url: str | None = None
    reference_image_url: str | None = None


class Images(Struct, rename="camel"):
    """The wrapper around the pictures, may be empty."""

    advert_image: list[Image] | None = None


class Teaser(Struct, gc=False):
    """A short fact such as 70 + m²."""

    prefix: str | None = None
    value: Scalar = None
    postfix: str | None = None


class Summary(Struct, rename="camel"):
    """One ad of a result list."""

    id: int | str
    vertical_id: Scalar = None
    ad_type_id: Scalar = None
    description: str | None = None
    attributes: Attributes | None = None
    advert_image_list: Images | None = None
    teaser_attributes: list[Teaser] | None = None


class SummaryList(Struct, rename="camel"):
    """The wrapper around the ads; missing or null when nothing matches."""

    advert_summary: Raw = Raw(b"null")


class Link(Struct, gc=False):
    """A way to see the results, such as a sort order."""

    id: Scalar = None
    selected: bool | None = None


class Links(Struct, rename="camel"):
    """The wrapper around links."""

    context_link: list[Link] | None = None


class SearchResult(Struct, rename="camel"):
    """The envelope of a result list. Counts are Any: a strange count must not cost the page."""

    rows_requested: Any = None
    rows_found: Any = None
    heading: Any = None
    advert_summary_list: SummaryList | None = None
    sort_order_list: Raw = Raw(b"null")


class Details(Struct, rename="camel"):
    """What an ad's own page says about when it began."""

    id: int | str
    first_published_date: Any = None


class PageProps(Struct, rename="camel"):
    """A result list, or an ad's own page, or neither."""

    search_result: SearchResult | None = None
    advert_details: Details | None = None


class Props(Struct, rename="camel"):
    """The wrapper that Next.js puts around a page's data."""

    page_props: PageProps


class NextData(Struct):
    """The whole `__NEXT_DATA__` script."""

    props: Props
