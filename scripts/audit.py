"""Ask whether weaknesses are known in what is installed and shipped (pip-audit, which asks PyPI's list of advisories).

Exit code 0: all was asked and nothing is known. 1: something is known. 2: not all could be asked, which says nothing
about it. pip-audit itself calls that a success, with and without an answer.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

PIP_AUDIT = Path(".venv") / "audit" / "bin" / "pip-audit"
SHIPPED = [Path("layers") / name / "requirements.txt" for name in ("common", "apprise")]
CLEAN, KNOWN, NOT_ASKED = 0, 1, 2


class Verdict(NamedTuple):
    """`known` are weaknesses, one a line; `skipped` counts packages that could not be asked for, of `all_of_them`."""

    known: list[str]
    skipped: int
    all_of_them: int


def verdict(report: Any) -> Verdict:
    """What a report of pip-audit (its JSON) says."""
    packages = report["dependencies"]
    known = [
        f"{package['name']} {package['version']}: {weakness['id']}, mended in "
        f"{', '.join(weakness['fix_versions']) or 'no version yet'}"
        for package in packages
        for weakness in package.get("vulns", ())
    ]
    return Verdict(known, sum("skip_reason" in package for package in packages), len(packages))


def ask(requirements: Path) -> Verdict | None:
    """The verdict on pinned requirements; None when there was no answer at all."""
    done = subprocess.run(
        [
            PIP_AUDIT,
            *("--requirement", requirements, "--no-deps", "--disable-pip"),
            *("--format", "json", "--progress-spinner", "off", "--timeout", "10"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        return verdict(json.loads(done.stdout))
    except (json.JSONDecodeError, KeyError, TypeError):
        return None


def say(requirements: Path, found: Verdict | None) -> int:
    """Print a verdict; its exit code."""
    if found is None:
        print(f"{requirements}: not checked, the list of advisories could not be reached (this needs the network)")
        return NOT_ASKED
    for weakness in found.known:
        print(f"{requirements}: {weakness}")
    if found.skipped:
        print(f"{requirements}: {found.skipped} of {found.all_of_them} packages not checked, the list does not answer")
    elif not found.known:
        print(f"{requirements}: nothing is known against {found.all_of_them} packages")
    return KNOWN if found.known else NOT_ASKED if found.skipped else CLEAN


def main() -> int:
    """What is shipped, then what builds and tests it."""
    files = [*SHIPPED, *sorted(Path("requirements").glob("*.txt"))]
    codes = {say(file, ask(file)) for file in files if file.exists()}
    return KNOWN if KNOWN in codes else max(codes)


if __name__ == "__main__":
    sys.exit(main())
