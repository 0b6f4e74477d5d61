"""What reached the person: from the simulated Telegram, or from the delivery log when Telegram is a real one."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from lago.domain.ids import Minor
from lago_cli.text import money, plain
from simulator.client import SentMessage, Simulator

DESTINATION = "me"


def time_of_day(moment: int) -> str:
    """An epoch millisecond on this machine's clock."""
    return datetime.fromtimestamp(moment / 1000, UTC).astimezone().strftime("%H:%M:%S")


@dataclass(frozen=True)
class Shown:
    """A message, line by line, already harmless. A single line needs no frame."""

    title: str
    lines: tuple[str, ...]

    def show(self, console: Console) -> None:
        """Print it."""
        if len(self.lines) == 1:
            console.print(Text(f"{self.title}: {self.lines[0]}"), soft_wrap=True)
        else:
            console.print(Panel(Text("\n".join(self.lines)), title=Text(self.title), title_align="left", width=90))


class Messages(Protocol):
    """Where messages can be seen. What was there at the start is not news."""

    def new(self) -> list[Shown]:
        """The messages since the last look, oldest first."""
        ...


class SimulatedChat:
    """The simulator's Telegram, as the person sees it."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._seen = max((message.id for message in simulator.messages()), default=0)

    def new(self) -> list[Shown]:
        """The messages since the last look."""
        fresh = [message for message in self._simulator.messages() if message.id > self._seen]
        self._seen = max((message.id for message in fresh), default=self._seen)
        return [shown(message) for message in fresh]


def shown(message: SentMessage) -> Shown:
    """Text, picture and buttons of one message."""
    lines = [plain(line, 500) for line in message.text.splitlines()]
    if message.photo:
        lines.insert(0, f"[picture {plain(message.photo, 300)}]")
    lines += [f"[{plain(text, 60)}] {plain(url, 300)}" for buttons in message.buttons for text, url in buttons]
    return Shown(f"{time_of_day(message.time)} Telegram", tuple(lines))


class DeliveryLog:
    """The delivery log: what was acknowledged by the far side, without the words."""

    def __init__(self, client: Any, table: str) -> None:
        """`client` is boto3's for DynamoDB."""
        self._client, self._table = client, table
        self._seen = set(self._told())

    def new(self) -> list[Shown]:
        """What was told since the last look."""
        told = self._told()
        fresh = {key: line for key, line in told.items() if key not in self._seen}
        self._seen |= set(fresh)
        return [
            Shown(f"{time_of_day(key[1])} told to {DESTINATION}", (line,))
            for key, line in sorted(fresh.items(), key=_moment)
        ]

    def _told(self) -> dict[tuple[str, int], str]:
        pages = self._client.get_paginator("query").paginate(
            TableName=self._table,
            KeyConditionExpression="destination = :me",
            ExpressionAttributeValues={":me": {"S": DESTINATION}},
        )
        items = [item for page in pages for item in page["Items"]]
        return {(item["ad"]["S"], int(item["told_at"]["N"])): _line(item) for item in items}


def _moment(told: tuple[tuple[str, int], str]) -> int:
    return told[0][1]


def _line(item: dict[str, dict[str, str]]) -> str:
    price = item.get("price", {}).get("N")
    amount = "" if price is None else f" at {money(Minor(int(price)), 'EUR')}"
    return plain(f"{item['kind']['S'].replace('_', ' ')}: {item['ad']['S']}{amount}")
