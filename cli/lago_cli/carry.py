"""`lago export` and `lago import`: watches and destinations from one stack to another."""

import os
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated

import msgspec
import typer
from msgspec import Struct

from lago.destination_options import Options
from lago.destinations import Addition
from lago.domain.ids import DestinationId, EpochMs, OwnerId, WatchId
from lago.domain.notification import Destination
from lago.domain.query import Query
from lago.domain.watch import Filters, Watch
from lago.errors import BadInputError, ConflictError
from lago_cli import carried, options
from lago_cli.carried import LARGEST, CarriedDestination, Document, DocumentError
from lago_cli.output import print_json, remark, say
from lago_cli.ports import Marketplace, Stack, World
from lago_cli.standing import ME, NEEDS_SECRET
from lago_cli.text import plain

_STANDARD_INPUT = "-"


class Imported(Struct, kw_only=True):
    """What an import did: ids of what was new, of what was there already, and of what was there and is different."""

    destinations: list[str]
    watches: list[str]
    kept: list[str]
    different: list[str]
    needs_secret: list[str]


def export(
    ctx: typer.Context,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it to a file that only you can read."),
    ] = None,
    stack_name: options.StackName = options.DEFAULT_STACK,
) -> None:
    """Print watches and destinations as one JSON document for `lago import`. No secrets are in it.

    **Examples:**

        lago export > lago.json

        lago export --stack old --output lago.json
    """
    world: World = ctx.obj
    stack = world.open_stack(stack_name)
    exported = datetime.fromtimestamp(world.clock() / 1000, UTC).isoformat(timespec="seconds")
    whole = carried.document(stack.name, exported, stack.destinations.all(), stack.watches.all())
    text = msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n"
    if output is None:
        sys.stdout.write(text.decode())
        return
    _write_private(output, text)
    remark(f"{_many(len(whole.watches), 'watch')} and {_many(len(whole.destinations), 'destination')} in {output}.")


def import_(
    ctx: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="What `lago export` wrote; `-` reads it from standard input.")
    ],
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Add the watches and destinations of a `lago export` to this stack. What is there already stays as it is.

    Nothing is written before all of the file is checked. Each search begins anew: it takes stock, tells that its watch
    is live, and then what is new. A destination whose secret this stack does not have is disabled until you give it.

    **Examples:**

        lago import lago.json --stack new

        lago export --stack old | lago import - --stack new
    """
    world: World = ctx.obj
    document = carried.read(_content(file))
    stack = world.open_stack(stack_name)
    known = {each.id: each for each in stack.watches.all()}
    wanted = _watches(document, stack, world.marketplace(stack.output("WillhabenBaseUrl")), world.clock())
    done = Imported(destinations=[], watches=[], kept=[], different=[], needs_secret=[])
    try:
        for destination in document.destinations:
            _add_destination(stack, destination, done)
        for query, watch in wanted:
            _add_watch(stack, query, watch, known.get(watch.id), done)
    except BaseException:
        remark(f"Stopped in the middle. {_summary(done)} Run it again to go on: what is there already stays as it is.")
        raise
    if as_json:
        print_json(done)
    else:
        say(_summary(done))
    _explain(document, done, stack_name)


def _content(file: str) -> bytes:
    """The file, as far as it can be a document."""
    if file == _STANDARD_INPUT:
        return sys.stdin.buffer.read(LARGEST + 1)
    try:
        with Path(file).open("rb") as source:
            return source.read(LARGEST + 1)
    except OSError as error:
        raise BadInputError("FILE", file, f"a file that can be read ({error.strerror})") from None


def _watches(document: Document, stack: Stack, marketplace: Marketplace, now: EpochMs) -> list[tuple[Query, Watch]]:
    """Each watch with its query, as it would be added now. Raises DocumentError."""
    there = {each.id for each in document.destinations} | {each.id for each in stack.destinations.all()}
    shards = int(stack.output("SearchShards"))
    made = []
    for n, each in enumerate(document.watches):
        try:
            query = marketplace.parse_url(each.url)
        except BadInputError as error:
            raise DocumentError(f"watches[{n}].url", f"must be {error.expected}") from None
        for name in each.destinations:
            if name not in there:
                problem = f"{plain(name, 40)!r} is a destination neither of the file nor of the stack"
                raise DocumentError(f"watches[{n}].destinations", problem)
        watch = Watch(
            id=WatchId(each.id),
            search=query.search_id(shards),
            owner=OwnerId(ME),
            label=each.label,
            url=marketplace.url(query),
            destinations=each.destinations,
            created=EpochMs(now + n),  # keeps their order
            filters=Filters(**msgspec.structs.asdict(each.filters)),
            near=each.near,
            paused=each.paused,
        )
        made.append((query, watch))
    return made


def _add_destination(stack: Stack, given: CarriedDestination, done: Imported) -> None:
    there = stack.destinations.get(given.id)
    if there is not None:
        same = (there.channel, there.address) == (given.channel, given.address)
        (done.kept if same else done.different).append(given.id)
        if there.disabled == NEEDS_SECRET:
            done.needs_secret.append(given.id)
        return
    if given.needs_secret:
        _put(stack, given, done)
    else:
        told = Options(
            time_zone=given.time_zone,
            quiet=given.quiet,
            club_seconds=given.club_seconds,
            digest_at=given.digest_at,
        )
        stack.directory.add(Addition(id=given.id, channel=given.channel, target=given.address, options=told))
        if given.disabled:
            stack.directory.disable(given.id, given.disabled)
    done.destinations.append(given.id)


def _put(stack: Stack, given: CarriedDestination, done: Imported) -> None:
    """As it was, but for its secret. Of Telegram that is the stack's bot, which may be there already."""
    bot = stack.output("TelegramTokenParameter")
    credentials = bot if given.channel == "telegram" and stack.secrets.get(bot) else ""
    destination = Destination(
        id=given.id,
        owner=OwnerId(ME),
        channel=given.channel,
        address=given.address,
        credentials=credentials,
        time_zone=given.time_zone,
        disabled=given.disabled if credentials else NEEDS_SECRET,
        quiet=given.quiet,
        club_seconds=given.club_seconds,
        digest_at=given.digest_at,
    )
    stack.destinations.put(destination)
    if not credentials:
        done.needs_secret.append(given.id)


