"""A deployed stack, found through its outputs.

The tables' names are bound when `lago.store` is imported, so this is the one place that imports it: after the
environment variables are set from the outputs.
"""

import json
import os
import random
import secrets
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError, NoRegionError

from lago.channels.registry import target_spec
from lago.dead_letters import DeadLetters
from lago.destinations import Directory
from lago.http_guard import NONE_TRUSTED, Trusted, read_origins
from lago_cli.clock import now
from lago_cli.errors import FunctionError, StackError
from lago_cli.ports import Destinations, Functions, Secrets, Watches
from lago_cli.text import plain

if TYPE_CHECKING:
    from lago.stats import Stats

_TABLES = {
    "SEARCHES_TABLE": "SearchesTable",
    "WATCHES_TABLE": "WatchesTable",
    "QUEUE_TABLE": "QueueTable",
    "DELIVERIES_TABLE": "DeliveriesTable",
}

ACCOUNT_KEY = NO_ORIGINS = "none"
"""What the outputs KmsKeyArn and TrustedOrigins say for an empty parameter: CloudFormation has no empty outputs."""

_PATIENT = Config(connect_timeout=5, read_timeout=120, retries={"total_max_attempts": 1})
"""For invoking functions: they may run for a minute, and a retry would run them twice."""
_PROMPT = Config(connect_timeout=5, read_timeout=15, retries={"total_max_attempts": 2})
"""For everything else a person waits for."""


def open_stack(name: str) -> "DeployedStack":
    """Find the stack. Raises StackError, or the AWS library's own errors, which `explain` turns into sentences."""
    session = aws_session()
    return DeployedStack(name, read_outputs(session, name), session)


def aws_session() -> Any:
    """AWS as the environment and the person's configuration say. Raises NoRegionError."""
    if "AWS_REGION" in os.environ:
        os.environ.setdefault("AWS_DEFAULT_REGION", os.environ["AWS_REGION"])
    session = boto3.Session()
    if session.region_name is None:
        raise NoRegionError
    return session


