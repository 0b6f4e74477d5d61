"""`make run`: Lago whole on this machine, and what happens as it happens. Ctrl-C stops it and keeps the state."""

import fcntl
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.local_stack import LocalStack, LocalStackError, require_free
from scripts.local_stack.environment import clean, write_env_file
from scripts.local_stack.ports import LOOPBACK
from scripts.local_stack.processes import private_file
from scripts.local_stack.stack import ROOT
from scripts.run_attention import where_messages_go
from scripts.run_follow import Follower, settle
from scripts.run_screen import say, show_failure, step
from scripts.run_settings import RunSettings, read_settings
from scripts.run_watch import connect, require_bot, require_readable, understand, watch_once
from simulator.process import Process, StartError, launch
from simulator.telegram import DEFAULT_CHAT, DEFAULT_TOKEN

LIVE_SECONDS = 15.0
"""How often something happens in the simulated marketplace."""


def main() -> int:
    """0 when stopped by Ctrl-C or by itself, 1 when something could not be done."""
    logging.getLogger("lago").addHandler(logging.NullHandler())  # failures are told in sentences
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        settings = read_settings(os.environ, sys.argv[1:])
        with only_one(settings.home):
            Run(settings).go()
    except LocalStackError as error:
        show_failure(error)
        return 1
    except KeyboardInterrupt:
        say("Stopped before anything was started.")
    return 0


