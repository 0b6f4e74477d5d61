"""The cycle: its schedule, its steps, and that it is polite."""

import json
from typing import Any

import cfnlint.api
import pytest

from tests.infra.stack import BOUNDARY, Stack, cycle, source

STACK = Stack()


def scrape_map() -> dict[str, Any]:
    found: dict[str, Any] = cycle()["States"]["Scrape"]
    return found


def test_it_is_an_express_machine_with_valid_states() -> None:
    machine = STACK.properties("Cycle")
    definition = json.dumps(cycle()).replace("${Partition}", "aws")
    for name in machine["DefinitionSubstitutions"]:
        definition = definition.replace(f"${{{name}}}", "1")
    template = {
        "Resources": {
            "Cycle": {
                "Type": "AWS::StepFunctions::StateMachine",
                "Properties": {"RoleArn": "arn:aws:iam::123456789012:role/a", "Definition": json.loads(definition)},
            }
        }
    }

    assert machine["StateMachineType"] == "EXPRESS"
    assert "${" not in definition
    findings = cfnlint.api.lint_all(json.dumps(template))
    assert [str(found) for found in findings if not found.rule.id.startswith("I")] == []


def test_a_failing_drain_never_stops_scrape() -> None:
    drain = cycle()["States"]["Drain"]

    assert cycle()["StartAt"] == "Drain"
    assert drain["Next"] == "Scrape"
    assert [(catch["ErrorEquals"], catch["Next"]) for catch in drain["Catch"]] == [(["States.ALL"], "Scrape")]


def test_a_failing_shard_never_stops_the_next_one() -> None:
    shard = scrape_map()["ItemProcessor"]["States"]["Scrape shard"]
    after = scrape_map()["ItemProcessor"]["States"]["Shard failed"]

    assert [(catch["ErrorEquals"], catch["Next"]) for catch in shard["Catch"]] == [(["States.ALL"], "Shard failed")]
    assert after == {"Type": "Succeed"}


def test_never_more_than_two_requests_at_a_time_go_to_a_marketplace() -> None:
    threads = source()["Parameters"]["ScrapeThreads"]

    assert scrape_map()["MaxConcurrency"] * threads["MaxValue"] <= 2


def test_the_largest_cycle_ends_before_express_executions_must() -> None:
    states = cycle()["States"]
    shards = source()["Parameters"]["SearchShards"]["MaxValue"]
    drain = STACK.properties("DrainFunction")["Timeout"]
    scrape = STACK.properties("ScrapeFunction")["Timeout"]

    assert drain <= states["Drain"]["TimeoutSeconds"]
    assert scrape <= scrape_map()["ItemProcessor"]["States"]["Scrape shard"]["TimeoutSeconds"]
    assert drain + shards * scrape <= cycle()["TimeoutSeconds"] < 300


def test_the_schedule_has_no_name_that_a_second_stack_would_want_too() -> None:
    assert "Name" not in STACK.properties("CycleSchedule")


def test_the_schedule_starts_on_time_retries_shortly_and_keeps_what_it_could_not_start() -> None:
    schedule = STACK.properties("CycleSchedule")

    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert schedule["Target"]["RetryPolicy"] == {"MaximumRetryAttempts": 2, "MaximumEventAgeInSeconds": 60}
    assert schedule["Target"]["DeadLetterConfig"] == {"Arn": {"Fn::GetAtt": ["ScheduleDeadLetters", "Arn"]}}
    assert STACK.properties("ScheduleDeadLetters")["MessageRetentionPeriod"] == 14 * 24 * 3600


@pytest.mark.parametrize("state", ["ENABLED", "DISABLED"])
def test_rate_and_state_of_the_schedule_are_parameters(state: str) -> None:
    schedule = Stack(ScheduleState=state, ScheduleRate="rate(5 minutes)").properties("CycleSchedule")

    assert (schedule["State"], schedule["ScheduleExpression"]) == (state, "rate(5 minutes)")


def test_the_schedules_role_is_bounded_too() -> None:
    assert Stack(PermissionsBoundary=BOUNDARY).properties("CycleScheduleRole")["PermissionsBoundary"] == BOUNDARY


def test_idle_connections_outlive_the_time_between_two_cycles() -> None:
    assert STACK.parameters["ScheduleRate"] == "rate(1 minute)"
    assert float(STACK.parameters["HttpKeepaliveSeconds"]) > 60


def test_failures_are_logged_without_what_was_asked() -> None:
    logging = STACK.properties("Cycle")["LoggingConfiguration"]

    assert (logging["Level"], logging["IncludeExecutionData"]) == ("ERROR", False)


def test_each_step_is_told_the_name_of_its_cycle_for_the_log() -> None:
    name = "{% $states.context.Execution.Name %}"

    assert cycle()["States"]["Drain"]["Arguments"]["Payload"] == {"cycle": name}
    assert scrape_map()["ItemSelector"] == {"shard": "{% $states.context.Map.Item.Value %}", "cycle": name}
    assert scrape_map()["ItemProcessor"]["States"]["Scrape shard"]["Arguments"]["Payload"] == "{% $states.input %}"
