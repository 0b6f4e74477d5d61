"""What the code may import from where, and facts about libraries that its shape depends on."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from lago.store import connection
from tests.infra.stack import FUNCTIONS, ROOT, Stack

PACKAGE = ROOT / "layers" / "common" / "lago"
HANDLERS = [ROOT / "functions" / name / "app.py" for name in FUNCTIONS]
EDGES = ("lago.sources", "lago.channels", "lago.store", "lago.http")
IO = {
    "boto3",
    "botocore",
    "pynamodb",
    "httpx",
    "aws_lambda_powertools",
    "socket",
    "os",
    "time",
    "random",
    "urllib.request",
}


def imports(file: Path) -> Iterator[str]:
    """Every module that the file imports, also inside functions; relative ones begin with a dot."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def is_below(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def modules(*folders: str) -> list[Path]:
    return [file for folder in folders for file in (PACKAGE / folder).rglob("*.py")]


def test_httpx_has_one_import_site() -> None:
    sites = [file for file in PACKAGE.rglob("*.py") if any(is_below(name, ("httpx",)) for name in imports(file))]

    assert sites == [PACKAGE / "http.py"]


def test_concurrency_is_threads_since_an_async_client_dies_with_its_first_invocation() -> None:
    for file in [*PACKAGE.rglob("*.py"), *HANDLERS]:
        assert "AsyncClient(" not in file.read_text()
        assert "asyncio" not in set(imports(file))


def test_the_domain_is_pure() -> None:
    for file in modules("domain"):
        for name in imports(file):
            assert name.split(".")[0] not in IO
            assert not name.startswith("lago.") or is_below(name, ("lago.domain", "lago.errors")), f"{file}: {name}"


def test_edges_do_not_know_the_use_cases() -> None:
    inner = (
        "lago.domain",
        "lago.errors",
        "lago.ports",
        "lago.host_gate",
        "lago.retry_after",
        "lago.http_guard",
        "lago.host_names",
        *EDGES,
    )
    for file in modules("sources", "channels", "store"):
        outward = [name for name in imports(file) if name.startswith("lago.") and not is_below(name, inner)]
        assert outward == [], file


def test_use_cases_leave_libraries_to_the_edges() -> None:
    for name in ("scrape.py", "notify.py", "drain.py", "delivery.py", "stats.py"):
        assert not [
            each for each in imports(PACKAGE / name) if is_below(each, ("boto3", "botocore", "pynamodb", "httpx"))
        ]


def test_routes_know_use_cases_and_no_edge() -> None:
    for file in modules("api"):
        assert not [each for each in imports(file) if is_below(each, (*EDGES, "boto3", "botocore", "pynamodb"))], file


def test_only_the_handler_of_the_api_knows_its_routes() -> None:
    others = [file for file in PACKAGE.rglob("*.py") if file.parent != PACKAGE / "api"]
    for file in [*others, *(each for each in HANDLERS if each.parent.name != "api")]:
        assert not [each for each in imports(file) if is_below(each, ("lago.api",))], file


@pytest.mark.parametrize("handler", HANDLERS, ids=FUNCTIONS)
def test_handlers_are_one_short_file_without_relative_imports(handler: Path) -> None:
    # a relative import works in tests and fails in the runtime, which imports app by its name
    assert not [name for name in imports(handler) if name.startswith(".")]
    assert [file.name for file in handler.parent.glob("*.py")] == ["app.py"]
    assert len(handler.read_text().splitlines()) < 120


def test_the_package_does_not_know_tests_simulator_or_command() -> None:
    for file in [*PACKAGE.rglob("*.py"), *HANDLERS]:
        assert not [name for name in imports(file) if is_below(name, ("simulator", "tests", "lago_cli", "scripts"))]


def test_the_database_gives_up_well_before_the_shortest_function_does() -> None:
    # pynamodb's own time-outs (15 s to connect, 30 s to read, 3 retries) would outlive a function
    shortest = min(Stack().properties(f"{name.capitalize()}Function")["Timeout"] for name in FUNCTIONS)

    assert shortest > connection.CONNECT_SECONDS + connection.READ_SECONDS
    assert connection.RETRIES <= 2