@contextmanager
def only_one(home: Path) -> Iterator[None]:
    """Two runs in one folder would write each other's state."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "run.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            owner = lock.read().strip() or "unknown"
            raise LocalStackError(f"Lago runs already from this folder (process {owner}): stop it there") from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


class Run:
    """One run, from the first check to the last process stopped."""

    def __init__(self, settings: RunSettings) -> None:
        self._settings = settings
        self._local = LocalStack(home=settings.home, port=settings.cloud_port)
        self._simulator: Process | None = None
        self._follower: Follower | None = None

    def go(self) -> None:
        """Start, follow, stop. Raises LocalStackError."""
        try:
            self._start()
            if self._follower is not None:
                self._follower.follow(self._settings.seconds, self._check)
        except KeyboardInterrupt:
            say("\nStopping and keeping the state. Ctrl-C again ends it at once and forgets this run.")
        finally:
            self._stop()

    def _start(self) -> None:
        settings, local = self._settings, self._local
        left_behind = local.recover()
        if left_behind:
            say(left_behind, style="yellow")
        require_free(settings.cloud_port, "the embedded cloud", "CLOUD_PORT")
        if settings.needs_simulator:
            require_free(settings.simulator_port, "the simulator", "SIMULATOR_PORT")
        simulated = f"http://{LOOPBACK}:{settings.simulator_port}"
        marketplace, telegram = settings.marketplace or simulated, settings.telegram or simulated
        wanted = understand(settings.watch, marketplace, settings.contact)
        if settings.needs_simulator:
            self._simulator = step("Starting the simulator", self._launch_simulator)
        step(f"Looking at {marketplace}", lambda: require_readable(wanted, marketplace))
        token, chat = DEFAULT_TOKEN, str(DEFAULT_CHAT)
        if settings.telegram is not None:
            token = settings.token
            chat = step("Looking at the Telegram bot", lambda: require_bot(telegram, settings.token, settings.chat))
        parameters = {"WillhabenBaseUrl": marketplace, "Contact": settings.contact, "TelegramApiUrl": telegram}
        parameters |= far_sides(simulated if settings.telegram is None else None)
        step("Starting the embedded cloud", local.start)
        step("Building (sam build)", local.build)
        self._deploy(parameters | settings.parameters)

        point_at(local)
        self._follower = Follower(local, self._simulator if settings.telegram is None else None)
        connect(self._follower.stack, token, chat)
        watch = watch_once(self._follower.stack, wanted)
        env_file = settings.home / "env"
        api_key = local.api_key
        write_env_file(
            env_file,
            local.environment
            | {"WILLHABEN_BASE_URL": marketplace, "CONTACT": settings.contact}
            | {"LAGO_API_URL": local.api_url, "LAGO_API_KEY": api_key},
            ROOT / ".venv" / "dev" / "bin",
        )
        say("")
        say(f"Watching {wanted.label}" + ("" if watch else " (as before)") + f": {wanted.url}", style="bold")
        if settings.marketplace is not None:
            contact = (
                f"with the contact {settings.contact}" if settings.contact else "without a contact: CONTACT is empty"
            )
            say(f"Reading {marketplace} {contact}.")
        goal = "this terminal" if settings.telegram is None else f"Telegram chat {chat}"
        for line in where_messages_go(goal, self._follower.stack.read_stats(), self._follower.stack.watches.all()):
            say(line)
        say(f"Figures: curl -H 'x-api-key: {api_key}' {local.api_url}/stats")
        if self._simulator:
            say(f"Simulator: {simulated}/iad/kaufen-und-verkaufen/marktplatz (how to steer it: simulator/README.md)")
        if settings.telegram is None:
            say(f"Other channels, too: echo {simulated}/topic | lago destination add phone --channel ntfy -")
        say(f"In another terminal: source {env_file} && lago watch list")
        say("Ctrl-C stops everything and keeps the state. A cycle runs every minute; the first one now.")
        say("")

    def _deploy(self, parameters: dict[str, str]) -> None:
        try:
            step("Deploying (sam deploy)", lambda: self._local.deploy(parameters))
        except LocalStackError as error:
            state = self._settings.home / "state"
            raise LocalStackError(
                f"{error.sentence}; if that stays so, `rm -r {state}` begins anew, without the watches kept there",
                error.log,
            ) from error

    def _launch_simulator(self) -> Process:
        settings, log = self._settings, self._local.logs / "simulator.log"
        private_file(log).close()
        try:
            return launch(
                port=settings.simulator_port,
                state=settings.home / "simulator.json",
                live=LIVE_SECONDS if settings.marketplace is None else 0.0,
                log=log,
            )
        except StartError as error:
            raise LocalStackError(f"The simulator did not start: {error}", str(log)) from error

    def _check(self) -> None:
        self._local.check()
        require_running(self._simulator, self._local.logs / "simulator.log")

    def _stop(self) -> None:
        """Let what is under way finish, then end every process; a second Ctrl-C ends them at once."""
        try:
            if self._follower is not None:
                follower = self._follower
                step("Letting the last messages out", lambda: settle(follower))
            if self._local.running:
                step("Stopping", self._local.stop)
            if self._simulator is not None:
                self._simulator.stop()
        except KeyboardInterrupt:
            self._local.kill()
            if self._simulator is not None:
                self._simulator.kill()
            say("Stopped at once: the cloud forgot what happened since it was started.", style="red")
        finally:
            if self._simulator is not None:
                self._simulator.kill()


def require_running(simulator: Process | None, log: Path) -> None:
    """Raises LocalStackError when the simulator has ended by itself: without it every cycle would only fail."""
    if simulator is not None and not simulator.running:
        raise LocalStackError("The simulator ended by itself; the next `make run` goes on where it was", str(log))


def far_sides(simulated: str | None) -> dict[str, str]:
    """Where the other channels lead: to the simulator where it has the chat, else into the world.

    Always said: what a deployment leaves out stays as the one before had it.
    """
    if simulated is None:
        return {"SlackApiUrl": "https://hooks.slack.com", "DiscordApiUrl": "https://discord.com", "TrustedOrigins": ""}
    hooks = {"SlackApiUrl": f"{simulated}/_hooks/slack", "DiscordApiUrl": f"{simulated}/_hooks/discord"}
    return hooks | {"TrustedOrigins": simulated}


def point_at(local: LocalStack) -> None:
    """Let this process's own AWS calls go to the local cloud, whatever the person's shell says."""
    kept = clean()
    os.environ.clear()
    os.environ.update(kept | local.environment)


if __name__ == "__main__":
    sys.exit(main())
