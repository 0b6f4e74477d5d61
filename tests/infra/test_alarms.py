"""What watches over the stack: ten alarms, of which one speaks, the topic, the budget, and tracing on request."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from lago.observability import UNITS
from tests.infra.stack import FUNCTIONS, ROOT, Stack, cycle, source, statements

STACK = Stack()
MAILED = Stack(AlarmEmail="me@example.org")
ALARMS = STACK.of_type("CloudWatch::Alarm")
TOPIC = [{"Ref": "AlarmTopic"}]
STACK_NAME = {"Ref": "AWS::StackName"}


def watched(name: str, stack: Stack = STACK) -> tuple[str, str, Any, str, str, float]:
    """What an alarm looks at, and above or below what it goes off."""
    alarm = stack.properties(name)
    (dimension,) = alarm["Dimensions"]
    return (
        alarm["Namespace"],
        alarm["MetricName"],
        dimension["Value"],
        alarm["Statistic"],
        alarm["ComparisonOperator"],
        float(alarm["Threshold"]),
    )


def seconds(alarm: dict[str, Any]) -> int:
    """How long it looks back."""
    return int(alarm["Period"]) * int(alarm["EvaluationPeriods"])


def test_there_are_ten_of_one_metric_each_which_is_what_is_free() -> None:
    assert len(ALARMS) == 10
    assert not any("Metrics" in alarm for alarm in ALARMS.values())
    assert all(int(alarm["Period"]) >= 60 for alarm in ALARMS.values())


def test_dead_letters_alarm_at_once_and_until_none_is_left() -> None:
    assert watched("DeadLettersAlarm") == ("Lago", "DeadLetters", STACK_NAME, "Maximum", "GreaterThanThreshold", 0)
    assert seconds(ALARMS["DeadLettersAlarm"]) == 60
    assert ALARMS["DeadLettersAlarm"]["TreatMissingData"] == "ignore"


def test_what_has_been_due_for_a_quarter_of_an_hour_alarms() -> None:
    assert watched("OldestDueAlarm") == ("Lago", "OldestDueAge", STACK_NAME, "Maximum", "GreaterThanThreshold", 900)
    assert UNITS["OldestDueAge"].value == "Seconds"


def test_a_source_that_rests_through_a_quarter_of_an_hour_alarms() -> None:
    assert watched("SourceBlockedAlarm")[:2] == ("Lago", "SourcesBlocked")
    assert seconds(ALARMS["SourceBlockedAlarm"]) == 900
    assert seconds(Stack(ScheduleRate="rate(1 hour)").properties("SourceBlockedAlarm")) == 300


@pytest.mark.parametrize("name", [name for name in ALARMS if ALARMS[name]["Namespace"] == "Lago"])
def test_alarms_on_our_metrics_look_at_series_that_are_published(name: str) -> None:
    assert ALARMS[name]["MetricName"] in UNITS
    assert ALARMS[name]["Dimensions"] == [{"Name": "service", "Value": STACK_NAME}]


@pytest.mark.parametrize(
    ("rate", "window"),
    [
        ("rate(1 minute)", 600),
        ("rate(5 minutes)", 600),
        ("rate(10 minutes)", 25 * 3600),
        ("rate(1 hour)", 25 * 3600),
        ("rate(1 day)", 25 * 3600),
        ("cron(*/2 6-22 * * ? *)", 25 * 3600),
    ],
)
def test_no_cycle_that_ended_well_for_longer_than_the_schedule_explains_alarms(rate: str, window: int) -> None:
    stack = Stack(ScheduleRate=rate)
    alarm = stack.properties("NoCycleAlarm")

    assert watched("NoCycleAlarm", stack) == (
        "AWS/States",
        "ExecutionsSucceeded",
        {"Ref": "Cycle"},
        "Sum",
        "LessThanThreshold",
        1,
    )
    assert alarm["TreatMissingData"] == "breaching"
    assert seconds(alarm) == window
    # CloudWatch's bounds: a day, or seven with periods of an hour
    assert window <= 86_400 or (window <= 604_800 and int(alarm["Period"]) >= 3600)


def test_a_schedule_that_is_off_raises_no_alarm_for_cycles_that_do_not_come() -> None:
    off = Stack(ScheduleState="DISABLED", AlarmEmail="me@example.org")

    assert "NoCycleAlarm" not in off.resources
    assert "NoCycleAlarm" not in rule(off)


@pytest.mark.parametrize(
    ("name", "metric", "of"),
    [
        ("CycleFailedAlarm", "ExecutionsFailed", "Cycle"),
        ("NotifyErrorsAlarm", "Errors", "NotifyFunction"),
        ("ApiErrorsAlarm", "Errors", "ApiFunction"),
        ("NotifyThrottlesAlarm", "Throttles", "NotifyFunction"),
        ("ApiThrottlesAlarm", "Throttles", "ApiFunction"),
    ],
)
def test_functions_that_fail_or_find_no_room_alarm_when_it_is_no_single_time(name: str, metric: str, of: str) -> None:
    assert watched(name)[1:] == (metric, {"Ref": of}, "Sum", "GreaterThanThreshold", 0)
    assert (ALARMS[name]["EvaluationPeriods"], ALARMS[name]["DatapointsToAlarm"]) == (3, 2)
    assert ALARMS[name]["TreatMissingData"] == "notBreaching"


def test_every_function_is_watched_by_its_own_alarm_or_by_that_of_the_cycle_that_ends_failed_with_it() -> None:
    own = {alarm["Dimensions"][0]["Value"]["Ref"] for alarm in ALARMS.values() if alarm["Namespace"] == "AWS/Lambda"}
    # the cycle waits for those that it does not invoke as an event
    waited_for = [each for each in invocations(cycle()) if each.get("InvocationType") != "Event"]

    by_cycle = {name for name in FUNCTIONS if f"${{{name.capitalize()}FunctionArn}}" in str(waited_for)}
    assert own == {f"{name.capitalize()}Function" for name in set(FUNCTIONS) - by_cycle}
    assert by_cycle == {"drain", "scrape"}


def test_a_slow_schedule_alarms_at_its_first_failed_cycle() -> None:
    alarm = Stack(ScheduleRate="rate(1 hour)").properties("CycleFailedAlarm")

    assert (alarm["EvaluationPeriods"], alarm["DatapointsToAlarm"]) == (1, 1)


def test_a_stream_that_is_read_late_alarms_well_before_its_records_are_given_up() -> None:
    (mapping,) = STACK.of_type("Lambda::EventSourceMapping").values()

    assert watched("IteratorAgeAlarm")[1:] == (
        "IteratorAge",
        {"Ref": "NotifyFunction"},
        "Maximum",
        "GreaterThanThreshold",
        120_000,
    )
    assert float(ALARMS["IteratorAgeAlarm"]["Threshold"]) < 1000 * mapping["MaximumRecordAgeInSeconds"]


@pytest.mark.parametrize("name", ALARMS)
def test_each_alarm_has_its_page_of_what_it_means_what_to_look_at_and_what_to_do(name: str) -> None:
    runbook = (ROOT / "docs" / "operations.md").read_text()
    sections = re.findall(r"^### (.*)\n((?:(?!^#).*\n)*)", runbook, re.MULTILINE)
    (text,) = [text for title, text in sections if name in title.split(", ")]

    assert all(part in text for part in ("**Means.**", "**Look at**", "**Do"))


def rule(stack: Stack) -> str:
    return stack.text(stack.properties("TroubleAlarm")["AlarmRule"])


def test_with_a_mail_address_one_alarm_over_all_of_them_speaks() -> None:
    trouble = MAILED.properties("TroubleAlarm")

    assert (trouble["AlarmActions"], trouble["OKActions"]) == (TOPIC, TOPIC)
    assert set(re.findall(r'ALARM\("\$\{(\w+)\}"\)', rule(MAILED))) == set(ALARMS)
    assert re.fullmatch(r'(ALARM\("\$\{\w+\}"\) OR )*ALARM\("\$\{\w+\}"\)', rule(MAILED))
    spoken = {name for name, alarm in MAILED.of_type("CloudWatch::Alarm").items() if alarm.get("AlarmActions")}
    assert spoken == {"NoCycleAlarm"}, "a dead letter that nobody settles must not hide that nothing runs any more"


def test_without_one_there_is_none_to_pay_for_and_each_alarm_tells_the_topic() -> None:
    assert not STACK.of_type("CloudWatch::CompositeAlarm")
    assert {name: (alarm["AlarmActions"], alarm["OKActions"]) for name, alarm in ALARMS.items()} == dict.fromkeys(
        ALARMS, (TOPIC, TOPIC)
    )


def test_alarms_are_mailed_only_to_who_asked() -> None:
    assert not STACK.of_type("SNS::Subscription")
    assert MAILED.properties("AlarmMail")["Endpoint"] == "me@example.org"
    assert MAILED.properties("AlarmMail")["TopicArn"] == {"Ref": "AlarmTopic"}


def test_the_topic_takes_only_what_comes_over_tls_from_alarms_of_this_account() -> None:
    policy = STACK.properties("AlarmTopicPolicy")
    by_effect = {each["Effect"]: each for each in policy["PolicyDocument"]["Statement"]}

    assert policy["Topics"] == TOPIC
    assert len(policy["PolicyDocument"]["Statement"]) == 2
    assert by_effect["Allow"]["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert by_effect["Allow"]["Action"] == "sns:Publish"
    assert by_effect["Allow"]["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    assert by_effect["Deny"]["Principal"] == "*"
    assert by_effect["Deny"]["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_a_budget_is_watched_only_when_it_is_set() -> None:
    assert not STACK.of_type("Budgets::Budget")
    told = Stack(AlarmEmail="me@example.org", MonthlyBudget="5").properties("CostBudget")

    assert told["Budget"] == {
        "BudgetType": "COST",
        "TimeUnit": "MONTHLY",
        "BudgetLimit": {"Amount": "5", "Unit": "USD"},
    }
    assert [each["Notification"]["NotificationType"] for each in told["NotificationsWithSubscribers"]] == [
        "ACTUAL",
        "FORECASTED",
    ]
    assert {
        subscriber["Address"] for each in told["NotificationsWithSubscribers"] for subscriber in each["Subscribers"]
    } == {"me@example.org"}


def test_a_budget_that_could_tell_nobody_is_refused() -> None:
    rule = source()["Rules"]["BudgetNeedsMail"]

    assert rule["RuleCondition"] == {"Fn::Not": [{"Fn::Equals": [{"Ref": "MonthlyBudget"}, "0"]}]}
    assert rule["Assertions"][0]["Assert"] == {"Fn::Not": [{"Fn::Equals": [{"Ref": "AlarmEmail"}, ""]}]}


# ---------------------------------------------------------------- tracing and sampling

TRACED = Stack(Tracing="Active")


@pytest.mark.parametrize(("stack", "mode", "enabled"), [(STACK, "PassThrough", False), (TRACED, "Active", True)])
def test_functions_cycle_and_api_are_traced_when_the_owner_says_so(stack: Stack, mode: str, enabled: bool) -> None:
    assert {each["TracingConfig"]["Mode"] for each in stack.of_type("Lambda::Function").values()} == {mode}
    assert stack.properties("Cycle")["TracingConfiguration"]["Enabled"] is enabled
    assert [stage["TracingEnabled"] for stage in stack.of_type("ApiGateway::Stage").values()] == [enabled]


@pytest.mark.parametrize("role", [*(f"{name.capitalize()}Role" for name in FUNCTIONS), "CycleRole"])
def test_a_role_may_trace_only_then_and_no_more_than_that(role: str) -> None:
    """In the role itself: Lambda refuses `Active` for one that may not yet (aws/serverless-application-model#225)."""
    tracing = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}
    deciding = {"xray:GetSamplingRules", "xray:GetSamplingTargets"} if role == "CycleRole" else set()

    more = [each for each in statements(TRACED.properties(role)) if each not in statements(STACK.properties(role))]

    assert [(set(each["Action"]), each["Resource"]) for each in more] == [(tracing | deciding, ["*"])]
    assert not TRACED.of_type("IAM::Policy")
    assert not TRACED.properties(role).get("ManagedPolicyArns")


