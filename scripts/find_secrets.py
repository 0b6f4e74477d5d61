"""Look for forgotten secrets: in all that git tracks or would add, and in all that it ever kept.

Each line that ever was is looked at once, which takes a few seconds. What looks like a secret and was invented, for a
test or a page of docs, stands in `scripts/invented_secrets.txt`; anything else is named by its place, never by itself.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.core.scan import scan_line
from detect_secrets.settings import transient_settings

INVENTED = Path("scripts") / "invented_secrets.txt"
_WITHOUT = ("KeywordDetector", "Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector")
"""Those that go by a name nearby or by mere disorder: of a hundred finds here none was a secret."""
_SHAPES = {
    "Discord Webhook": re.compile(r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(\d{15,22}/[\w-]{60,80})"),
    "Webhook Key": re.compile(r"\b(whsec_[A-Za-z0-9+/]{32,}={0,2})"),
    "ntfy Access Token": re.compile(r"\b(tk_[a-z0-9]{29})\b"),
    "AWS Secret Key": re.compile(r"(?i)secret_?access_?key[\"']?\s*[:=]\s*[\"']?([a-z0-9+/]{40})\b"),
}
"""What Lago's own users have, and the library does not know."""


_NOWHERE = re.compile(r"@(?:[\w.-]+\.)?(?:example(?:\.(?:org|com|net))?|localhost|127\.0\.0\.1)\b")
"""A login at a host that cannot be (RFC 2606) or is one's own is invented."""


class Find(NamedTuple):
    """Something that looks like a secret: `kind` says like which."""

    kind: str
    value: str


def looks(lines: Iterable[str]) -> Iterator[tuple[str, Find]]:
    """What looks like a secret, with its line."""
    classes: dict[str, type] = get_mapping_from_secret_type_to_class()
    plugins = [each.__name__ for each in classes.values()]
    with transient_settings({"plugins_used": [{"name": name} for name in plugins if name not in _WITHOUT]}):
        for line in lines:
            for found in scan_line(line):
                if found.type != "Basic Auth Credentials" or not _NOWHERE.search(line):
                    yield line, Find(found.type, found.secret_value or "")
            for kind, shape in _SHAPES.items():
                for match in shape.finditer(line):
                    yield line, Find(kind, match[1])


def here(folder: Path) -> dict[str, str]:
    """Each line of the files that git tracks or would add, with one place that has it: a file and a number."""
    names = _git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split(b"\0")
    places: dict[str, str] = {}
    for name in sorted(filter(None, names)):
        file = folder / name.decode(errors="replace")
        if file.is_file() and not file.is_symlink():
            shown = file.relative_to(folder)
            places |= {line: f"{shown}:{number}" for number, line in enumerate(_lines(file.read_bytes()), 1)}
    return places


def before(folder: Path) -> dict[str, str]:
    """Each line of every file that any commit holds, with the place of one: an object's name and a path."""
    listed = _git(folder, "rev-list", "--objects", "--all")
    named = dict(line.partition(" ")[::2] for line in listed.decode(errors="replace").splitlines())
    answer = subprocess.run(
        ["git", "-C", folder, "cat-file", "--batch"], input="\n".join(named).encode(), capture_output=True, check=True
    ).stdout
    places: dict[str, str] = {}
    at = 0
    while at < len(answer):
        end = answer.index(b"\n", at)
        object_, kind, size = answer[at:end].decode().split()
        at = end + 1 + int(size) + 1
        if kind == "blob":
            content = answer[end + 1 : at - 1]
            places |= dict.fromkeys(_lines(content), f"{named[object_]} (git show {object_[:12]})")
    return places


def find(folder: Path) -> list[tuple[str, Find]]:
    """What is not known to be invented, with its place; each once."""
    file = folder / INVENTED
    known = set(file.read_text().splitlines()) if file.exists() else set()
    places = before(folder) | here(folder)  # a file that is there is easier to look at than one that was
    found = {(places[line], each) for line, each in looks(places) if each.value not in known}
    return sorted(found)


def _lines(content: bytes) -> list[str]:
    return [] if b"\0" in content[:8_000] else content.decode(errors="replace").splitlines()


def _git(folder: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", folder, *arguments], capture_output=True, check=True).stdout


def main() -> int:
    """1 when something was found."""
    found = find(Path.cwd())
    for place, each in found:
        print(f"{place}: looks like a secret ({each.kind})")
    if found:
        print("\nIf one was ever real, change it where it is used: whoever has the history has it.")
        print(f"If it was invented, add it to {INVENTED}, one a line.")
        return 1
    print("no secrets: neither in the tree nor in the history")
    return 0


if __name__ == "__main__":
    sys.exit(main())
