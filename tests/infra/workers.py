"""The functions as they are deployed, each with the template's environment, on moto and with a far side of our own."""

import importlib.util
import io
import json
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import boto3
from botocore.client import BaseClient
from moto import mock_aws

from lago import http, http_shared
from lago.http import NoAnswerError, Reply
from lago.sources.willhaben.source import Willhaben
from tests.fakes.house import a_market
from tests.fakes.market import START, Market
from tests.infra.calls import STACK_NAME
from tests.infra.stack import ROOT, Stack
from tests.tables import NAMES, create_tables

TOKEN = "123456789:AAEhBOweik6ad9rHZQ3lk0dF4tF5lZ0d2bW"
DELIVERED = b'{"ok": true, "result": {}}'
API = "https://api.example/v1"
ADDRESS = b"1001"
"""Whom the answers are for; whoever else is written to gets every message."""
Answer = tuple[int, bytes] | None
"""Status and body; None is no answer at all."""


class Context(NamedTuple):
    function_name: str = "function"
    memory_limit_in_mb: int = 256
    invoked_function_arn: str = "arn:aws:lambda:eu-central-1:123456789012:function:function"
    aws_request_id: str = "1"

    def get_remaining_time_in_millis(self) -> int:
        return 50_000


class Workers:
    """All functions in one process. `now` is their clock (epoch ms), `answers` what the far side says next."""

    def __init__(self, **parameters: str) -> None:
        self.now = int(START)
        self.market: Market = a_market()
        self.answers: list[Answer] = []
        self.before_answer: Callable[[], None] = lambda: None
        self.sent: list[str] = []
        self._stack = Stack(**parameters)
        self._loaded: dict[str, ModuleType] = {}

    def __call__(self, function: str, event: dict[str, Any]) -> Any:
        """Invoke a function."""
        if function not in self._loaded:
            self._loaded[function] = self._load(function)
        return self._loaded[function].handler(event, Context())

    def ask(self, method: str, path: str, body: str | None = None, **query: str) -> tuple[int, str]:
        """Ask the API: status and body of its answer."""
        answer = self(
            "api",
            {
                "resource": path,
                "path": path,
                "httpMethod": method,
                "headers": {},
                "queryStringParameters": query or None,
                "requestContext": {"stage": "v1", "path": f"/v1{path}", "httpMethod": method, "resourcePath": path},
                "body": body,
                "isBase64Encoded": False,
            },
        )
        return answer["statusCode"], answer["body"]

    @contextmanager
    def at_work(self) -> Iterator["Workers"]:
        """With tables and a token, without network and without waiting."""
        clock = SimpleNamespace(time_ns=lambda: self.now * 1_000_000, sleep=self._sleep)
        ask_aws = BaseClient._make_api_call

        def ask(client: Any, operation: str, arguments: Any) -> Any:
            if operation != "Invoke":
                return ask_aws(client, operation, arguments)
            return self._invoked(arguments)

        with (
            warnings.catch_warnings(action="ignore", category=UserWarning),  # Powertools, of no metrics to publish
            mock_aws(),
            patch.object(BaseClient, "_make_api_call", ask),
            patch("lago.wiring.clock.time", clock),
            patch.object(http_shared, "close_on_shutdown", lambda: None),
            patch.object(http.HttpClient, "post", self._post),
            patch.object(Willhaben, "fetch", lambda _, query, page: self.market.fetch(query, page)),
            patch.object(Willhaben, "first_published", lambda _, ad, url: self.market.first_published(ad, url)),
        ):
            create_tables()
            name = f"/lago/{STACK_NAME}/telegram-bot-token"
            boto3.client("ssm").put_parameter(Name=name, Value=TOKEN, Type="SecureString")
            boto3.client("ssm").put_parameter(Name=f"/lago/{STACK_NAME}/api-url", Value=API, Type="String")
            boto3.client("sesv2").create_email_identity(EmailIdentity="lago@example.org")
            yield self

    def environment(self, function: str) -> dict[str, str]:
        """The variables that the template gives it."""
        return {name: self._plain(value) for name, value in self._stack.environment(function).items()}

    def _plain(self, value: Any) -> str:
        match value:
            case {"Ref": "AWS::StackName"}:
                return STACK_NAME
            case {"Ref": str(name)}:
                return NAMES.get(name, name)
            case {"Fn::Sub": str(text)}:
                return text.replace("${AWS::StackName}", STACK_NAME)
        return str(value)

    def _load(self, function: str) -> ModuleType:
        file = ROOT / "functions" / function / "app.py"
        spec = importlib.util.spec_from_file_location(f"{function}_worker", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        with patch.dict(os.environ, self.environment(function)):
            spec.loader.exec_module(module)
        return module

    def _invoked(self, arguments: Any) -> dict[str, Any]:
        """What Lambda answers a function that invokes Notify."""
        assert arguments["FunctionName"] == "NotifyFunction"
        answer = self("notify", json.loads(arguments["Payload"]))
        return {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(answer).encode())}

    def _sleep(self, seconds: float) -> None:
        self.now += int(seconds * 1000)

    def _post(self, url: str, *, label: str, content: bytes, headers: Any = None, **_: Any) -> Reply:
        self.before_answer()
        self.sent.append(label)
        answer = self.answers.pop(0) if self.answers and ADDRESS in content else (200, DELIVERED)
        if answer is None:
            raise NoAnswerError("far.example", "ReadTimeout")
        return Reply(status=answer[0], headers={}, content=answer[1], ms=1, reused=False)
