"""What an audit says: that nothing is known is only said of what was asked."""

from pathlib import Path
from typing import Any

import pytest

from scripts.audit import CLEAN, KNOWN, NOT_ASKED, SHIPPED, Verdict, say, verdict
from tests.infra.stack import ROOT

FILE = Path("requirements.txt")


def a_report(*packages: dict[str, Any]) -> dict[str, Any]:
    return {"dependencies": list(packages), "fixes": []}


def a_package(name: str = "httpx", **more: Any) -> dict[str, Any]:
    return {"name": name, "version": "1.0", "vulns": []} | more


WEAK = a_package("idna", vulns=[{"id": "PYSEC-1", "fix_versions": ["1.1"], "aliases": [], "description": ""}])
SKIPPED = {"name": "h11", "skip_reason": "Dependency not found on PyPI and could not be audited: h11 (0.16.0)"}


@pytest.mark.parametrize(
    ("report", "code", "words"),
    [
        (a_report(a_package()), CLEAN, "nothing is known against 1 packages"),
        (a_report(a_package(), WEAK), KNOWN, "idna 1.0: PYSEC-1, mended in 1.1"),
        (a_report(a_package(), SKIPPED), NOT_ASKED, "1 of 2 packages not checked"),
        (a_report(WEAK, SKIPPED), KNOWN, "1 of 2 packages not checked"),
    ],
)
def test_a_report_is_judged(report: Any, code: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert say(FILE, verdict(report)) == code
    assert words in capsys.readouterr().out


def test_without_a_network_it_says_that_nothing_was_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert say(FILE, None) == NOT_ASKED
    assert "not checked" in capsys.readouterr().out


def test_of_a_package_without_a_mended_version_it_says_so() -> None:
    weakness = {"id": "PYSEC-2", "fix_versions": []}

    assert verdict(a_report(a_package(vulns=[weakness]))) == Verdict(
        ["httpx 1.0: PYSEC-2, mended in no version yet"], skipped=0, all_of_them=1
    )


def test_every_layer_is_asked_for() -> None:
    assert {ROOT / file for file in SHIPPED} == set((ROOT / "layers").glob("*/requirements.txt"))
