"""Builds willhaben pages out of the invented samples, escaped as Next.js escapes them."""

import copy
import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]

SAMPLES: Json = json.loads((Path(__file__).parent / "samples" / "willhaben.json").read_text())


def sample_ad(name: str, **overrides: Any) -> Json:
    """One of the sample ads; `overrides` replace whole fields of it."""
    ad: Json = copy.deepcopy(SAMPLES["ads"][name])
    return ad | overrides


def with_attributes(ad: Json, **values: Any) -> Json:
    """`ad` with attributes set (a string becomes its one value) or, by None, left out. `__` stands for `/`."""
    changed = copy.deepcopy(ad)
    named = {name.replace("__", "/"): value for name, value in values.items()}
    kept = [entry for entry in changed["attributes"]["attribute"] if entry["name"] not in named]
    added = [
        {"name": name, "values": [value] if isinstance(value, str) else value}
        for name, value in named.items()
        if value is not None
    ]
    changed["attributes"]["attribute"] = kept + added
    return changed


def plain(number: int = 930000001, **values: Any) -> Json:
    """An ordinary private ad with its own id."""
    return with_attributes(sample_ad("plain_private", id=str(number)), **values)


def result(*ads: Any, **envelope: Any) -> Json:
    """The page data of a result list holding `ads`."""
    data: Json = copy.deepcopy(SAMPLES["next_data_pages"]["page1_before"])
    found = data["props"]["pageProps"]["searchResult"]
    found["advertSummaryList"] = {"advertSummary": list(ads)}
    found["rowsFound"] = found["rowsReturned"] = len(ads)
    found.update(envelope)
    return data


def details(number: str, **fields: Any) -> Json:
    """The page data of an ad's own page."""
    return {"props": {"pageProps": {"advertDetails": {"id": number, **fields}}}}


def html(data: Json | str) -> bytes:
    """The page around `__NEXT_DATA__`."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    for char in "&<>\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return (
        '<!DOCTYPE html><html><head><title>willhaben</title></head><body><div id="__next"></div>'
        f'<script id="__NEXT_DATA__" type="application/json">{text}</script></body></html>'
    ).encode()


def sample_page(name: str) -> bytes:
    """One of the sample pages as HTML."""
    return html(SAMPLES["next_data_pages"][name])


def page_of(*ads: Any, **envelope: Any) -> bytes:
    """A result list holding `ads`, as HTML."""
    return html(result(*ads, **envelope))
