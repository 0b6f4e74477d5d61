"""The built layer: complete for both processors, small, with bytecode that is believed, the same bytes each time."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.runtime.built import build_layer, layer

HEADER = 16
"""Bytes before the code in a .pyc file (PEP 552): magic number, flags, then date and size or a hash."""
HASHED, CHECKED = 1, 2
MB = 1_000_000


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_every_module_has_bytecode_that_is_never_checked_against_its_source() -> None:
    # SAM dates every zipped file 1980: bytecode that is checked by date would be rejected at each cold start
    for source in (layer() / "python").rglob("*.py"):
        compiled = source.parent / "__pycache__" / f"{source.stem}.cpython-313.pyc"
        flags = int.from_bytes(compiled.read_bytes()[4:8], "little")
        assert flags & HASHED, source
        assert not flags & CHECKED, source


def test_the_bytecode_is_what_runs(tmp_path: Path) -> None:
    shutil.copytree(layer() / "python" / "lago", tmp_path / "lago")
    errors = tmp_path / "lago" / "errors.py"
    errors.write_text("this is no Python")
    os.utime(errors, (315_532_800, 315_532_800))

    run = [sys.executable, "-S", "-c", "import lago.errors; print(lago.errors.LagoError.__name__)"]
    done = subprocess.run(run, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "LagoError"


def test_bytecode_names_the_place_where_the_layer_lies_and_not_where_it_was_built() -> None:
    compiled = (layer() / "python" / "lago" / "__pycache__" / "errors.cpython-313.pyc").read_bytes()

    assert b"/opt/python/lago/errors.py" in compiled
    assert str(layer().parent).encode() not in compiled


def test_extensions_for_both_processors_lie_side_by_side() -> None:
    extensions = {file.name for file in (layer() / "python").rglob("*.so")}

    assert extensions == {
        "_core.cpython-313-x86_64-linux-gnu.so",
        "_core.cpython-313-aarch64-linux-gnu.so",
    }


def test_botocore_brings_the_services_that_are_used_and_no_others() -> None:
    data = {path.name for path in (layer() / "python" / "botocore" / "data").iterdir() if path.is_dir()}

    assert data == {"dynamodb", "lambda", "sesv2", "ssm", "sts"}


def test_it_is_small(tmp_path: Path) -> None:
    content = files(layer())
    zipped = tmp_path / "layer.zip"
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)

    assert sum(map(len, content.values())) < 22 * MB
    assert zipped.stat().st_size < 8 * MB


def test_it_carries_neither_tests_nor_tools() -> None:
    names = {part for name in files(layer()) for part in Path(name).parts}

    assert not names & {"tests", "bin", "pydantic", "boto3-stubs", "pytest", "moto", "aws_xray_sdk", "lago_cli"}


def test_the_same_source_gives_the_same_bytes(tmp_path: Path) -> None:
    # else a second deploy would find changes where there are none
    build_layer(tmp_path / "again")

    assert files(tmp_path / "again") == files(layer())
