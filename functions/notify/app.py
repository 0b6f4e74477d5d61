"""Notify: woken by the searches table's stream, or handed a search by the cycle."""

from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from msgspec import to_builtins

from lago import http
from lago.correlation import about
from lago.domain.ids import DestinationId, SearchId
from lago.notify import NotifyReport, notify
from lago.observability import logger, observe, observed, publish
from lago.store.searches import SearchStore
from lago.store.watches import WatchStore
from lago.wiring.clock import deadline
from lago.wiring.sending import SendingSettings, make_mailboxes, make_sender
from lago.wiring.trying import make_trial

observe()
http.close_on_shutdown()
settings = SendingSettings.read()
mailboxes = make_mailboxes(settings)
sender = make_sender(settings, mailboxes)
try_one = make_trial(settings, mailboxes, sender)
searches, watches = SearchStore(), WatchStore()


@observed
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """A stream batch answers what failed; a hand-over (`{"search": id}`) and a test (`{"test": id}`) with a report."""
    if "test" in event:
        tried: dict[str, Any] = to_builtins(try_one(DestinationId(event["test"]), deadline(context)))
        return tried
    if "search" in event:
        report: dict[str, Any] = to_builtins(_notify(SearchId(event["search"]), context))
        return report

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
