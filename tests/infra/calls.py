"""What the code asks of AWS, as IAM looks at it: actions on resources, seen on their way out of the process."""

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from types import FrameType
from typing import Any
from unittest.mock import patch

from botocore.client import BaseClient

from tests.infra.stack import Stack, statements
from tests.tables import NAMES

Right = tuple[str, str]
"""An action and what it is done to, as the template names it: ("dynamodb:GetItem", "SearchesTable")."""

_TABLES = {table: logical for logical, table in NAMES.items()}
_IN_TRANSACTIONS = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}
"""A transaction is checked as the operations in it (DynamoDB's "IAM and transactions")."""

STACK_NAME = "test"
_ARN = re.compile(r"^arn:.*\$\{AWS::AccountId\}:(?:parameter)?")
"""What is left out of a resource's name."""


def rights_for(service: str, operation: str, arguments: Mapping[str, Any]) -> set[Right]:
    """What a request needs."""
    if service != "dynamodb":
        return _elsewhere(service, operation, arguments)
    if operation == "TransactWriteItems":
        return {
            (f"dynamodb:{_IN_TRANSACTIONS[kind]}", _TABLES[item["TableName"]])
            for write in arguments["TransactItems"]
            for kind, item in write.items()
        }
    if operation in ("BatchGetItem", "BatchWriteItem"):
        return {(f"dynamodb:{operation}", _TABLES[table]) for table in arguments["RequestItems"]}
    table = _TABLES[arguments["TableName"]]
    index = arguments.get("IndexName")
    return {(f"dynamodb:{operation}", f"{table}/{index}" if index else table)}


def _elsewhere(service: str, operation: str, arguments: Mapping[str, Any]) -> set[Right]:
    match service, operation:
        case "lambda", "Invoke":
            return {("lambda:InvokeFunction", arguments["FunctionName"])}
        case "sesv2", "SendEmail":
            # SES asks for both where the mail is made by the sender ("Content.Raw"), on the identity and the set
            actions = ["SendEmail", "SendRawEmail"] if "Raw" in arguments["Content"] else ["SendEmail"]
            used = [f"identity/{arguments['FromEmailAddress']}"]
            used += [f"configuration-set/{name}" for name in [arguments.get("ConfigurationSetName")] if name]
            return {(f"ses:{action}", name) for action in actions for name in used}
    return {(f"{service}:{operation}", str(arguments["Name"]))}


class Recorder:
    """Remembers the rights that were needed, by the function that needed them."""

    def __init__(self) -> None:
        self.needed: dict[str, set[Right]] = {}

    @contextmanager
    def installed(self) -> Iterator["Recorder"]:
        """See every request of every AWS client of this process, in all threads."""
        send = BaseClient._make_api_call

        def seen(client: Any, operation: str, arguments: Any) -> Any:
            function = caller(sys._getframe())
            if function is not None:
                needed = rights_for(client.meta.service_model.service_name, operation, arguments)
                self.needed.setdefault(function, set()).update(needed)
            return send(client, operation, arguments)

        with patch.object(BaseClient, "_make_api_call", seen):
            yield self


_ENTRIES = {
    ("lago.notify", "notify"): "notify",
    ("lago.delivery", "Sender.deliver"): "notify",
    ("lago.drain", "drain"): "drain",
    ("lago.delivery", "Sender.drain"): "drain",
    ("lago.scrape", "scrape_shard"): "scrape",
}
"""Where each function's work begins where its handler is not to be seen: in a pool's thread, in a test without it."""
_HANDLER = re.compile(r"/functions/(\w+)/app\.py$")


def caller(frame: FrameType | None) -> str | None:
    """The function on whose way the code is: by the innermost handler on the stack, else by the innermost entry."""
    entered = None
    while frame is not None:
        handler = _HANDLER.search(frame.f_code.co_filename)
        if handler is not None:
            return handler[1]
        entered = entered or _ENTRIES.get((frame.f_globals.get("__name__", ""), frame.f_code.co_qualname))
        frame = frame.f_back
    return entered


def granted(stack: Stack, function: str) -> set[Right]:
    """What the policies of a function's role let it do; a resource may end in a wildcard."""
    name = f"{function.capitalize()}Role"
    shared = [each for each in stack.of_type("IAM::Policy").values() if {"Ref": name} in each["Roles"]]
    return {
        (action, _resource(resource))
        for statement in (*statements(stack.properties(name)), *statements({"Policies": shared}))
        for action in statement["Action"]
        for resource in statement["Resource"]
    }


def covers(right: Right, needed: Right) -> bool:
    """Whether what is granted is what is needed."""
    return right[0] == needed[0] and fnmatchcase(needed[1], right[1])


def _resource(resource: Any) -> str:
    """A resource by its short name: a table's logical id, an index below it, a parameter's path."""
    match resource:
        case {"Fn::GetAtt": [str(logical), "Arn"]}:
            return logical
        case {"Fn::GetAtt": [str(logical), str(attribute)]}:
            return f"{logical}.{attribute}"
        case {"Fn::Sub": [str(text), dict(values)]}:
            for name, value in values.items():
                text = text.replace(f"${{{name}}}", _resource(value))
            return _resource({"Fn::Sub": text})
        case {"Fn::Sub": str(text)}:
            path = _ARN.sub("", text).replace("${AWS::StackName}", STACK_NAME)
            return re.sub(r"\$\{(\w+)(?:\.Arn)?\}(?:/index)?", r"\1", path)
    return str(resource)
