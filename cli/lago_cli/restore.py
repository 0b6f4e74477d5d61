"""`lago restore`: tables that AWS restored from a backup, back into the stack, without telling everything anew."""

from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lago.domain.ids import DestinationId, EpochMs
from lago.domain.notification import Destination
from lago.domain.since import read_since
from lago.errors import BadInputError
from lago_cli import options
from lago_cli.carry import remedy
from lago_cli.deployment import the
from lago_cli.errors import StackError
from lago_cli.output import facts, print_json, remark, say
from lago_cli.ports import Stack, World
from lago_cli.standing import NEEDS_SECRET

if TYPE_CHECKING:
    from lago_cli.restore_store import Report, Restorer

_PANEL = "Restored tables"


def _table(option: str, what: str) -> object:
    return typer.Option(option, metavar="TABLE", help=what, rich_help_panel=_PANEL, show_default=False)


def restore(
    ctx: typer.Context,
    told_until: Annotated[
        str,
        typer.Option(
            "--told-until",
            metavar="TIME",
            help="When the lost stack told its last, such as 2026-11-29T18:00: what was published before is not told.",
            show_default=False,
        ),
    ],
    searches: Annotated[str | None, _table("--searches", "The table of searches.")] = None,
    watches: Annotated[str | None, _table("--watches", "The table of watches.")] = None,
    queue: Annotated[
        str | None, _table("--queue", "The notification queue: destinations, what waits, dead letters.")
    ] = None,
    deliveries: Annotated[str | None, _table("--deliveries", "The log of what was told.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and check all of it; write nothing.")] = False,
    into_existing: Annotated[
        bool,
        typer.Option("--into-existing", help="Fill up tables that are not empty: what is there stays as it is."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Although cycles run.")] = False,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Fill the stack's tables from tables that AWS restored from a backup under other names.

    Nothing is written before all of them are read and checked. What waited since before TIME is dead, with the reason
    `expired`, for you to redrive; dead letters, watches and the log of what was told are as they were. Stopped in the
    middle, it goes on with `--into-existing`. Restore all four tables to one moment; docs/operations.md has the steps.

    **Examples:**

        lago restore --told-until 2026-11-29T18:00 --searches s-old --watches w-old --queue q-old --deliveries d-old

        lago restore --told-until 2h --watches w-old --into-existing
    """
    world: World = ctx.obj
    now = world.clock()
    until = read_since(told_until, now, "--told-until")
    if until > now:
        raise BadInputError("--told-until", told_until, "a time in the past: what is published until then is not told")
    if not any((searches, watches, queue, deliveries, into_existing)):
        raise BadInputError("--searches, --watches, --queue, --deliveries", "nothing", "at least one restored table")
    stack = world.open_stack(stack_name)
    if not force:
        _require_rest(world, stack_name)
    restorer = _restorer(world, stack, until, now, searches, watches, queue, deliveries)
    filled = restorer.filled()
    if filled and not into_existing:
        raise StackError(
            f"The stack is not empty ({', '.join(filled)}): restore into a new one, or fill up this one with "
            "--into-existing, which leaves all that is there as it is."
        )
    restorer.look()
    if not dry_run:
        try:
            restorer.restore(lambda what: remark(f"Restoring {what} …"))
        except BaseException:
            remark("Stopped in the middle: run it again with --into-existing to go on.")
            raise
    _tell(restorer.report, stack, dry_run=dry_run, as_json=as_json)


def _require_rest(world: World, name: str) -> None:
    """Cycles would read and tell while half of the memory is there."""
    deployment = world.deployment(name)
    if deployment.schedule(the(deployment.resources(), "CycleSchedule").id).enabled:
        raise StackError(
            "Cycles run in this stack: deploy it with ScheduleState=DISABLED, wait two minutes, then restore; --force "
            "does it all the same, and what is restored halfway may be told."
        )


def _restorer(
    world: World,
    stack: Stack,
    until: EpochMs,
    now: EpochMs,
    searches: str | None,
    watches: str | None,
    queue: str | None,
    deliveries: str | None,
) -> "Restorer":
    # binds the tables' names
    from lago.store.deliveries import DeliveryItem  # noqa: PLC0415
    from lago.store.queue_items import QueueItem  # noqa: PLC0415
    from lago.store.searches import SearchItem  # noqa: PLC0415
    from lago.store.watches import WatchItem  # noqa: PLC0415
    from lago_cli.restore_store import Given, Restorer  # noqa: PLC0415
    from lago_cli.restore_tables import Backup  # noqa: PLC0415

    given = Given(
        searches=None if searches is None else Backup("--searches", searches, SearchItem),
        watches=None if watches is None else Backup("--watches", watches, WatchItem),
        queue=None if queue is None else Backup("--queue", queue, QueueItem),
        deliveries=None if deliveries is None else Backup("--deliveries", deliveries, DeliveryItem),
    )
    given.check()
    return Restorer(
        given,
        told_until=until,
        search_shards=int(stack.output("SearchShards")),
        queue_shards=int(stack.output("QueueShards")),
        now=now,
        sleep=world.sleep,
        query_of=world.marketplace(stack.output("WillhabenBaseUrl")).parse_url,
        without_secret=lambda destination: _without_secret(stack, destination),
    )


def _without_secret(stack: Stack, destination: Destination) -> Destination:
    """Disabled when its secret is not this stack's, or is gone: sending would fail, time after time."""
    token = stack.output("TelegramTokenParameter")
    secret = destination.credentials or (token if destination.channel == "telegram" else "")
    ours = secret == token or secret.startswith(f"{stack.output('DestinationSecrets')}/")
    if not secret or (ours and stack.secrets.get(secret) is not None):
        return destination
    return msgspec.structs.replace(destination, disabled=NEEDS_SECRET)


def _tell(report: "Report", stack: Stack, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        print_json(report)
    else:
        say("This would be restored; nothing was written:" if dry_run else "Restored:")
        facts(
            [
                ("watches", str(report.watches)),
                ("searches", str(report.searches)),
                ("destinations", str(report.destinations)),
                ("still waiting", str(report.waiting)),
                ("dead letters", str(report.dead)),
                ("waited: now dead", str(report.expired)),
                ("entries of the log", str(report.deliveries)),
                ("there already", "" if dry_run else str(report.there)),
            ]
        )
    if report.orphans:
        remark(f"{report.orphans} notifications are left out: their destinations are not in the backup.")
    for watch in report.unread:
        remark(f"The watch {watch} has no search in the backup, and its address says none: add it anew.")
    for name in report.needs_secret:
        destination = stack.destinations.get(DestinationId(name))
        if destination is not None:
            how = remedy(destination.id, destination.channel, destination.address, stack.name)
            remark(f"“{name}” {NEEDS_SECRET}: `{how}`.")
    if report.expired:
        remark("See `lago dead list --reason expired`; redrive what is still of use.")
    if not dry_run:
        remark("Then let cycles run again: deploy with ScheduleState=ENABLED.")
