"""`lago watch`: add, list, show, set, pause, resume and remove watches."""

from typing import Annotated

import msgspec
import typer

from lago.domain.ids import OwnerId
from lago.domain.watch import Filters, Watch
from lago_cli import options, watch_options, watch_set
from lago_cli.checks import euros, is_address, label, percent, point, words
from lago_cli.identifiers import find, new_watch_id
from lago_cli.output import facts, print_json, remark, row, say, show_table, table
from lago_cli.ports import Stack, World
from lago_cli.standing import ME, require_new, state, warn_of_disabled
from lago_cli.text import ago, money, plain
from lago_cli.wanted import narrowing, query_for, require_sense

PAUSED_BY_PERSON = "paused by you"

app = typer.Typer(
    help="The searches you are told about: add, list, show, set, pause, resume, remove.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@app.command("add")
def add(
    ctx: typer.Context,
    wanted: options.Wanted,
    price_from: options.PriceFrom = None,
    price_to: options.PriceTo = None,
    category: options.Category = None,
    area: options.Areas = None,
    private: options.Private = False,
    dealer: options.Dealer = False,
    paylivery: options.Paylivery = False,
    name: Annotated[str | None, typer.Option("--name", metavar="LABEL", help="What messages call this watch.")] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude", metavar="WORD", help="Leave out ads with this word in the title. Repeat for several."
        ),
    ] = None,
    exclude_seller: Annotated[
        list[str] | None,
        typer.Option("--exclude-seller", metavar="NAME", help="Leave out this seller's ads. Repeat for several."),
    ] = None,
    drop_percent: Annotated[
        float | None,
        typer.Option("--drop-percent", metavar="N", help="Tell only price drops of at least N percent."),
    ] = None,
    drop_amount: Annotated[
        str | None,
        typer.Option("--drop-amount", metavar="EUR", help="Tell only price drops of at least this much."),
    ] = None,
    near: Annotated[
        str | None,
        typer.Option("--near", metavar="LAT,LON", help="Show each ad's distance from here, e.g. 48.2082,16.3738."),
    ] = None,
    to: watch_options.To = None,
    again: Annotated[bool, typer.Option("--again", help="Add it even if the same is watched already.")] = False,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Watch a search: from now on every new ad and every price drop is told once.

    The first run only takes stock and tells you that the watch is live; the next ones tell news.
    With an address, `--price-from`, `--price-to`, `--private` and `--dealer` filter what is told.

    **Examples:**

        lago watch add rennrad --price-to 500 --area wien --exclude kinder --exclude defekt

        lago watch add 'https://www.willhaben.at/iad/gebrauchtwagen/auto/gebrauchtwagenboerse?…' --name 'Our next car'

        lago watch add eames --drop-percent 10 --near 48.2082,16.3738 --to me --to work
    """
    world: World = ctx.obj
    narrow = narrowing(
        price_from=price_from,
        price_to=price_to,
        category=category,
        areas=area,
        private=private,
        dealer=dealer,
        paylivery=paylivery,
    )
    filters = Filters(
        exclude_words=words("--exclude", exclude),
        exclude_sellers=words("--exclude-seller", exclude_seller),
        drop_percent=percent(drop_percent),
        drop_amount=euros("--drop-amount", drop_amount),
    )
    here = point(near)
    called = label(name, wanted)
    if is_address(wanted):
        filters = msgspec.structs.replace(
            filters, price_from=narrow.price_from, price_to=narrow.price_to, seller_kind=narrow.seller_kind
        )
        narrow = msgspec.structs.replace(narrow, price_from=None, price_to=None, seller_kind=None)
    require_sense(wanted, narrow)
    stack = world.open_stack(stack_name)
    marketplace = world.marketplace(stack.output("WillhabenBaseUrl"))
    query = query_for(wanted, narrow, marketplace)
    destinations = watch_options.destinations(stack, to or [ME])
    watch = Watch(
        id=new_watch_id(world.random_bytes),
        search=query.search_id(int(stack.output("SearchShards"))),
        owner=OwnerId(ME),
        label=called,
        url=marketplace.url(query),
        destinations=destinations,
        created=world.clock(),
        filters=filters,
        near=here,
    )
    if not again:
        require_new(stack, watch, wanted)
    stack.watches.add(query, watch)
    warn_of_disabled(stack, watch)
    if as_json:
        print_json(watch)
        return
    say(f"Watching “{plain(called)}” as {watch.id}: {watch.url}")
    remark("The next cycle takes stock and tells you that the watch is live; after that you hear of what is new.")


@app.command("list")
def list_watches(
    ctx: typer.Context, stack_name: options.StackName = options.DEFAULT_STACK, as_json: options.AsJson = False
) -> None:
    """List all watches of the stack, oldest first.

    **Example:** `lago watch list --json | jq '.[].url'`
    """
    world: World = ctx.obj
    watches = sorted(world.open_stack(stack_name).watches.all(), key=lambda watch: (watch.created, watch.id))
    if as_json:
        print_json(watches)
        return
    if not watches:
        say("No watches yet. Add one: lago watch add rennrad --price-to 500")
        return
    shown = table(
        "id",
        "name",
        "state",
        "missed",
        "to",
        "since",
        "search",
        right=frozenset({"missed"}),
        fold=frozenset({"search"}),
    )
    for watch in watches:
        row(
            shown,
            watch.id,
            plain(watch.label, 40),
            state(watch),
            str(watch.missed or ""),
            ", ".join(watch.destinations),
            ago(watch.created, world.clock()),
            plain(watch.url, 500),
        )
    show_table(shown)


@app.command("show")
def show(
    ctx: typer.Context,
    watch_id: watch_options.Watch,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Show one watch with its filters.

    **Example:** `lago watch show k4q`
    """
    world: World = ctx.obj
    watch = find(world.open_stack(stack_name).watches.all(), watch_id)
    if as_json:
        print_json(watch)
        return
    filters = watch.filters
    facts(
        [
            ("id", watch.id),
            ("name", plain(watch.label)),
            ("state", state(watch)),
            ("missed while paused", str(watch.missed or "")),
            ("search", watch.url),
            ("search id", watch.search),
            ("since", ago(watch.created, world.clock())),
            ("to", ", ".join(watch.destinations)),
            ("without words", ", ".join(filters.exclude_words)),
            ("without sellers", ", ".join(filters.exclude_sellers)),
            ("sellers", filters.seller_kind or ""),
            ("price from", "" if filters.price_from is None else money(filters.price_from, "EUR")),
            ("price to", "" if filters.price_to is None else money(filters.price_to, "EUR")),
            ("drops of at least", _threshold(filters)),
            ("distance from", "" if watch.near is None else f"{watch.near[0]}, {watch.near[1]}"),
        ]
    )


