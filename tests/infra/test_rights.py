"""Who may do what: statements by hand, since SAM's policy templates are wide."""

from typing import Any

import pytest

from tests.infra.stack import BOUNDARY, FUNCTIONS, Stack, statements

STACK = Stack()
ROLES = STACK.of_type("IAM::Role")
LOG_DELIVERY = {
    "logs:CreateLogDelivery",
    "logs:GetLogDelivery",
    "logs:UpdateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:DescribeResourcePolicies",
    "logs:DescribeLogGroups",
}
"""What Step Functions needs to log; none of these can be limited to a resource."""


def rights(function: str, **parameters: str) -> dict[str, set[str]]:
    """What a function may do, by resource."""
    granted: dict[str, set[str]] = {}
    roles = Stack(**parameters).of_type("IAM::Role") if parameters else ROLES
    for statement in statements(roles[f"{function.capitalize()}Role"]):
        for resource in statement["Resource"]:
            granted.setdefault(name(resource), set()).update(statement["Action"])
    return granted


def name(resource: Any) -> str:
    match resource:
        case {"Fn::GetAtt": [str(logical), str(attribute)]}:
            return logical if attribute == "Arn" else f"{logical}.{attribute}"
        case {"Fn::Sub": str(text)}:
            return text
        case {"Fn::Sub": [str(text), _]}:
            return text
    return str(resource)


def dynamodb(*actions: str) -> set[str]:
    return {f"dynamodb:{action}" for action in actions}


LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}
QUEUE = dynamodb("Query", "GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem")
TOKEN = {"arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter${Name}": {"ssm:GetParameter"}}
PARAMETERS = "arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter/lago/${AWS::StackName}"
SECRETS = f"{PARAMETERS}/destinations/*"
MAIL_KEYS = f"{SECRETS}/email"
SENDING = TOKEN | {SECRETS: {"ssm:GetParameter"}, f"{PARAMETERS}/api-url": {"ssm:GetParameter"}}


def test_scrape_reads_and_writes_searches_and_wakes_notify() -> None:
    assert rights("scrape") == {
        "ScrapeLogs": LOGS,
        "SearchesTable": dynamodb("Query", "GetItem", "UpdateItem", "DeleteItem"),
        "NotifyFunction": {"lambda:InvokeFunction"},
    }


def test_notify_clears_outboxes_fills_mailboxes_and_logs_deliveries() -> None:
    assert (
        rights("notify")
        == {
            "NotifyLogs": LOGS,
            "SearchesTable.StreamArn": dynamodb("DescribeStream", "GetRecords", "GetShardIterator"),
            "${SearchesTable.Arn}/stream/*": dynamodb("ListStreams"),
            "SearchesTable": dynamodb("GetItem", "UpdateItem"),
            "WatchesTable": dynamodb("Query", "GetItem", "UpdateItem"),
            "QueueTable": QUEUE,
            "${QueueTable.Arn}/index/waiting": dynamodb("Query"),
            "DeliveriesTable": dynamodb("BatchGetItem", "PutItem"),
        }
        | SENDING
    )


def test_drain_only_looks_up_what_the_searches_know() -> None:
    assert (
        rights("drain")
        == {
            "DrainLogs": LOGS,
            "SearchesTable": dynamodb("GetItem"),
            "WatchesTable": dynamodb("GetItem", "UpdateItem"),
            "QueueTable": QUEUE,
            "${QueueTable.Arn}/index/due": dynamodb("Query"),
            "${QueueTable.Arn}/index/dead": dynamodb("Query"),
            "${QueueTable.Arn}/index/waiting": dynamodb("Query"),
            "DeliveriesTable": dynamodb("BatchGetItem", "PutItem"),
        }
        | SENDING
    )


@pytest.mark.parametrize("function", ["notify", "drain"])
def test_mail_goes_out_by_ses_or_by_the_server_that_is_named_and_only_if_there_is_a_sender(function: str) -> None:
    ses = {"ses:SendEmail", "ses:SendRawEmail"}
    none, by_ses = rights(function), rights(function, MailFrom="lago@example.org")
    by_server = rights(function, MailFrom="lago@example.org", SmtpParameter="/lago/smtp-url")

    assert {action for actions in none.values() for action in actions}.isdisjoint(ses)
    assert [name for name, actions in by_ses.items() if actions & ses] == [
        "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}:identity/*",
        "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}:configuration-set/${MailConfiguration}",
    ]
    assert set(by_server) - set(none) == {
        "arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter${SmtpParameter}"
    }


def test_api_changes_what_is_dead_and_takes_destinations_away_and_reads_no_secret_but_a_mails_link() -> None:
    assert rights("api") == {
        "ApiLogs": LOGS,
        "SearchesTable": dynamodb("GetItem", "Query", "UpdateItem"),
        "WatchesTable": dynamodb("Query", "GetItem", "UpdateItem", "DeleteItem"),
        "QueueTable": dynamodb("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"),
        "${QueueTable.Arn}/index/due": dynamodb("Query"),
        "${QueueTable.Arn}/index/dead": dynamodb("Query"),
        "${QueueTable.Arn}/index/waiting": dynamodb("Query"),
        "DeliveriesTable": dynamodb("Query", "BatchWriteItem"),
        SECRETS: {"ssm:PutParameter", "ssm:DeleteParameter"},
        MAIL_KEYS: {"ssm:GetParameter"},
        "NotifyFunction": {"lambda:InvokeFunction"},
    }


@pytest.mark.parametrize("role", ROLES)
def test_nothing_is_granted_on_everything_and_nobody_scans(role: str) -> None:
    for statement in statements(ROLES[role]):
        actions = set(statement["Action"])
        assert statement["Effect"] == "Allow"
        assert not any("*" in action or action.endswith("Scan") for action in actions)
        if "*" in statement["Resource"]:
            assert role == "CycleRole"
            assert actions == LOG_DELIVERY
        else:
            # a stream has no name before it exists, and neither has a destination's secret
            named = {name(resource) for resource in statement["Resource"]} - {SECRETS, MAIL_KEYS}
            assert not any("*" in each.removesuffix("/stream/*") for each in named)


@pytest.mark.parametrize("role", ROLES)
def test_no_managed_policy_widens_a_role(role: str) -> None:
    assert not ROLES[role].get("ManagedPolicyArns")


def test_the_cycle_runs_its_steps_and_tells_and_the_schedule_only_the_cycle() -> None:
    runs = [each["Resource"] for each in statements(ROLES["CycleRole"]) if each["Action"] == ["lambda:InvokeFunction"]]
    starts = {
        action: name(each["Resource"][0])
        for each in statements(ROLES["CycleScheduleRole"])
        for action in each["Action"]
    }

    assert [[name(resource) for resource in resources] for resources in runs] == [
        ["DrainFunction", "ScrapeFunction", "NotifyFunction"]
    ]
    assert starts == {"states:StartExecution": "{'Ref': 'Cycle'}", "sqs:SendMessage": "ScheduleDeadLetters"}


def test_a_permissions_boundary_bounds_every_role_and_is_not_needed() -> None:
    bounded = Stack(PermissionsBoundary=BOUNDARY).of_type("IAM::Role")

    assert {role["PermissionsBoundary"] for role in bounded.values()} == {BOUNDARY}
    assert len(bounded) == len(FUNCTIONS) + 2
    assert not any("PermissionsBoundary" in role for role in ROLES.values())
