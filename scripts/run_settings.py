"""What `make run` takes from its environment and its arguments."""

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from scripts.local_stack.errors import LocalStackError
from scripts.local_stack.ports import LOOPBACK
from scripts.local_stack.stack import ROOT

REAL_MARKETPLACE = "https://www.willhaben.at"
REAL_TELEGRAM = "https://api.telegram.org"
EXAMPLE = f"{REAL_MARKETPLACE}/iad/kaufen-und-verkaufen/marktplatz"
"""The example watch: everything on the marketplace, so that in the simulated one something happens soon."""
EXAMPLE_KEYWORD = "rennrad"
"""The example on any other marketplace, where everything would be far too much."""

_BASE_URL = re.compile(r"https?://[A-Za-z0-9.\-]+(:[0-9]{1,5})?")
_CONTACT = re.compile(r"[!#-'*-~]{0,120}")
"""As in the template's parameters."""


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """`marketplace` and `telegram` None mean the simulator's; `seconds` None means until Ctrl-C."""

    home: Path
    cloud_port: int
    simulator_port: int
    watch: str
    marketplace: str | None
    contact: str
    telegram: str | None
    token: str = field(repr=False)
    chat: str
    parameters: dict[str, str]
    seconds: float | None

    @property
    def needs_simulator(self) -> bool:
        """Whether one of the two is simulated."""
        return self.marketplace is None or self.telegram is None


def read_settings(environ: Mapping[str, str], arguments: Sequence[str]) -> RunSettings:
    """Raises LocalStackError that names the variable."""
    parser = argparse.ArgumentParser(prog="run", description="Lago on this machine.")
    parser.add_argument("--home", type=Path, default=Path(".local"), help="folder for state and logs")
    parser.add_argument("--seconds", type=float, help="stop by itself after so many seconds")
    parser.add_argument("--once", action="store_true", help="stop by itself after the first cycle")
    given = parser.parse_args(arguments)

    def value(name: str) -> str:
        return environ.get(name, "").strip()

    watch, token = value("WATCH"), value("TELEGRAM_BOT_TOKEN")
    marketplace = _base_url("WILLHABEN_BASE_URL", value("WILLHABEN_BASE_URL"))
    if marketplace and marketplace.startswith(f"http://{LOOPBACK}:") and value("LAGO_API_URL"):
        marketplace = None  # `source .local/env` left it in this shell: the simulator of an earlier run
    if marketplace is None and watch:
        marketplace = REAL_MARKETPLACE
    telegram = _base_url("TELEGRAM_API_URL", value("TELEGRAM_API_URL")) or REAL_TELEGRAM
    settings = RunSettings(
        home=given.home,
        cloud_port=_port("CLOUD_PORT", value("CLOUD_PORT") or "4566"),
        simulator_port=_port("SIMULATOR_PORT", value("SIMULATOR_PORT") or "8099"),
        watch=watch or (EXAMPLE if marketplace is None else EXAMPLE_KEYWORD),
        marketplace=marketplace,
        contact=_contact(value("CONTACT")),
        telegram=telegram if token else None,
        token=token,
        chat=value("TELEGRAM_CHAT_ID"),
        parameters=_parameters(value("PARAMETERS")),
        seconds=0.0 if given.once else given.seconds,
    )
    if settings.needs_simulator and settings.cloud_port == settings.simulator_port:
        port = settings.cloud_port
        raise LocalStackError(
            f"CLOUD_PORT and SIMULATOR_PORT are both {port}: choose another for one of them, "
            f"such as make run SIMULATOR_PORT={port + 1 if port < 65_535 else port - 1}"
        )
    return settings


def _base_url(name: str, text: str) -> str | None:
    url = text.rstrip("/")
    if url and not _BASE_URL.fullmatch(url):
        raise LocalStackError(f"{name}: got {text!r}, expected an address without a path such as {REAL_MARKETPLACE}")
    return url or None


def _contact(text: str) -> str:
    if not _CONTACT.fullmatch(text):
        raise LocalStackError(
            f"CONTACT: got {text!r}, expected a mail or web address of at most 120 characters, without spaces, quotes "
            "and parentheses"
        )
    return text


def _port(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65_536):
        raise LocalStackError(f"{name}: got {text!r}, expected a port from 1 to 65535")
    return int(text)


def _parameters(text: str) -> dict[str, str]:
    """Template parameters, such as RetryBaseSeconds=5 DrainBatch=10."""
    pairs = [each.partition("=") for each in text.split()]
    for name, sign, _ in pairs:
        if not (sign and name.isalnum()):
            raise LocalStackError(f"PARAMETERS: got {text!r}, expected NAME=VALUE … with the template's parameters")
    known = _template_parameters() if pairs else frozenset[str]()
    for name, _, _ in pairs:
        if name not in known:  # which `sam deploy` would pass over in silence
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else "template.yaml has their names"
            raise LocalStackError(f"PARAMETERS: {name} is no parameter of the template: {hint}")
    return {name: value for name, _, value in pairs}


def _template_parameters() -> frozenset[str]:
    """Their names, read without a YAML parser, which only SAM's environment has."""
    section = (ROOT / "template.yaml").read_text(encoding="utf-8").partition("\nParameters:\n")[2]
    return frozenset(
        re.findall(r"^  (\w+):$", re.split(r"^\S", section, maxsplit=1, flags=re.MULTILINE)[0], re.MULTILINE)
    )
