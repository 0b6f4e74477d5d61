"""`sam local start-api`, as `make local-invoke` tries it: GET /stats, answered by the function in its container.

It serves the API without the stage's name in the path, and asks for no API key: it is for one's own machine.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, build_opener

from scripts.local_stack import free_port
from scripts.local_stack.ports import LOOPBACK
from scripts.local_stack.processes import Child

START_SECONDS = 60
ANSWER_SECONDS = 120
"""For the first answer, which waits for the container."""


def serves_figures(sam: Path, options: Sequence[str], environment: Mapping[str, str], log: Path, root: Path) -> bool:
    """Start it, ask for the figures and for what is not there, stop it; says whether both answers were right.

    Raises LocalStackError when it does not start.
    """
    port = free_port()
    command = [str(sam), "local", "start-api", "--host", LOOPBACK, "--port", str(port), *options]
    server = Child("sam local start-api", command, env=environment, log=log, cwd=root)
    try:
        server.wait_until(lambda: _answer(port, "/not-there", 5)[0] is not None, START_SECONDS)
        found, body = _answer(port, "/stats", ANSWER_SECONDS)
        missing, _ = _answer(port, "/not-there", 5)
    finally:
        server.stop(patience=20)
    good = found == 200 and _are_figures(body) and missing in {403, 404}
    if good:
        print("lago: sam local start-api served the figures at /stats", flush=True)
    else:
        print(f"lago: sam local start-api answered {found} at /stats, {missing} elsewhere: see {log}", file=sys.stderr)
    return good


def _answer(port: int, path: str, seconds: float) -> tuple[int | None, bytes]:
    """Status and body of a GET; no status when nobody answers."""
    try:
        with build_opener(ProxyHandler({})).open(f"http://{LOOPBACK}:{port}{path}", timeout=seconds) as answer:
            return int(answer.status), answer.read()
    except HTTPError as refusal:
        return refusal.code, refusal.read()
    except (URLError, OSError):
        return None, b""


def _are_figures(body: bytes) -> bool:
    try:
        figures = json.loads(body)
    except ValueError:
        return False
    return isinstance(figures, dict) and {"pending", "dead", "sources"} <= figures.keys()
