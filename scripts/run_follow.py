"""Shows what happens: cycles and messages, as they come."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from lago.domain.watch import Watch
from lago.errors import LagoError
from lago_cli.cycle import describe, run_cycle
from lago_cli.stack import open_stack
from lago_cli.troubles import names_of
from scripts.local_stack import LocalStack
from scripts.run_attention import Attention
from scripts.run_cycles import Cycles, LoggedReports, is_quiet
from scripts.run_hooks import SimulatedHooks
from scripts.run_messages import DeliveryLog, Messages, SimulatedChat
from scripts.run_screen import console, say
from simulator.process import Process

if TYPE_CHECKING:  # importing the store binds the tables' names, which are not known before the deployment
    from lago.stats import Stats

LOOK_SECONDS = 1.0
SETTLE_SECONDS = 15.0


class Follower:
    """Looks at the stack once a second."""

    def __init__(self, local: LocalStack, simulator: Process | None) -> None:
        """`simulator` is where messages can be read; None reads the delivery log."""
        self.stack = open_stack(local.name)
        self._messages: tuple[Messages, ...] = (
            (SimulatedChat(simulator.client), SimulatedHooks(simulator.client))
            if simulator is not None
            else (DeliveryLog(local.client("dynamodb"), local.outputs["DeliveriesTable"]),)
        )
        stats = self.stack.read_stats()
        self._cycles = Cycles(stats)
        self._attention = Attention(stats, self._watches(stats))
        began = time.time_ns() // 1_000_000
        self._reports = LoggedReports(local.client("logs"), local.log_group("ScrapeFunction"), began)
        self._metrics = local.metric_lines(began)
        self._complaint = ""

    def follow(self, seconds: float | None, check: Callable[[], None]) -> None:
        """Run a first cycle, then show what happens until Ctrl-C, for so many seconds, or until `check` raises."""
        for name, result in run_cycle(self.stack).items():
            if isinstance(result, dict) and "error" in result:
                say(f"{name}: {describe(result)}", style="red")
        self.look()
        ends = None if seconds is None else time.monotonic() + seconds
        while ends is None or time.monotonic() < ends:
            time.sleep(LOOK_SECONDS)
            check()
            self.look()

    def look(self) -> None:
        """Print what is new. A look that fails is said once and tried again."""
        try:
            stats = self.stack.read_stats()
            for line in self._cycles.new(stats, self._reports.new, lambda: names_of(self.stack.watches.all())):
                say(line, style="dim")
            for message in (message for place in self._messages for message in place.new()):
                message.show(console)
            for line in self._attention.new(stats, self._watches(stats)):
                say(line, style="red")
            self._metrics.forward()
            self._complaint = ""
        except (LagoError, BotoCoreError, ClientError, OSError) as error:
            if str(error) != self._complaint:
                self._complaint = str(error)
                say(f"Could not look just now ({error}); trying again.", style="red")

    def _watches(self, stats: "Stats") -> list[Watch]:
        """Read only when there is a destination that may have paused some."""
        return self.stack.watches.all() if stats.disabled_destinations else []

    def quiet(self) -> bool:
        """Whether nothing is under way: no cycle, no event on its way to a message."""
        return is_quiet(self.stack.read_stats(), int(self.stack.output("SearchShards")))


def settle(follower: Follower, sleep: Callable[[float], None] = time.sleep) -> None:
    """Wait until nothing is under way: a message that is sent but not yet noted would be sent again next time."""
    ends = time.monotonic() + SETTLE_SECONDS
    try:
        while not follower.quiet() and time.monotonic() < ends:
            sleep(LOOK_SECONDS / 4)
    except (LagoError, BotoCoreError, ClientError):
        return  # the cloud does not answer any more: nothing to wait for
    follower.look()
