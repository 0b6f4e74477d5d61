"""In which order CloudFormation makes things: what must be there before, and never in a circle."""

import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from typing import Any

import pytest

from tests.infra.stack import Stack

KEY = "arn:aws:kms:eu-central-1:123456789012:key/1"
EVERYTHING = {
    "AlarmEmail": "me@example.org",
    "KmsKeyArn": KEY,
    "MailFrom": "lago@example.org",
    "MonthlyBudget": "5",
    "Tracing": "Active",
    "UseApprise": "true",
}
_NAME = re.compile(r"\$\{([A-Za-z0-9]+)(?:\.[A-Za-z0-9.]+)?\}")


def named(node: Any) -> Iterator[str]:
    """The logical ids in a resource, by `Ref`, `Fn::GetAtt` and `Fn::Sub`."""
    match node:
        case {"Ref": str(name)}:
            yield name
        case {"Fn::GetAtt": [str(name), *_]}:
            yield name
        case {"Fn::GetAtt": str(text)}:
            yield text.partition(".")[0]
        case {"Fn::Sub": [str(text), dict(names)]}:
            yield from _NAME.findall(text)
            yield from named(list(names.values()))
        case {"Fn::Sub": str(text)}:
            yield from _NAME.findall(text)
        case dict():
            for inner in node.values():
                yield from named(inner)
        case list():
            for inner in node:
                yield from named(inner)


def waits_for(stack: Stack) -> dict[str, set[str]]:
    """What each resource waits for; CloudFormation ignores a DependsOn whose condition does not hold."""
    graph = {}
    for name, resource in stack.resources.items():
        depends = resource.get("DependsOn", [])
        said = [depends] if isinstance(depends, str) else depends
        graph[name] = {*said, *named(resource.get("Properties", {}))} & stack.resources.keys()
    return graph


@pytest.mark.parametrize("parameters", [{}, EVERYTHING])
def test_nothing_waits_for_itself(parameters: dict[str, str]) -> None:
    stack = Stack(**parameters)

    made = list(TopologicalSorter(waits_for(stack)).static_order())

    assert set(made) == set(stack.resources)


def test_mails_feedback_waits_until_ses_may_publish_it() -> None:
    assert "MailFeedbackTopicPolicy" in waits_for(Stack(MailFrom="lago@example.org"))["MailFeedback"]
