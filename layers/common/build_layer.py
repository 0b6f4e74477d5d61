"""Builds a layer: build_layer.py SOURCE ARTIFACTS puts everything below ARTIFACTS/python.

SOURCE is this folder, or that of a layer which lies beside this one: it gets what this one does not have.

Needs Python 3.13 (whose bytecode it ships) and uv or pip, nothing else. The same source gives the same bytes, so that a
second `sam deploy` finds nothing to change.
"""

import compileall
import os
import py_compile
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ARCHITECTURES = ("x86_64", "aarch64")
# wheels whose files differ between processors; their extensions carry the processor in their name and lie side by side
COMPILED = ("charset-normalizer", "msgspec", "pyyaml")
# the services that Lago calls from within a function, and what botocore reads before it knows the service
BOTOCORE_SERVICES = frozenset({"dynamodb", "lambda", "sesv2", "ssm", "sts"})
BOTOCORE_FILES = frozenset({"_retry.json", "endpoints.json", "partitions.json", "sdk-default-configuration.json"})
UNUSED = (
    "bin",
    "boto3/data",  # resources, which Lago does not use
    "boto3/examples",
    "aws_lambda_powertools/event_handler/openapi/swagger_ui",
    "apprise/i18n",  # translations of what its own command prints
)
UNUSED_EVERYWHERE = ("tests", "test", "__pycache__")
# the system's certificates, as pip uses them: a company's proxy has its own (the second is the name in older uv)
CERTIFICATES = {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"}
LAST_LINES = 10  # of an installer's own words, when it fails


def main(source: Path, artifacts: Path) -> None:
    """Build the layer of `source` into `artifacts`."""
    target = artifacts / "python"
    requirements = wanted(source)
    install(target, requirements, ARCHITECTURES[0])
    for architecture in ARCHITECTURES[1:]:
        add_extensions(target, requirements, architecture)
    prune(target)
    if (source / "lago").exists():
        shutil.copytree(source / "lago", target / "lago", ignore=shutil.ignore_patterns("__pycache__"))
    compile_all(target)
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    print(f"layer: {size / 1e6:.1f} MB unpacked", file=sys.stderr)


def wanted(source: Path) -> list[str]:
    """Give the requirements of `source`, without those that the layer beside it brings along."""
    common = Path(__file__).resolve().parent
    beside = set() if source.resolve() == common else set(lines(common))
    return [line for line in lines(source) if line not in beside]


def lines(folder: Path) -> list[str]:
    """Give what is pinned in a folder."""
    return [line for line in (folder / "requirements.txt").read_text().splitlines() if not line.startswith("#")]


def install(target: Path, requirements: list[str], architecture: str) -> None:
    """Unpack the wheels of `requirements` for Lambda into `target`, or end with what the installer said."""
    listed = target.parent / f"requirements-{architecture}.txt"
    target.mkdir(parents=True, exist_ok=True)
    listed.write_text("\n".join(requirements) + "\n")
    command = [*installer(target, architecture), "-r", str(listed)]
    try:
        done = subprocess.run(command, env=CERTIFICATES | os.environ, capture_output=True, text=True, check=False)
    finally:
        listed.unlink()
    if done.returncode != 0:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-LAST_LINES:])
        name = "pip" if command[0] == sys.executable else "uv"
        sys.exit(f"layer: {name} could not install what Lambda needs (exit code {done.returncode}):\n{said}")


def installer(target: Path, architecture: str) -> list[str]:
    """Give the command that installs wheels for Lambda: uv if it is there, since it takes seconds, else pip."""
    only = ["--no-deps", "--only-binary", ":all:", "--target", str(target), "--python-version", "3.13"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--quiet", "--python-platform", f"{architecture}-manylinux_2_28", *only]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--root-user-action=ignore"]
    # each tag by its name: pip takes none but those given (Lambda's python3.13 runs on glibc 2.34)
    tags = ("manylinux2014", "manylinux_2_17", "manylinux_2_28")
    platforms = [option for tag in tags for option in ("--platform", f"{tag}_{architecture}")]
    return [*pip, "--implementation", "cp", *platforms, *only]


def add_extensions(target: Path, requirements: list[str], architecture: str) -> None:
    """Lay the extension modules of another processor beside those that are there."""
    other = target.parent / architecture
    install(other, [line for line in requirements if line.split("==")[0] in COMPILED], architecture)
    for file in other.rglob("*.so"):
        shutil.copy2(file, target / file.relative_to(other))
    shutil.rmtree(other)


def prune(target: Path) -> None:
    """Remove what no function reads: other services' models, tests, and all but the names and versions of packages."""
    for path in unused(target):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def unused(target: Path) -> Iterator[Path]:
    """Yield files and folders to remove."""
    yield from (target / name for name in UNUSED if (target / name).exists())
    for name in UNUSED_EVERYWHERE:
        yield from list(target.rglob(name))
    for path in (target / "botocore" / "data").glob("*"):
        if path.name not in (BOTOCORE_SERVICES if path.is_dir() else BOTOCORE_FILES):
            yield path
    for info in target.glob("*.dist-info"):
        yield from (path for path in info.iterdir() if path.name != "METADATA")
    yield from target.glob(".*")


def compile_all(target: Path) -> None:
    """Ship bytecode that is never checked against its source.

    SAM dates every zipped file 1980, so bytecode that is checked by time would be rejected and made anew at each cold
    start. Paths in it say where the layer is unpacked, not where it was built.
    """
    done = compileall.compile_dir(
        target,
        quiet=1,
        force=True,
        stripdir=str(target),
        prependdir="/opt/python",
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        workers=os.cpu_count() or 1,
    )
    if not done:
        sys.exit("layer: some files could not be compiled")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
