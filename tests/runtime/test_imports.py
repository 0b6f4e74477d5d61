"""What a cold start imports: nothing heavy, nothing from outside, and bytecode only."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.infra.stack import FUNCTIONS
from tests.runtime.built import interface_client, layer
from tests.runtime.emulator import Function

HEAVY = {
    "pydantic": "msgspec reads the same in a fraction of the time",
    "aws_xray_sdk": "in maintenance; its import costs 200 to 500 ms",
    "moto": "a test's tool",
    "requests": "httpx is there",
    "pytest": "a test's tool",
    "typer": "belongs to the command",
    "rich": "belongs to the command",
    "bs4": "a fraction of the speed of what is used",
}
WITHOUT_HTTP = ("api",)


@pytest.mark.parametrize(("function", "name"), [(name, name) for name in FUNCTIONS], indirect=["function"])
def test_a_cold_start_imports_only_what_it_needs_from_the_layers_bytecode(
    function: Function, name: str, record_property: Callable[[str, object], None]
) -> None:
    seen = function.invoke({"probe": "imports"})
    record_property("import time", f"{name}: {seen['ms']} ms, {len(seen['modules'])} modules")

    imported = set(seen["modules"])
    heavy = {module for module in HEAVY if any(each == module or each.startswith(f"{module}.") for each in imported)}
    assert heavy == set()
    assert name not in WITHOUT_HTTP or "lago.sources" not in imported

    ours = {module: file for module, file in seen["modules"].items() if file and _is_below(file, layer())}
    assert {"lago", "msgspec", "botocore", "pynamodb", "aws_lambda_powertools"} <= set(ours)
    for module, file in ours.items():
        assert file.endswith(".so") or Path(seen["cached"][module]).exists(), f"{module} has no bytecode"

    strangers = {file for file in seen["modules"].values() if file and "site-packages" in file}
    assert strangers == set()


def test_the_interface_client_brings_nothing_that_the_layer_lacks() -> None:
    assert {path.name.partition(".")[0] for path in interface_client().iterdir()} == {
        "awslambdaric",
        "runtime_client",
        "simplejson",
        "snapshot_restore_py",
    }


def _is_below(file: str, folder: Path) -> bool:
    return Path(file).is_relative_to(folder)
