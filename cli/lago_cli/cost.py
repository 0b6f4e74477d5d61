"""`lago cost`: what this month comes to, estimated from what was used."""

from datetime import UTC, datetime

import typer
from msgspec import Struct

from lago_cli import options
from lago_cli.cost_usage import Bill, bill, month_of, usages
from lago_cli.output import print_json, remark, row, say, show_table, table
from lago_cli.ports import World
from lago_cli.text import plain

_NUMBERS = frozenset({"used", "$ so far", "$ month", "free tier", "$ after it"})


class Estimate(Struct, frozen=True, kw_only=True):
    """All lines and their sums, in US dollars. `since` and `until` are what was counted."""

    since: str
    until: str
    lines: list[Bill]
    so_far: float
    month: float
    month_after_free: float


def cost(
    ctx: typer.Context, stack_name: options.StackName = options.DEFAULT_STACK, as_json: options.AsJson = False
) -> None:
    """Estimate what this month costs, from what the stack has used until now, and foretell its end.

    Counted by CloudWatch's figures, at AWS's list prices of us-east-1; the bill is AWS's. What the free tier covers is
    shown beside it: it is the account's, and other things in it may use it up.

    **Example:** `lago cost --json | jq .month`
    """
    world: World = ctx.obj
    deployment = world.deployment(stack_name)
    described = deployment.describe()
    period = month_of(world.clock(), described.created)
    lines = [bill(each, period) for each in usages(deployment, stack_name, period)]
    estimate = Estimate(
        since=_iso(period.start),
        until=_iso(period.now),
        lines=lines,
        so_far=sum(each.so_far for each in lines),
        month=sum(each.month for each in lines),
        month_after_free=sum(each.month_after_free for each in lines),
    )
    if as_json:
        print_json(estimate)
        return
    _print(estimate)
    if described.is_local:
        remark("A local cloud costs nothing: this is what AWS would ask for the same.")


def _print(estimate: Estimate) -> None:
    shown = table("what", "used", "unit", "$ so far", "$ month", "free tier", "$ after it", right=_NUMBERS)
    for each in estimate.lines:
        row(
            shown,
            each.what,
            _amount(each.used),
            each.unit,
            _dollars(each.so_far),
            _dollars(each.month),
            f"{each.free_share:.0%}" if each.used else "",
            _dollars(each.month_after_free),
        )
    sums = (estimate.so_far, estimate.month, estimate.month_after_free)
    row(shown, "in all", "", "", _dollars(sums[0]), _dollars(sums[1]), "", _dollars(sums[2]))
    show_table(shown)
    say(f"An estimate from {plain(estimate.since)} to {plain(estimate.until)}, in US dollars at list prices.")
    remark("Not in it: mail (SES), traces (X-Ray), data transfer, keys (KMS), taxes.")


def _amount(number: float) -> str:
    """A number of any size in a few characters.

    >>> [_amount(each) for each in (0, 0.00002, 0.0123, 9, 12.5, 43200)]
    ['0', '<0.001', '0.012', '9', '12.5', '43,200']
    """
    if 0 < number < 0.001:
        return "<0.001"
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.{3 if number < 1 else 1}f}"


def _dollars(amount: float) -> str:
    return "<0.01" if 0 < amount < 0.005 else f"{amount:.2f}"


def _iso(moment: int) -> str:
    return datetime.fromtimestamp(moment / 1000, UTC).isoformat(timespec="minutes").replace("+00:00", "Z")
