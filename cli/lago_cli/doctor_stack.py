"""The doctor's checks of the deployment: the stack, its parameters, its schedule, alarms, quotas and backups."""

import re
from collections.abc import Iterator

from lago import __version__
from lago_cli.deployment import Described, of_kind, the
from lago_cli.doctor_case import Case, Check, Finding, epoch, fine, warning, wrong
from lago_cli.text import plain, span

_GOOD = frozenset({"CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "IMPORT_COMPLETE"})
_ROLLED_BACK = frozenset({"UPDATE_ROLLBACK_COMPLETE", "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS"})
_DELETE = ", `sam delete` what is left of it"
_FIRST = {
    "CREATE_FAILED": _DELETE,
    "ROLLBACK_COMPLETE": _DELETE,
    "ROLLBACK_FAILED": _DELETE,
    "DELETE_FAILED": _DELETE,
    "UPDATE_ROLLBACK_FAILED": ", continue its rollback there",
}
"""What CloudFormation wants before it updates a stack again."""
_MAIL = "email"
_SKEW_MS = 60_000
_REFUSED_SKEW_MS = 5 * 60_000
"""AWS refuses requests that are signed at another time than its own by this much (Signature Version 4)."""
_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_UNIT_SECONDS = {"minute": 60, "hour": 3_600, "day": 86_400}
_LEAST_CONCURRENCY = 10
"""What a new account has; Lago's five kinds of invocation (drain, scrape, notify, api, a retry of one) fit into it."""
_POLITE_SPACING_MS = 250
_LATE_CYCLES = 3
"""Intervals without a cycle after which the schedule is taken not to work, and at least `_LATE_SECONDS`."""
_LATE_SECONDS = 300


def stack_is_deployed(case: Case) -> Iterator[Finding]:
    """The stack's status, its version against this command's, and whether its tables can be read."""
    described = case.described
    said = f"stack {plain(case.name)}: {described.status}"
    if described.status in _GOOD:
        yield fine(said)
    elif described.status in _ROLLED_BACK:
        yield warning(
            f"{said}: the last deployment failed, what was there before runs on",
            "see why in the stack's events (CloudFormation in the console), then deploy again",
        )
    elif described.status == "REVIEW_IN_PROGRESS":
        yield wrong(f"{said}: its first deployment was not carried out", "run `sam deploy` and confirm what it shows")
        return
    elif described.status.endswith("IN_PROGRESS") and "ROLLBACK" not in described.status:
        yield warning(f"{said}: a deployment is under way", "run `lago doctor` again when it is over")
    else:
        reason = f" ({plain(described.reason)})" if described.reason else ""
        first = _FIRST.get(described.status, "")
        yield wrong(
            f"{said}{reason}",
            f"see why in the stack's events (CloudFormation in the console){first}, then deploy again",
        )
    deployed = described.outputs.get("Version")
    if deployed != __version__:
        yield warning(
            f"the stack runs version {plain(deployed or 'before 0.1')}, this command is {__version__}",
            "deploy this checkout (`make deploy`), or use the command of the version that is deployed",
        )
    _ = case.stats  # raises, in words, what keeps its tables from being read


def parameters_fit(case: Case) -> Iterator[Finding]:
    """Parameters that are each allowed and do not go together, or leave somebody in the dark."""
    found = [*_that_do_not_fit(case.described), *_that_channels_lack(case), *_that_nobody_hears(case)]
    yield from found or [fine("they go together")]


def _that_do_not_fit(described: Described) -> Iterator[Finding]:
    given = described.parameters
    interval = interval_seconds(given.get("ScheduleRate", ""))
    keep, spacing = _number(given, "HttpKeepaliveSeconds"), _number(given, "RequestSpacingMs")
    if interval and keep is not None and keep <= interval:
        yield warning(
            f"HttpKeepaliveSeconds is {keep:g}, a cycle comes every {interval} s: no connection lives to the next one",
            f"set HttpKeepaliveSeconds above {interval}",
        )
    full = _number(given, "ScrapeFullMinutes")
    if interval and full is not None and full * 60 < interval:
        yield warning(
            f"ScrapeFullMinutes is {full:g}, less than the schedule's interval: every read is a full one",
            f"set ScrapeFullMinutes to {interval // 60} or more",
        )
    for low, high in (("ScrapeMaxPages", "ScrapeHardPages"), ("RetryBaseSeconds", "RetryCapSeconds")):
        least, most = _number(given, low), _number(given, high)
        if least is not None and most is not None and least > most:
            yield warning(f"{low} is {least:g} and {high} {most:g}: the second bounds the first", f"set {high} higher")
    if spacing is not None and spacing < _POLITE_SPACING_MS and not described.is_local:
        yield warning(
            f"RequestSpacingMs is {spacing:g}: less than what Lago asks of a marketplace by default",
            f"set RequestSpacingMs to {_POLITE_SPACING_MS} or more",
        )
    if not described.is_local:
        for name in ("TelegramApiUrl", "WillhabenBaseUrl"):
            if given.get(name, "").startswith("http://"):
                yield wrong(f"{name} begins with http://: what is sent there can be read on its way", "use https://")
        if given.get("TableRetention") == "Delete":
            yield warning(
                "TableRetention is Delete: the tables go when the stack is deleted", "set TableRetention to Retain"
            )
        if not given.get("Contact"):
            yield warning(
                "Contact is empty: the marketplace cannot reach whoever runs this",
                "set Contact to a mail address or page",
            )


def _that_channels_lack(case: Case) -> Iterator[Finding]:
    given, channels = case.described.parameters, {each.channel for each in case.destinations}
    if _MAIL in channels and not given.get("MailFrom"):
        yield wrong("MailFrom is empty: no mail is sent", "set MailFrom to an address that you may send from")
    if "apprise" in channels and given.get("UseApprise") != "true":
        yield wrong("UseApprise is not true: nothing is sent through Apprise", "set UseApprise to true")


def _that_nobody_hears(case: Case) -> Iterator[Finding]:
    given = case.described.parameters
    operator = given.get("OperatorDestination", "")
    if operator and operator not in {each.id for each in case.destinations}:
        yield wrong(
            f"OperatorDestination is {plain(operator)!r}, which is no destination of this stack",
            "name one that `lago destination list` shows, or none",
        )
    if not operator and not given.get("AlarmEmail") and not case.described.is_local:
        yield warning(
            "neither AlarmEmail nor OperatorDestination is set: nobody hears of dead letters",
            "set one of them at the next deployment",
        )


def clock_is_right(case: Case) -> Iterator[Finding]:
    """This machine's clock against AWS's."""
    before = case.world.clock()
    aws = case.deployment.clock()
    if aws is None:
        yield warning("AWS did not say what time it is")
        return
    # the header counts whole seconds, and the answer took a while
    after = case.world.clock()
    off = max(before - aws - 1_000, aws - after, 0)
    said = f"this machine's clock is {span(off)} off AWS's"
    if off >= _REFUSED_SKEW_MS:
        yield wrong(f"{said}: AWS refuses what is signed with it", "set the clock (turn on time synchronisation)")
    elif off > _SKEW_MS:
        yield warning(said, "set the clock (turn on time synchronisation)")
    else:
        yield fine("this machine and AWS agree")


def schedule_runs(case: Case) -> Iterator[Finding]:
    """Whether cycles are asked for, when the last one ran, and how far apart they really are."""
    schedule = case.deployment.schedule(the(case.resources, "CycleSchedule").id)
    interval = interval_seconds(schedule.expression)
    now = case.world.clock()
    if not schedule.enabled:
        yield warning("the schedule is disabled: no cycle runs by itself", "deploy with ScheduleState=ENABLED")
    cycles = case.stats["cycles"]
    if not cycles and schedule.enabled:
        yield wrong(
            "no cycle has run yet",
            "wait two minutes after the first deployment, then see `lago logs --since 10min`",
        )
    for cycle in cycles:
        yield from _cycle(cycle, now - epoch(cycle["started"]), interval if schedule.enabled else None)


def _cycle(cycle: dict[str, object], age_ms: int, interval: int | None) -> Iterator[Finding]:
    said = f"shard {cycle['shard']}: last cycle {span(age_ms)} ago"
    achieved = cycle["interval_seconds"]
    if interval and age_ms > 1_000 * max(_LATE_CYCLES * interval, _LATE_SECONDS):
        yield wrong(f"{said}, one is due every {interval} s", "see `lago logs --since 1h --errors`, then `lago cycle`")
    elif cycle["finished"] is None and age_ms > 1_000 * _LATE_SECONDS:
        yield wrong(f"{said}, and it never finished", "see `lago logs --since 1h --errors`")
    elif interval and isinstance(achieved, int | float) and achieved > 2 * interval:
        yield warning(
            f"{said}, {achieved:.0f} s after the one before: {interval} s were asked for",
            "see `lago logs --function scrape --since 1h`; fewer searches a shard or a slower ScheduleRate fit better",
        )
    else:
        after = f", {achieved:.0f} s after the one before" if isinstance(achieved, int | float) else ""
        yield fine(said + after)


def alarms_are_quiet(case: Case) -> Iterator[Finding]:
    """Alarms in ALARM, and whether whoever should hear of them does."""
    kinds = ("CloudWatch::Alarm", "CloudWatch::CompositeAlarm")
    ids = [each.id for kind in kinds for each in of_kind(case.resources, kind)]
    alarms = case.deployment.alarms(ids)
    ringing = [each for each in alarms if each.state == "ALARM"]
    for each in ringing:
        yield wrong(
            f"{plain(each.name)} is in ALARM: {plain(each.means)}", "docs/operations.md has a runbook for each alarm"
        )
    if not ringing:
        yield fine(f"none of {len(alarms)} is in ALARM" if alarms else "the stack has none")
    hear = [each for topic in of_kind(case.resources, "SNS::Topic") for each in case.deployment.subscribers(topic.id)]
    for subscriber in hear:
        if not subscriber.confirmed:
            yield wrong(
                f"{plain(subscriber.endpoint)} has not confirmed that it wants alarms, and gets none",
                "click the link in the mail from AWS Notifications; in the SNS console it can be asked for again",
            )
    asked = case.described.parameters.get("AlarmEmail", "")
    if asked and asked not in {each.endpoint for each in hear}:
        yield wrong(
            f"{plain(asked)} gets no alarms: it has unsubscribed, or did not confirm in time and AWS took it out",
            "subscribe it to the stack's AlarmTopic in the SNS console, and click the link in the mail",
        )


def quotas_suffice(case: Case) -> Iterator[Finding]:
    """How many functions the account may run at a time; whether SES sends to everybody, if it is used."""
    if case.described.is_local:
        yield fine("a local cloud has none")
        return
    limit = case.deployment.concurrency()
    said = f"{limit} functions may run at a time in this account"
    if limit < _LEAST_CONCURRENCY:
        yield wrong(f"{said}: too few for Lago", "ask for more in Service Quotas (Lambda, concurrent executions)")
    elif limit == _LEAST_CONCURRENCY:
        yield warning(
            f"{said}: enough for Lago alone, and none can be reserved",
            "if something else runs here, ask for more in Service Quotas (Lambda, concurrent executions; it is free)",
        )
    else:
        yield fine(said)
    uses_ses = not case.described.parameters.get("SmtpParameter")
    if uses_ses and any(each.channel == _MAIL for each in case.destinations):
        if case.deployment.mail_is_limited():
            yield wrong(
                "SES is in its sandbox: it sends to verified addresses only",
                "verify the recipients' addresses, or ask for production access in the SES console",
            )
        else:
            yield fine("SES sends to everybody")


def data_is_kept(case: Case) -> Iterator[Finding]:
    """Backups of the tables, and logs that end some day."""
    if case.described.is_local:
        yield fine("a local cloud keeps its state in a folder")
        return
    tables = case.deployment.tables([each.id for each in of_kind(case.resources, "DynamoDB::Table")])
    bare = [plain(each.id) for each in tables if not each.restorable]
    if bare:
        yield wrong(
            f"no point-in-time recovery: {', '.join(bare)}", "deploy again, or turn it on in the DynamoDB console"
        )
    else:
        yield fine(f"{len(tables)} tables can be restored to any second of the last 35 days")
    groups = [each.id for each in of_kind(case.resources, "Logs::LogGroup")]
    endless = [plain(each) for each in groups if case.deployment.retention_days(each) is None]
    if endless:
        yield warning(f"kept for ever: {', '.join(endless)}", "deploy again (LogRetentionDays)")


def _number(given: dict[str, str], name: str) -> float | None:
    """A parameter; None when this version of the stack has none of that name."""
    try:
        return float(given[name])
    except (KeyError, ValueError):
        return None


def interval_seconds(expression: str) -> int | None:
    """The seconds between two cycles; None for a cron expression, whose intervals differ.

    >>> interval_seconds("rate(5 minutes)")
    300
    """
    match = _RATE.fullmatch(expression)
    return None if match is None else int(match[1]) * _UNIT_SECONDS[match[2]]


CHECKS = (
    Check("deployment", stack_is_deployed, vital=True),
    Check("clock", clock_is_right),
    Check("parameters", parameters_fit),
    Check("schedule", schedule_runs),
    Check("alarms", alarms_are_quiet),
    Check("quotas", quotas_suffice),
    Check("retention", data_is_kept),
)
