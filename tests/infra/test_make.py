"""The project's vocabulary: what a person types."""

import subprocess
from pathlib import Path

import pytest

from tests.infra.stack import ROOT

WORDS = ("run", "test", "proof", "conformance", "lint", "e2e", "local-invoke", "build", "deploy", "clean", "format")
LOOKS = ("secrets", "audit", "sbom")
BENCHMARKS = ("bench", "bench-reuse", "bench-cost", "bench-decode")


def would_do(*target: str) -> str:
    """What make would run, without running it."""
    done = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", *target], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize("word", [*WORDS, *LOOKS, *BENCHMARKS])
def test_every_word_of_the_vocabulary_does_something(word: str) -> None:
    assert would_do(word).strip() not in {"", f"make: Nothing to be done for '{word}'."}


def test_make_alone_explains_the_vocabulary() -> None:
    explained = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert not [word for word in (*WORDS, *LOOKS, *BENCHMARKS) if word not in explained]


def test_make_test_runs_every_folder_of_tests_but_those_that_take_minutes() -> None:
    command = would_do("test")
    folders = {file.relative_to(ROOT / "tests").parts[0] for file in (ROOT / "tests").rglob("test_*.py")}

    assert {folder for folder in folders if f"tests/{folder}/" not in command} <= {"e2e", "conformance"}
    assert not list((ROOT / "tests").glob("test_*.py"))


def test_what_is_installed_and_kept_is_ignored_by_git() -> None:
    folders = [".venv/dev", ".local/state", ".aws-sam/build"]
    ignored = subprocess.run(["git", "check-ignore", *folders], cwd=ROOT, capture_output=True, text=True, check=True)

    assert ignored.stdout.split() == folders


def test_the_environments_are_those_that_the_targets_need() -> None:
    assert {file.stem for file in (ROOT / "requirements").glob("*.in")} == {"audit", "cloud", "dev", "sam"}
    assert Path(ROOT / "requirements" / "uv.txt").exists()
