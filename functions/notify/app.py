"""Notify: woken by the searches table's stream; handed a search, a test, a bounce or a sign by others."""

from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from msgspec import to_builtins

from lago import http_shared
from lago.correlation import about
from lago.domain.ids import DestinationId, SearchId
from lago.mail_feedback import is_mail_feedback, take_mail_feedback
from lago.notify import NotifyReport, notify
from lago.observability import logger, observe, observed, publish
from lago.operator_reports import report_in, tell_now
from lago.store.searches import SearchStore
from lago.store.watches import WatchStore
from lago.wiring.clock import deadline
from lago.wiring.sending import SendingSettings, make_mailboxes, make_operator_alerts, make_sender
from lago.wiring.trying import make_trial

observe()
http_shared.close_on_shutdown()
settings = SendingSettings.read()
mailboxes = make_mailboxes(settings)
sender = make_sender(settings, mailboxes)
operator_alerts = make_operator_alerts(settings, mailboxes)
try_one = make_trial(settings, mailboxes, sender)
searches, watches = SearchStore(), WatchStore()


@observed
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """A stream batch answers what failed; all else with a report: a search handed over, a test, a bounce, a sign."""
    answer: dict[str, Any]
    if "search" in event:
        answer = to_builtins(_notify(SearchId(event["search"]), context))
        return answer
    if "test" in event:
        answer = to_builtins(try_one(DestinationId(event["test"]), deadline(context)))
        return answer
    if report := report_in(event):
        tally = tell_now(report, alerts=operator_alerts, sender=sender, deadline=deadline(context))
        publish({"Delivered": tally.delivered})
        answer = to_builtins(tally)
        return answer
    if is_mail_feedback(event):
        answer = to_builtins(take_mail_feedback(event, mailboxes=mailboxes))
        return answer

    def process(record: DynamoDBRecord) -> None:
        keys = record.dynamodb.keys if record.dynamodb else {}
        report = _notify(SearchId(keys["id"]), context)
        if report.failed:
            raise UnsettledOutboxError(report.search)

    return dict(process_partial_response(event, process, BatchProcessor(EventType.DynamoDBStreams), context))


class UnsettledOutboxError(Exception):
    """A destination could not be served: the record comes again."""


def _notify(search: SearchId, context: LambdaContext) -> NotifyReport:
    with about(search=search):
        report = notify(search, searches=searches, watches=watches, sender=sender, deadline=deadline(context))
        publish({"Delivered": report.tally.delivered})
        say = logger.info if report.events else logger.debug  # another may have emptied the outbox
        say("notified", extra={"report": to_builtins(report)})
    return report
