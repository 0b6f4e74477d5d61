"""Lies beside a function's app.py and answers with what the test wants to know of its process."""

import os
import sys
import time
from typing import Any

_before = time.perf_counter()
import app  # noqa: E402 - timed

IMPORT_MS = round(1000 * (time.perf_counter() - _before))

from lago import http_shared  # noqa: E402 - after the handler's own imports, which are what is looked at
from lago.store.connection import connection  # noqa: E402

MODULES = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
CACHED = {name: getattr(module, "__cached__", None) for name, module in sys.modules.items()}


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """The function's answer, with the identities of what must stay the same over invocations."""
    if event.get("probe") == "imports":
        return {"ms": IMPORT_MS, "modules": MODULES, "cached": CACHED, "path": sys.path}
    return {
        "answer": app.handler(event, context),
        "pid": os.getpid(),
        "http": id(http_shared._shared),
        "store": id(connection()),
    }