app.command("set")(watch_set.set_watch)


@app.command("pause")
def pause(
    ctx: typer.Context,
    watch_id: watch_options.Watch,
    reason: Annotated[str, typer.Option("--reason", help="Why, shown in the list.")] = PAUSED_BY_PERSON,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Let a watch rest: what is found meanwhile is counted, not told.

    **Example:** `lago watch pause k4q --reason 'on holiday'`
    """
    world: World = ctx.obj
    _set_paused(world.open_stack(stack_name), watch_id, plain(reason) or PAUSED_BY_PERSON, as_json=as_json)


@app.command("resume")
def resume(
    ctx: typer.Context,
    watch_id: watch_options.Watch,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Let a paused watch run again; what it missed stays untold.

    **Example:** `lago watch resume k4q`
    """
    world: World = ctx.obj
    stack = world.open_stack(stack_name)
    warn_of_disabled(stack, _set_paused(stack, watch_id, "", as_json=as_json))


@app.command("remove")
def remove(
    ctx: typer.Context,
    watch_id: watch_options.Watch,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Remove a watch and cancel its unsent messages.

    **Example:** `lago watch remove k4q --yes`
    """
    world: World = ctx.obj
    stack = world.open_stack(stack_name)
    watch = find(stack.watches.all(), watch_id)
    if not yes:
        typer.confirm(f"Remove “{plain(watch.label)}” ({watch.id})?", abort=True, err=True)
    cancelled = stack.watches.remove(watch)
    if as_json:
        print_json({"removed": watch.id, "cancelled": cancelled})
        return
    messages = "" if not cancelled else f"; {cancelled} unsent message{'s' if cancelled > 1 else ''} cancelled"
    say(f"Removed “{plain(watch.label)}” ({watch.id}){messages}.")


def _set_paused(stack: Stack, watch_id: str, reason: str, *, as_json: bool) -> Watch:
    watch = find(stack.watches.all(), watch_id)
    if watch.paused != reason:
        stack.watches.set_paused(watch, reason)
        watch = msgspec.structs.replace(watch, paused=reason)
    if as_json:
        print_json(watch)
    else:
        say(f"“{plain(watch.label)}” ({watch.id}) is {state(watch)}.")
    return watch


def _threshold(filters: Filters) -> str:
    parts = []
    if filters.drop_percent is not None:
        parts.append(f"{filters.drop_percent:g} %")
    if filters.drop_amount is not None:
        parts.append(money(filters.drop_amount, "EUR"))
    return " or ".join(parts)
