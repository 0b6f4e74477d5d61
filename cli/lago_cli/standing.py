"""How a watch stands: whether it runs, where its messages go, whether another one does the same."""

from lago.domain.ids import DestinationId
from lago.domain.watch import Watch
from lago.errors import BadInputError
from lago_cli.output import remark
from lago_cli.ports import Stack
from lago_cli.text import plain

ME = "me"
"""Owner and destination while one person uses the stack."""
NEEDS_SECRET = "needs its secret"  # noqa: S105 - why a destination is disabled, no secret


def state(watch: Watch) -> str:
    """Running, or paused and why."""
    return f"paused: {plain(watch.paused, 60)}" if watch.paused else "running"


def require_destination(stack: Stack, destination: str) -> None:
    """A watch whose messages go nowhere would look alive and be silent."""
    if stack.destinations.get(DestinationId(destination)) is None:
        raise BadInputError(
            "--to",
            destination,
            "a destination that exists (`lago destination list` shows them, `lago setup` makes the first)",
        )


def warn_of_disabled(stack: Stack, watch: Watch) -> None:
    """What is found meanwhile waits for the destination."""
    for name in watch.destinations:
        destination = stack.destinations.get(name)
        if destination is not None and destination.disabled:
            again = mended_by(name, destination.channel, destination.disabled)
            reason = plain(destination.disabled, 80)
            remark(f"But “{name}” is disabled ({reason}): nothing is told until you run `{again}`.")


def mended_by(name: str, channel: str, disabled: str) -> str:
    """The command after which a disabled destination is told again."""
    if channel == "telegram":  # the token or the chat may be to blame
        return "lago setup" if name == ME else f"lago setup --destination {name}"
    if disabled == NEEDS_SECRET:
        return f"lago destination add {name} --channel {channel}"
    return f"lago destination enable {name}"


def require_new(stack: Stack, watch: Watch, wanted: str) -> None:
    """The same watch twice is most likely a command that was run twice."""
    for known in stack.watches.all():
        if known.search == watch.search and known.filters == watch.filters and watch.destinations == known.destinations:
            raise BadInputError(
                "KEYWORD|URL",
                wanted,
                f"a search that is not watched yet: “{plain(known.label)}” ({known.id}, {state(known)}) is the same; "
                "add it all the same with --again",
            )
