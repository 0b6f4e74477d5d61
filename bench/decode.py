"""What it costs to read one result page of 200 ads: Lago's way against json and BeautifulSoup on the same bytes.

`make bench-decode`. BeautifulSoup is here for this comparison only; no product code needs it.
"""

import json
import statistics
import time
from collections.abc import Callable

from bs4 import BeautifulSoup

from lago.sources.willhaben.address import MARKETPLACE, parse_url
from lago.sources.willhaben.page import read_page
from tests.willhaben_pages import SAMPLES, html, result, sample_ad, with_attributes

ADS = 200
RUNS = 15
QUERY = parse_url(f"https://www.willhaben.at{MARKETPLACE}?keyword=rennrad")
BODY = "Guter Zustand, Abholung bevorzugt, Versand möglich. "


def page() -> bytes:
    """A page of 200 ads made of the samples in turn, each with an id of its own and a body as lists carry them."""
    samples = list(SAMPLES["ads"])
    ads = [
        with_attributes(
            sample_ad(samples[n % len(samples)], id=str(940_000_000 + n)),
            BODY_DYN=BODY * 4,
            PUBLISHED=str(1_795_892_400_000 - n * 60_000),
        )
        for n in range(ADS)
    ]
    return html(result(*ads, rowsRequested=ADS))


def rendered(content: bytes) -> bytes:
    """The same page with its list rendered into HTML before the script, as a server does; the markup is invented."""
    row = (
        '<div class="c-1"><article class="c-2"><a class="c-3" href="/iad/d/x/"><picture class="c-4">'
        '<source type="image/webp" srcset="/a.webp 1x, /b.webp 2x"/><img alt="Anzeige" class="c-5" src="/a.jpg"/>'
        '</picture><div class="c-6"><h3 class="c-7">Eine Anzeige</h3><span class="c-8">Wien, 07. Bezirk</span>'
        '<span class="c-9"><span class="c-10">€</span><span class="c-11">120</span></span>'
        '<button class="c-12" type="button"><svg class="c-13" viewBox="0 0 24 24"><path d="M0 0h24v24H0z"></path>'
        "</svg></button></div></a></article></div>"
    )
    return content.replace(b'<div id="__next">', b'<div id="__next">' + (row * ADS).encode())


def with_lago(content: bytes) -> int:
    """Bytes to finished, checked ads."""
    return len(read_page(content, QUERY, 1).ads)


def with_json(content: bytes) -> int:
    """The script cut out as text, then plain dicts: no types, no checks, no prices."""
    text = content.decode()
    start = text.index(">", text.index('id="__NEXT_DATA__"')) + 1
    data = json.loads(text[start : text.index("</script>", start)])
    return len(data["props"]["pageProps"]["searchResult"]["advertSummaryList"]["advertSummary"])


def with_soup(content: bytes) -> int:
    """The way of most scrapers: an HTML tree to find the one script, then plain dicts."""
    script = BeautifulSoup(content, "html.parser").find("script", id="__NEXT_DATA__")
    data = json.loads(script.string or "") if script else {}
    return len(data["props"]["pageProps"]["searchResult"]["advertSummaryList"]["advertSummary"])


def milliseconds(read: Callable[[bytes], int], content: bytes) -> float:
    """The median of several runs, after one that warms up and checks the count."""
    if read(content) != ADS:
        message = f"{read.__name__} lost ads"
        raise SystemExit(message)
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        read(content)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def main() -> None:
    """Print size, time and ratios."""
    bare = page()
    for title, content in (("data alone", bare), ("list rendered around the data", rendered(bare))):
        print(f"a result page of {ADS} ads, {title}: {len(content) / 1000:.0f} kB, median of {RUNS} runs")
        lago = milliseconds(with_lago, content)
        print(f"  Lago: typed, checked, finished ads  {lago:7.1f} ms")
        for name, read in (("json: dicts only", with_json), ("BeautifulSoup and json: dicts only", with_soup)):
            peer = milliseconds(read, content)
            print(f"  {name:<35} {peer:7.1f} ms   {peer / lago:5.1f} x Lago's")


if __name__ == "__main__":
    main()
