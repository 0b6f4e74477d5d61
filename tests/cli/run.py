"""Runs the command in process."""

import json
from typing import Any

from typer.testing import CliRunner, Result

from lago_cli.main import app
from lago_cli.ports import World


def lago(world: World, *arguments: str, typed: str | bytes | None = None) -> Result:
    return CliRunner(env={"TELEGRAM_BOT_TOKEN": None, "TELEGRAM_CHAT_ID": None, "LAGO_STACK": None}).invoke(
        app, list(arguments), obj=world, input=typed
    )


def answer(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)
