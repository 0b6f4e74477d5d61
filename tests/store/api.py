"""The Api function as it is deployed, asked as API Gateway asks it."""

import importlib.util
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.infra.stack import ROOT

APP = ROOT / "functions" / "api" / "app.py"

Handler = Callable[[dict[str, Any], object], dict[str, Any]]


class Context(NamedTuple):
    """What Lambda tells of an invocation."""

    function_name: str = "api"
    memory_limit_in_mb: int = 256
    invoked_function_arn: str = "arn:aws:lambda:eu-central-1:123456789012:function:api"
    aws_request_id: str = "1"


def load(name: str = "api_app") -> Handler:
    """The handler, in a module of its own by that name."""
    spec = importlib.util.spec_from_file_location(name, APP)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handler: Handler = module.handler
    return handler


def asked(handler: Handler, method: str, path: str, body: object = None, **query: str) -> dict[str, Any]:
    """All of the function's answer; a body that is no text is sent as JSON."""
    event = {
        "resource": path,
        "path": path,
        "httpMethod": method,
        "headers": {},
        "queryStringParameters": query or None,
        "requestContext": {"stage": "v1", "path": f"/v1{path}", "httpMethod": method, "resourcePath": path},
        "body": body if body is None or isinstance(body, str) else json.dumps(body),
        "isBase64Encoded": False,
    }
    return handler(event, Context())
