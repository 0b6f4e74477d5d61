"""What guards the stack from outside: encryption with a key of the owner's, TLS, throttles, the key of the API."""

from typing import Any

import pytest

from tests.infra.stack import FUNCTIONS, Properties, Stack, statements

KEY = "arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
STACK = Stack(MailFrom="lago@example.org")  # with all the topics there can be
WITH_KEY = Stack(MailFrom="lago@example.org", KmsKeyArn=KEY)
KEYED = {
    "DynamoDB::Table": lambda table: table.get("SSESpecification"),
    "SQS::Queue": lambda queue: queue.get("KmsMasterKeyId"),
    "SNS::Topic": lambda topic: topic.get("KmsMasterKeyId"),
    "Logs::LogGroup": lambda group: group.get("KmsKeyId"),
    "Lambda::Function": lambda function: function.get("KmsKeyArn"),
}
"""What keeps something, and where it names the key that it keeps it with."""


def roles_of(resource: Any) -> set[str]:
    return {role["Ref"] for role in resource["Roles"]}


@pytest.mark.parametrize("kind", KEYED)
def test_everything_that_keeps_something_takes_the_owners_key_and_needs_none(kind: str) -> None:
    chosen = [KEYED[kind](each) for each in WITH_KEY.of_type(kind).values()]
    without = [KEYED[kind](each) for each in STACK.of_type(kind).values()]

    assert chosen
    expected = {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": KEY} if kind == "DynamoDB::Table" else KEY
    assert chosen == [expected] * len(chosen)
    assert without == [None] * len(without)


def test_without_a_key_of_the_owners_a_queue_is_encrypted_too() -> None:
    assert all(queue["SqsManagedSseEnabled"] for queue in STACK.of_type("SQS::Queue").values())
    assert not any("SqsManagedSseEnabled" in queue for queue in WITH_KEY.of_type("SQS::Queue").values())


def test_roles_may_use_the_owners_key_and_no_other_and_only_where_there_is_one() -> None:
    policies = WITH_KEY.of_type("IAM::Policy").values()
    by_roles = {
        frozenset(roles_of(policy)): set(statement["Action"])
        for policy in policies
        for statement in statements({"Policies": [policy]})
    }

    everyone = frozenset(f"{name.capitalize()}Role" for name in FUNCTIONS) | {"CycleScheduleRole"}
    assert by_roles == {everyone: {"kms:Decrypt", "kms:GenerateDataKey"}, frozenset({"ApiRole"}): {"kms:Encrypt"}}
    assert [each["Resource"] for policy in policies for each in statements({"Policies": [policy]})] == [[KEY]] * 2
    assert not STACK.of_type("IAM::Policy")
    all_roles = [each for role in STACK.of_type("IAM::Role").values() for each in statements(role)]
    assert not any(action.startswith("kms:") for each in all_roles for action in each["Action"])


def test_the_command_learns_which_key_to_store_secrets_with() -> None:
    assert WITH_KEY.outputs["KmsKeyArn"]["Value"] == KEY
    assert STACK.outputs["KmsKeyArn"]["Value"] == "none"


def denials(kind: str) -> dict[str, Properties]:
    """By the resource it protects, the statement that denies."""
    return {
        str(statement["Resource"]): statement
        for policy in STACK.of_type(kind).values()
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
    }


@pytest.mark.parametrize(
    ("kind", "policy", "reference"),
    [
        ("SQS::Queue", "SQS::QueuePolicy", lambda name: {"Fn::GetAtt": [name, "Arn"]}),
        ("SNS::Topic", "SNS::TopicPolicy", lambda name: {"Ref": name}),
    ],
)
def test_queues_and_topics_refuse_whoever_comes_without_tls(kind: str, policy: str, reference: Any) -> None:
    refused = denials(policy)

    assert set(refused) == {str(reference(name)) for name in STACK.of_type(kind)}
    for statement in refused.values():
        assert statement["Principal"] == "*"
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_only_services_of_this_account_publish_to_a_topic() -> None:
    allowed = [
        statement
        for policy in STACK.of_type("SNS::TopicPolicy").values()
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    ]

    assert allowed
    for statement in allowed:
        assert set(statement["Principal"]) == {"Service"}
        assert statement["Action"] == "sns:Publish"
        assert statement["Condition"]["StringEquals"]["aws:SourceAccount"] == {"Ref": "AWS::AccountId"}


def methods() -> dict[str, Properties]:
    (api,) = STACK.of_type("ApiGateway::RestApi").values()
    return {
        f"{method.upper()} {path}": described
        for path, item in api["Body"]["paths"].items()
        for method, described in item.items()
    }


OPEN = frozenset({"GET /unsubscribe", "POST /unsubscribe"})
"""Methods that take no API key, as who calls them cannot send one: a token that only they were told proves them."""


def test_every_method_of_the_api_asks_for_the_key() -> None:
    keyless = {name for name, described in methods().items() if {"api_key": []} not in described.get("security", [])}

    assert methods()
    assert keyless <= OPEN


def test_the_api_is_reached_by_tls_in_its_region_alone_and_no_page_elsewhere_may_call_it() -> None:
    (api,) = STACK.of_type("ApiGateway::RestApi").values()

    assert api["EndpointConfiguration"] == {"Types": ["REGIONAL"]}
    assert not any(name.startswith("OPTIONS ") for name in methods())


def test_the_api_is_throttled_for_all_and_for_the_holder_of_the_key() -> None:
    (stage,) = STACK.of_type("ApiGateway::Stage").values()
    (plan,) = STACK.of_type("ApiGateway::UsagePlan").values()

    (settings,) = stage["MethodSettings"]
    assert (settings["HttpMethod"], settings["ResourcePath"]) == ("*", "/*")
    assert 0 < settings["ThrottlingRateLimit"] <= 20
    assert 0 < settings["ThrottlingBurstLimit"] <= 40
    assert 0 < plan["Throttle"]["RateLimit"] <= settings["ThrottlingRateLimit"]
    assert plan["Quota"]["Period"] == "DAY"


def test_tables_can_be_brought_back_to_any_second_of_the_last_weeks() -> None:
    for table in STACK.of_type("DynamoDB::Table").values():
        assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_nothing_in_the_template_is_open_to_the_world() -> None:
    for permission in STACK.of_type("Lambda::Permission").values():
        assert permission["Principal"] != "*"
    assert not STACK.of_type("Lambda::Url")
    for role in STACK.of_type("IAM::Role").values():
        for statement in role["AssumeRolePolicyDocument"]["Statement"]:
            assert set(statement["Principal"]) == {"Service"}
