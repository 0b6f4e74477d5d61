"""What `make run` says while it works."""

import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from lago_cli.text import plain
from scripts.local_stack import LocalStackError
from scripts.local_stack.processes import tail

console = Console(highlight=False)


def say(sentence: str, style: str = "") -> None:
    """One line, taken literally."""
    console.print(Text(sentence, style=style), soft_wrap=True)


def step[Result](name: str, work: Callable[[], Result]) -> Result:
    """Do one of the long steps: a spinner while it lasts, a line with its time when done."""
    started = time.monotonic()
    with console.status(Text(f"{name} …")):
        result = work()
    say(f"✓ {name} ({time.monotonic() - started:.1f} s)", style="green")
    return result


def show_failure(error: LocalStackError) -> None:
    """The sentence, the end of the log, and where the rest of it is."""
    say(error.sentence, style="red")
    if error.log:
        for line in tail(Path(error.log)):
            say(f"  {plain(line, 300)}", style="dim")
        say(f"The whole story is in {error.log}")