def _add_watch(stack: Stack, query: Query, watch: Watch, there: Watch | None, done: Imported) -> None:
    if there is not None:
        same = (there.search, there.filters) == (watch.search, watch.filters)
        (done.kept if same else done.different).append(watch.id)
        return
    try:
        stack.watches.add(query, watch)
    except ConflictError:  # another import was faster
        done.kept.append(watch.id)
    else:
        done.watches.append(watch.id)


def _explain(document: Document, done: Imported, stack: str) -> None:
    for name in done.different:
        remark(f"{name} is there already and differs from the file: left as it is.")
    for each in document.destinations:
        if each.id in done.needs_secret:
            remark(f"“{each.id}” {NEEDS_SECRET}: `{remedy(each.id, each.channel, each.address, stack)}`.")
    if done.needs_secret:
        remark("Until then nothing is sent there, and watches may pause; `lago watch resume WATCH` wakes one.")


def remedy(name: DestinationId, channel: str, address: str, stack: str) -> str:
    """The command that brings a destination its secret, quoted: the file may come from anywhere."""
    if channel == "telegram":
        return shlex.join(["lago", "setup", "--destination", name, f"--chat={address}", "--stack", stack])
    return shlex.join(["lago", "destination", "add", name, "--channel", channel, "--stack", stack])


def _summary(done: Imported) -> str:
    added = f"{_many(len(done.destinations), 'destination')} and {_many(len(done.watches), 'watch')} added"
    there = len(done.kept) + len(done.different)
    return f"{added}, {there} {'was' if there == 1 else 'were'} there already."


def _many(count: int, what: str) -> str:
    plural = "es" if what.endswith("ch") else "s"
    return f"{count} {what}" if count == 1 else f"{count} {what}{plural}"


def _write_private(output: Path, text: bytes) -> None:
    """Whole or not at all, and readable by its owner alone from its first byte on."""
    try:
        with NamedTemporaryFile(dir=output.parent, prefix=f".{output.name}.", delete=False) as file:
            made = Path(file.name)  # 0600, as every file of tempfile
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                made.replace(output)
            except BaseException:
                made.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise BadInputError("--output", output, f"a place for a file ({error.strerror})") from None
