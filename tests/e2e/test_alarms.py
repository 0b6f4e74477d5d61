"""Dead letters turn the alarm on the local cloud, and it goes back when they are settled; cycles leave their name.

The local cloud looks at its alarms whenever metrics are put. It takes the last minute as a whole, so an alarm goes back
a minute after the last bad point; it makes no composite alarm of a template, so the test puts that in itself.
"""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from scripts.local_stack.metrics import MetricLines
from tests.e2e.conftest import Lago, until
from tests.e2e.test_dead_letters import a_dead_letter, ask
from tests.e2e.test_watch import a_watch
from tests.infra.stack import Stack

A_MINUTE_AND_MORE = 100.0


@pytest.fixture
def metric_lines(lago: Lago) -> MetricLines:
    return lago.stack.metric_lines(time.time_ns() // 1_000_000)


@pytest.fixture(autouse=True)
def calm(lago: Lago):
    yield
    lago.simulator.clear_faults()


def alarm_names(lago: Lago) -> dict[str, str]:
    """The alarms' names by logical id."""
    resources = lago.stack.client("cloudformation").describe_stack_resources(StackName=lago.stack.name)
    return {
        each["LogicalResourceId"]: each["PhysicalResourceId"]
        for each in resources["StackResources"]
        if each["ResourceType"] == "AWS::CloudWatch::Alarm"
    }


def the_composite_alarm(lago: Lago, names: dict[str, str]) -> str:
    """As the template says it would be with a mail address."""
    mailed = Stack(AlarmEmail="me@example.org", ScheduleState="DISABLED")
    rule = mailed.text(mailed.properties("TroubleAlarm")["AlarmRule"])
    for logical, name in names.items():
        rule = rule.replace(f"${{{logical}}}", name)
    lago.stack.client("cloudwatch").put_composite_alarm(AlarmName="lago-trouble", AlarmRule=rule)
    return "lago-trouble"


def states(lago: Lago, *names: str) -> list[str]:
    answer = lago.stack.client("cloudwatch").describe_alarms(
        AlarmNames=list(names), AlarmTypes=["MetricAlarm", "CompositeAlarm"]
    )
    found = {each["AlarmName"]: each["StateValue"] for each in [*answer["MetricAlarms"], *answer["CompositeAlarms"]]}
    return [found[name] for name in names]


def drained(lago: Lago, metric_lines: MetricLines, expected: list[str], *names: str) -> Callable[[], bool]:
    """A cycle's drain has run, its line was read, and the alarms stand so."""

    def look() -> bool:
        lago.drain()
        metric_lines.forward()
        return states(lago, *names) == expected

    return look


def test_a_dead_letter_turns_the_alarm_until_it_is_redriven_or_discarded(lago: Lago, metric_lines: MetricLines):
    _, left = ask(lago, "GET", "")
    if left["letters"]:
        ask(lago, "POST", "/discard", {"ids": [each["id"] for each in left["letters"]], "reason": "of another test"})
    names = alarm_names(lago)
    alarms = names["DeadLettersAlarm"], the_composite_alarm(lago, names)
    until(drained(lago, metric_lines, ["OK", "OK"], *alarms))
    watching = a_watch(lago)
    letters = [a_dead_letter(lago, watching), a_dead_letter(lago, a_watch(lago))]

    until(drained(lago, metric_lines, ["ALARM", "ALARM"], *alarms))

    ask(lago, "POST", "/discard", {"ids": [letters[1]["id"]], "reason": "sold"})
    lago.drain()
    metric_lines.forward()
    assert states(lago, *alarms) == ["ALARM", "ALARM"], "one is left"
    ask(lago, "POST", "/redrive", {"ids": [letters[0]["id"]]})
    lago.drained()
    assert "Gabel" in lago.told(watching.chat, count=2)[-1]

    until(drained(lago, metric_lines, ["OK", "OK"], *alarms), A_MINUTE_AND_MORE)


def test_a_cycle_of_the_state_machine_names_itself_in_the_lines_of_its_steps(lago: Lago):
    watching = a_watch(lago)
    watching.publish("Sattel")
    name = f"cycle-{time.time_ns()}"
    since = time.time_ns() // 1_000_000
    lago.stack.client("stepfunctions").start_execution(
        stateMachineArn=lago.stack.outputs["StateMachineArn"], name=name, input="{}"
    )
    lago.told(watching.chat, count=2)

    def lines() -> list[dict[str, Any]]:
        found = lago.stack.client("logs").filter_log_events(
            logGroupName=lago.stack.log_group("ScrapeFunction"), startTime=since
        )
        texts = [event["message"] for event in found["events"]]
        return [json.loads(text) for text in texts if text.startswith("{") and "_aws" not in text]

    until(lambda: any(line["message"] == "scraped" for line in lines()))
    assert {line["cycle"] for line in lines() if line["message"] in ("request", "scraped")} == {name}
    assert all(line["search"] for line in lines() if line["message"] == "request")
