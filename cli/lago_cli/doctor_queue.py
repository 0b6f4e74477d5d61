"""The doctor's checks of the work itself: what waits, what died, who is not told, what is not read."""

from collections.abc import Iterator

from lago_cli.doctor_case import MOST_SHOWN, TELEGRAM, Case, Check, Finding, fine, warning, wrong
from lago_cli.standing import mended_by
from lago_cli.text import plain, span
from lago_cli.troubles import names_of

_LATE_SECONDS = 300
_TOO_LATE_SECONDS = 900
"""As the alarm on the oldest due notification."""


def backlog_is_short(case: Case) -> Iterator[Finding]:
    """What waits, and how long the oldest mailbox has been due."""
    pending, due = case.stats["pending"]["total"], case.stats["pending_due"]
    age = case.stats["oldest_due_age_seconds"]
    said = f"{_count(pending, 'notification')} waiting, {due} of them due"
    overdue = f"{said}; the oldest for {span(int(age * 1000))}"
    if age > _TOO_LATE_SECONDS:
        yield wrong(overdue, "see `lago logs --function drain --errors`, then run `lago cycle`")
    elif age > _LATE_SECONDS:
        yield warning(overdue, "the next cycles should bring it down; if not, see `lago logs --function drain`")
    else:
        yield fine(said)


def nothing_is_dead(case: Case) -> Iterator[Finding]:
    """Dead letters wait for a person."""
    dead = case.stats["dead"]["total"]
    if not dead:
        yield fine("none")
        return
    by_channel = ", ".join(f"{plain(name)} {n}" for name, n in sorted(case.stats["dead"]["by_channel"].items()) if n)
    yield wrong(
        f"{_count(dead, 'notification')} could not be delivered ({by_channel})",
        "`lago dead list` says why; then `lago dead redrive` or `lago dead discard`",
    )


def everybody_is_told(case: Case) -> Iterator[Finding]:
    """Destinations that refuse messages, and watches that rest."""
    if not case.destinations:
        yield warning("there is no destination: nobody is told anything", "run `lago setup`")
    disabled = [each for each in case.destinations if each.disabled]
    for each in disabled[:MOST_SHOWN]:
        again = f"mend it, then `{mended_by(plain(each.id), each.channel, each.disabled)}`"
        if each.channel == TELEGRAM:
            again += "; watches that this paused go on by `lago watch resume WATCH`"
        yield wrong(f"“{plain(each.id)}” is disabled: {plain(each.disabled)}", again)
    works = len(case.destinations) - len(disabled)
    if works:
        yield fine(f"{_count(works, 'destination')} without a refusal")
    known = {each.id for each in case.destinations}
    for watch in case.watches[: MOST_SHOWN * 10]:
        label = f"“{plain(watch.label, 60)}” ({plain(watch.id)})"
        missing = [plain(each) for each in watch.destinations if each not in known]
        if missing:
            yield wrong(f"watch {label} tells {', '.join(missing)}, which is not there", "remove it and add it anew")
        elif watch.paused:
            yield warning(f"watch {label} is paused: {plain(watch.paused)}", f"`lago watch resume {plain(watch.id)}`")


def searches_are_read(case: Case) -> Iterator[Finding]:
    """Searches that fail or have a gap."""
    failing = case.stats["failing_searches"]
    names = names_of(case.watches)
    for each in failing[:MOST_SHOWN]:
        search = names.get(each["search"], plain(each["search"]))
        yield warning(
            f"{search}: {plain(each['reason'])}",
            "open the search in a browser; if it is gone or means something else now, watch it anew",
        )
    if len(failing) > MOST_SHOWN:
        yield warning(f"and {len(failing) - MOST_SHOWN} more", "`lago stats` lists them")
    if not failing:
        watched = case.stats["searches"]
        yield fine(f"{_count(watched, 'search', 'searches')} read without trouble" if watched else "nothing is watched")


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


CHECKS = (
    Check("backlog", backlog_is_short),
    Check("dead letters", nothing_is_dead),
    Check("destinations", everybody_is_told),
    Check("searches", searches_are_read),
)
