"""The DynamoDBs that the store is tried on beside moto, each a process of its own with nothing kept on disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import boto3

from scripts import dynamodb_local
from scripts.local_stack.cloud import Cloud
from scripts.local_stack.environment import clean
from scripts.local_stack.ports import free_port, is_free
from scripts.local_stack.processes import Child
from tests.tables import NAMES

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / ".venv" / "cloud" / "bin" / "ministack"
START_SECONDS = 60
MINISTACK = "ministack"
DYNAMODB_LOCAL = "DynamoDB Local"

LAUNCHER = Path(__file__).with_name("Loopback.java")
"""Java runs it from source."""


@contextmanager
def ministack(folder: Path) -> Iterator[str]:
    """The embedded cloud; yields its address."""
    cloud = Cloud(program=PROGRAM, port=free_port(), state=folder / "state", log=folder / "log", root=folder)
    try:
        yield cloud.url
    finally:
        cloud.kill()


@contextmanager
def amazons_own(folder: Path) -> Iterator[str]:
    """Amazon's DynamoDB Local, on loopback only; yields its address."""
    jar = dynamodb_local.jar()
    port = free_port()
    libraries = jar.parent / "DynamoDBLocal_lib"
    command = ["java", f"-Djava.library.path={libraries}", "-Xmx512m", "-cp", f"{jar}:{libraries}/*", str(LAUNCHER)]
    options = ["-inMemory", "-sharedDb", "-port", str(port)]
    child = Child("DynamoDB Local", [*command, *options], env=clean(), log=folder / "log", cwd=folder)
    try:
        child.wait_until(lambda: not is_free(port), START_SECONDS)
        yield f"http://127.0.0.1:{port}"
    finally:
        child.kill()


ENGINES = {MINISTACK: ministack, DYNAMODB_LOCAL: amazons_own}


def missing() -> dict[str, str]:
    """The engines that can't run on this machine, and why."""
    absent = {}
    if not PROGRAM.exists():
        absent[MINISTACK] = "ministack is left out: it is not installed, `make conformance` does that."
    try:
        dynamodb_local.jar()
    except dynamodb_local.MissingError as error:
        absent[DYNAMODB_LOCAL] = str(error)
    return absent


def empty_tables(endpoint: str) -> None:
    """Delete every item."""
    client = boto3.client("dynamodb", endpoint_url=endpoint)
    for name in NAMES.values():
        keys = [key["AttributeName"] for key in client.describe_table(TableName=name)["Table"]["KeySchema"]]
        for page in client.get_paginator("scan").paginate(TableName=name):
            for item in page["Items"]:
                client.delete_item(TableName=name, Key={key: item[key] for key in keys})
