"""What is in the layer that Apprise lives in."""

import importlib.util
from types import ModuleType

from scripts.local_stack.stack import ROOT

LAYER, COMMON = ROOT / "layers" / "apprise", ROOT / "layers" / "common"


def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_layer", COMMON / "build_layer.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_brings_only_what_the_common_layer_does_not_have() -> None:
    wanted = builder().wanted(LAYER)

    assert any(line.startswith("apprise==") for line in wanted)
    assert not {line.partition("==")[0] for line in wanted if ";" not in line} & names(builder().lines(COMMON))


def test_the_common_layer_is_built_of_all_of_its_own() -> None:
    assert builder().wanted(COMMON) == builder().lines(COMMON)


def test_tests_run_with_the_versions_of_the_layer() -> None:
    dev = (ROOT / "requirements" / "dev.txt").read_text().splitlines()

    assert {line for line in builder().lines(LAYER) if ";" not in line} <= {line.partition(" ; ")[0] for line in dev}


def names(lines: list[str]) -> set[str]:
    return {line.partition("==")[0] for line in lines}
