"""docs/security.md says what is so: its tables are those of the template and the code, its tests are there."""

import re
from collections.abc import Iterable

import pytest

from lago.store.deliveries import DeliveryItem
from lago.store.queue_items import QueueItem
from lago.store.searches import CycleItem, SearchItem, SourceItem
from lago.store.watches import WatchItem
from tests.infra.calls import Right, granted
from tests.infra.stack import FUNCTIONS, ROOT, Stack

PAGE = (ROOT / "docs" / "security.md").read_text()
STACK = Stack(MailFrom="lago@example.org")
READS = {"GetItem", "Query", "BatchGetItem", "ConditionCheckItem", "GetParameter"}
WRITES = {"PutItem", "UpdateItem", "PutParameter"}
DELETES = {"DeleteItem", "BatchWriteItem", "DeleteParameter"}
"""The store writes in batches only to delete."""
SECRETS = "/lago/test/destinations/*"


def section(heading: str) -> str:
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def table(text: str) -> list[list[str]]:
    """The cells of the first table in a text, without its rule."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if not row.startswith("|---")]


def letters(rights: Iterable[Right], resource: str) -> str:
    actions = {action.partition(":")[2] for action, name in rights if name.partition("/index")[0] == resource}
    marks = {"r": READS, "w": WRITES, "d": DELETES}
    assert actions <= READS | WRITES | DELETES, actions
    return " ".join(mark for mark, some in marks.items() if actions & some)


def expected(function: str) -> dict[str, str]:
    rights = {
        (action, name.partition("/")[0] if "Table/" in name else name) for action, name in granted(STACK, function)
    }
    data = {right for right in rights if right[0] != "dynamodb:ListStreams"}
    secrets = letters(data, SECRETS)
    if letters(data, f"{SECRETS}/email"):
        secrets += ", and r of the keys to unsubscribe"
    invokes = ("lambda:InvokeFunction", "NotifyFunction") in rights
    mails = any(action.startswith("ses:") for action, _ in rights)
    return {
        "searches": letters(data, "SearchesTable"),
        "watches": letters(data, "WatchesTable"),
        "queue": letters(data, "QueueTable"),
        "deliveries": letters(data, "DeliveriesTable"),
        "secrets of destinations": secrets,
        "the bot's token": letters(data, "/lago/test/telegram-bot-token"),
        "invokes notify": "yes" if invokes else "",
        "sends mail by SES": "yes" if mails else "",
    }


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_page_says_what_each_function_may_touch(function: str) -> None:
    head, *rows = table(section("What each function may touch"))
    column = head.index(function)

    assert {row[0]: row[column] for row in rows} == expected(function)


@pytest.mark.parametrize("item", [SearchItem, SourceItem, CycleItem, WatchItem, QueueItem, DeliveryItem])
def test_the_page_names_every_attribute_that_is_stored(item: type) -> None:
    stored = table(section("What is stored, and for how long"))
    named = {name for row in stored for name in re.findall(r"`(\w+)`", row[0])}

    assert set(item.get_attributes()) <= named  # type: ignore[attr-defined]


def test_every_test_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE))

    assert len(named) > 20
    for file, test in named:
        text = (ROOT / file).read_text()
        assert f"def {test}(" in text if test else "def test_" in text, (file, test)


def test_the_page_names_the_parameters_and_targets_that_there_are() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

    for name in ("DeliveryLogDays", "LogRetentionDays"):
        assert f"`{name}` ({STACK.parameters[name]})" in PAGE
    for name in ("KmsKeyArn", "TrustedOrigins"):
        assert name in PAGE
        assert name in STACK.parameters
    assert set(re.findall(r"(?:`|^)make ([\w-]+)", PAGE, re.MULTILINE)) <= targets