def read_outputs(session: Any, name: str) -> dict[str, str]:
    """The outputs of a stack by their keys."""
    described = describe_stack(session, name)["Stacks"][0]
    return {each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", [])}


def describe_stack(session: Any, name: str) -> dict[str, Any]:
    """CloudFormation's answer about a stack. Raises StackError when there is none of that name."""
    try:
        answer: dict[str, Any] = client(session, "cloudformation").describe_stacks(StackName=name)
    except ClientError as error:
        if "does not exist" not in str(error):
            raise
        raise StackError(
            f"There is no stack named {plain(name)!r} in {session.region_name}: name it with --stack or LAGO_STACK, "
            "choose the region with AWS_REGION, or deploy it with `sam deploy --guided` (`make run` for a local one)."
        ) from error
    return answer


def client(session: Any, service: str, config: Config = _PROMPT) -> Any:
    """An AWS client with time-outs that a person can sit through. Raises StackError for a malformed endpoint."""
    try:
        return session.client(service, config=config)
    except ValueError as error:
        raise StackError(f"AWS cannot be called: {error}; check AWS_ENDPOINT_URL and AWS_REGION.") from error


class DeployedStack:
    """The stack's tables, functions and secrets."""

    def __init__(self, name: str, outputs: dict[str, str], session: Any) -> None:
        """Bind the tables' names, then load the store."""
        self.name = name
        self._outputs = outputs
        for variable, key in _TABLES.items():
            os.environ[variable] = self.output(key)
        # pynamodb takes the region from this variable
        os.environ.setdefault("AWS_DEFAULT_REGION", session.region_name)

        from lago.store.dead_letters import DeadLetterStore  # noqa: PLC0415 - binds the tables' names
        from lago.store.mailboxes import MailboxStore  # noqa: PLC0415 - binds the tables' names
        from lago_cli.store import StackDestinations, StackWatches  # noqa: PLC0415 - binds the tables' names

        self._mailboxes = MailboxStore(int(self.output("QueueShards")))
        self.watches: Watches = StackWatches(self._mailboxes, int(self.output("SearchShards")))
        self.destinations: Destinations = StackDestinations(self._mailboxes)
        letters = DeadLetterStore(self._mailboxes)
        self.dead_letters = DeadLetters(letters, clock=now, random=random.random)
        self.functions: Functions = LambdaFunctions(session)
        self.secrets: Secrets = ParameterSecrets(session, key=outputs.get("KmsKeyArn", ACCOUNT_KEY))

    @property
    def directory(self) -> Directory:
        """All that can be done with its destinations."""
        from lago.store.destinations import RemovalStore  # noqa: PLC0415 - binds the tables' names

        return Directory(
            self._mailboxes,
            RemovalStore(self._mailboxes),
            self.watches,
            self.secrets,
            prefix=self.output("DestinationSecrets"),
            clock=now,
            random_bytes=secrets.token_bytes,
            spec_of=partial(target_spec, trusted=self._trusted()),
        )

    def _trusted(self) -> Trusted:
        """The origins inside that its destinations may name."""
        origins = self.output("TrustedOrigins")
        return NONE_TRUSTED if origins == NO_ORIGINS else read_origins(origins, "TrustedOrigins")

    def output(self, key: str) -> str:
        """One output. Raises StackError when there is none of that name."""
        try:
            return self._outputs[key]
        except KeyError:
            raise StackError(
                f"The stack {self.name!r} has no output {key}: it is not Lago's, its deployment failed, or it is older "
                "than this command; deploy it again."
            ) from None

    def read_stats(self) -> "Stats":
        """The figures of GET /stats."""
        from lago_cli.store import current_stats  # noqa: PLC0415 - binds the tables' names

        return current_stats(self._mailboxes, int(self.output("SearchShards")), now)


class LambdaFunctions:
    """Invokes the stack's functions."""

    def __init__(self, session: Any) -> None:
        self._lambda = client(session, "lambda", _PATIENT)

    def invoke(self, name: str, event: dict[str, object]) -> object:
        """The answer of one synchronous invocation. Raises FunctionError with what the function said."""
        answer = self._lambda.invoke(FunctionName=name, Payload=json.dumps(event).encode())
        body = answer["Payload"].read()
        result = json.loads(body) if body else None
        if answer.get("FunctionError"):
            said = result.get("errorMessage", "no reason given") if isinstance(result, dict) else "no reason given"
            raise FunctionError(f"{name}: {plain(str(said))}")
        return result


class ParameterSecrets:
    """SSM Parameter Store, SecureString."""

    def __init__(self, session: Any, key: str = ACCOUNT_KEY) -> None:
        """`key` is the ARN of the owner's key; without one the account's own for Parameter Store is used."""
        self._ssm = client(session, "ssm")
        self._key = {} if key == ACCOUNT_KEY else {"KeyId": key}

    def put(self, name: str, value: str) -> None:
        """Create or replace a secret."""
        self._ssm.put_parameter(Name=name, Value=value, Type="SecureString", Overwrite=True, **self._key)

    def put_if_missing(self, name: str, value: str) -> None:
        """Create a secret, unless it is there."""
        with suppress(self._ssm.exceptions.ParameterAlreadyExists):
            self._ssm.put_parameter(Name=name, Value=value, Type="SecureString", Overwrite=False, **self._key)

    def delete(self, names: tuple[str, ...]) -> None:
        """Delete those that are there."""
        for name in names:
            with suppress(self._ssm.exceptions.ParameterNotFound):
                self._ssm.delete_parameter(Name=name)

    def get(self, name: str) -> str | None:
        """The secret; None when there is none of that name."""
        try:
            value: str = self._ssm.get_parameter(Name=name, WithDecryption=True)["Parameter"]["Value"]
        except self._ssm.exceptions.ParameterNotFound:
            return None
        return value