def test_lines_of_sampled_invocations_are_kept_and_no_others_are_asked_for() -> None:
    sampled = Stack(LogSampleRate="0.05")

    for function in FUNCTIONS:
        name = f"{function.capitalize()}Function"
        assert STACK.properties(name)["LoggingConfig"]["ApplicationLogLevel"] == "INFO"
        assert sampled.properties(name)["LoggingConfig"]["ApplicationLogLevel"] == "DEBUG"
        assert STACK.environment(function)["POWERTOOLS_LOGGER_SAMPLE_RATE"] == "0"
        assert sampled.environment(function)["POWERTOOLS_LOGGER_SAMPLE_RATE"] == "0.05"
        assert sampled.environment(function)["POWERTOOLS_LOG_LEVEL"] == "INFO"


def test_metrics_bear_the_stacks_name_and_no_dimension_more_unless_asked() -> None:
    for function in FUNCTIONS:
        assert STACK.environment(function)["POWERTOOLS_METRICS_NAMESPACE"] == "Lago"
        assert STACK.environment(function)["POWERTOOLS_SERVICE_NAME"] == STACK_NAME
        assert STACK.environment(function)["METRIC_DIMENSIONS"] == "none"


def invocations(node: Any) -> Iterator[dict[str, Any]]:
    """What the state machine invokes, wherever in it."""
    if isinstance(node, dict):
        if "FunctionName" in node:
            yield node
        for each in node.values():
            yield from invocations(each)
    elif isinstance(node, list):
        for each in node:
            yield from invocations(each)
