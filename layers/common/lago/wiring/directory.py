"""The directory of destinations as the Api function works with it: its secrets, its watches, its test messages."""

import json
import logging
import os
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

import botocore.session
import msgspec
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ReadTimeoutError

from lago.channels.registry import target_spec
from lago.destinations import Directory
from lago.domain.ids import DestinationId
from lago.domain.watch import Watch
from lago.errors import StoreUnavailableError
from lago.http_guard import read_origins
from lago.settings import Environment, search_shards, text
from lago.store.destinations import RemovalStore, turn
from lago.store.mailboxes import MailboxStore
from lago.store.watches import WatchStore
from lago.trial import TrialReport
from lago.wiring.clock import now

log = logging.getLogger(__name__)

ACCOUNT_KEY = "none"
"""What SECRETS_KEY says without a key of the owner's: the account's own for Parameter Store is used."""
TRIAL_SECONDS = 24
"""How long a test message is waited for: API Gateway waits 29 seconds for the function that asks."""

_PROMPT = Config(connect_timeout=2, read_timeout=4, retries={"total_max_attempts": 2, "mode": "standard"})
_PATIENT = Config(connect_timeout=2, read_timeout=TRIAL_SECONDS, retries={"total_max_attempts": 1, "mode": "standard"})
"""A repeated invocation would send a second message."""
_AS_WANTED = ("ParameterNotFound", "ParameterAlreadyExists")
"""What was to be deleted is not there; what was to be there is."""


def make_directory(mailboxes: MailboxStore, environment: Environment = os.environ) -> Directory:
    """The directory of the stack. Raises SettingError."""
    trusted = read_origins(text(environment, "TRUSTED_ORIGINS", ""), "TRUSTED_ORIGINS")
    return Directory(
        mailboxes,
        RemovalStore(mailboxes),
        TurnableWatches(search_shards(environment)),
        ParameterStore(text(environment, "SECRETS_KEY", ACCOUNT_KEY)),
        prefix=text(environment, "DESTINATION_SECRETS"),
        clock=now,
        random_bytes=secrets.token_bytes,
        spec_of=partial(target_spec, trusted=trusted),
    )


def make_trials(environment: Environment = os.environ) -> "Trials":
    """What sends test messages. Raises SettingError."""
    return Trials(text(environment, "NOTIFY_FUNCTION"))


class TurnableWatches(WatchStore):
    """Watches that can be sent elsewhere."""

    def turn(self, watch: Watch, destinations: tuple[DestinationId, ...]) -> bool:
        """Send what it finds elsewhere from now on; says whether it was still there."""
        return turn(watch, destinations)


class ParameterStore:
    """Writes secrets to SSM Parameter Store, as SecureStrings; its client is made when it is first needed."""

    def __init__(self, key: str = ACCOUNT_KEY, make_client: Callable[[], Any] | None = None) -> None:
        """`key` is the ARN of the owner's key, if there is one; `make_client` stands in for the way to AWS."""
        self._key = {} if key == ACCOUNT_KEY else {"KeyId": key}
        self._make_client = make_client or (lambda: _client("ssm", _PROMPT))
        self._made: Any = None

    def put(self, name: str, value: str) -> None:
        """Create or replace a secret. Raises StoreUnavailableError, without its value."""
        self._call("put_parameter", Name=name, Value=value, Type="SecureString", Overwrite=True, **self._key)

    def put_if_missing(self, name: str, value: str) -> None:
        """Create a secret, unless it is there. Raises StoreUnavailableError, without its value."""
        self._call("put_parameter", Name=name, Value=value, Type="SecureString", Overwrite=False, **self._key)

    def delete(self, names: tuple[str, ...]) -> None:
        """Delete those that are there. Raises StoreUnavailableError."""
        for name in names:
            self._call("delete_parameter", Name=name)

    def _call(self, operation: str, **parameters: object) -> None:
        if self._made is None:
            self._made = self._make_client()
        try:
            getattr(self._made, operation)(**parameters)
        except (ClientError, BotoCoreError) as error:
            if _code(error) not in _AS_WANTED:
                raise StoreUnavailableError(f"Parameter Store: {_code(error)}") from None


class Trials:
    """Sends test messages through Notify, which has the channels."""

    def __init__(self, function: str, make_client: Callable[[], Any] | None = None) -> None:
        """`function` is Notify's name or ARN."""
        self._function = function
        self._make_client = make_client or (lambda: _client("lambda", _PATIENT))
        self._made: Any = None

    def __call__(self, destination: DestinationId) -> TrialReport:
        """What came of it. Raises StoreUnavailableError when Notify cannot be asked."""
        if self._made is None:
            self._made = self._make_client()
        payload = json.dumps({"test": destination}).encode()
        try:
            answer = self._made.invoke(FunctionName=self._function, Payload=payload)
            body = answer["Payload"].read()
        except ReadTimeoutError:
            return TrialReport(delivered=False, outcome=f"no answer within {TRIAL_SECONDS} s: it may arrive yet")
        except (ClientError, BotoCoreError) as error:
            raise StoreUnavailableError(f"Lambda: {_code(error)}") from error
        if answer.get("FunctionError"):
            log.error("a test message failed", extra={"destination": destination})
            return TrialReport(delivered=False, outcome="Lago failed itself: the log of the function notify says how")
        return msgspec.json.decode(body, type=TrialReport)


def _client(service: str, config: Config) -> Any:
    return botocore.session.get_session().create_client(service, config=config)


def _code(error: Exception) -> str:
    """What went wrong, without what was sent."""
    response = getattr(error, "response", None) or {}
    return str(response.get("Error", {}).get("Code") or type(error).__name__)
