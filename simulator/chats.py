"""Chats and what is in them, as Telegram keeps them and as the person sees them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, cast

ChatKind = Literal["private", "group", "supergroup", "channel"]


@dataclass
class Chat:
    """`blocked`: the person blocked the bot, or removed it. `migrated_to`: the group became this supergroup."""

    id: int
    kind: ChatKind = "private"
    title: str = "Maria Muster"
    blocked: bool = False
    migrated_to: int | None = None

    def shape(self) -> dict[str, object]:
        """The `chat` of the Bot API."""
        name = "first_name" if self.kind == "private" else "title"
        return {"id": self.id, "type": self.kind, name: self.title}


@dataclass(frozen=True)
class Button:
    """One button under a message."""

    text: str
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class Message:
    """`text` is what the person reads (or the photo's caption), `raw` what was sent, `time` UTC epoch ms."""

    id: int
    chat: int
    time: int
    method: str
    text: str
    raw: str
    parse_mode: str
    entities: tuple[dict[str, object], ...]
    photo: str | None
    buttons: tuple[tuple[Button, ...], ...]
    silent: bool

    def to_json(self) -> dict[str, object]:
        """For the control API and the state file."""
        return asdict(self)


def message_from_json(data: Mapping[str, object]) -> Message:
    """The message that `to_json` wrote. Raises TypeError or KeyError for anything else."""
    fields = dict(data)
    rows = cast("list[list[dict[str, str]]]", fields["buttons"])
    fields["buttons"] = tuple(tuple(Button(**button) for button in row) for row in rows)
    fields["entities"] = tuple(cast("list[dict[str, object]]", fields["entities"]))
    return Message(**fields)  # type: ignore[arg-type]
