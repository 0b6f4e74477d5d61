"""Drain: retries what is due, before each scrape."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from msgspec import to_builtins

from lago import http_shared
from lago.drain import drain
from lago.observability import logger, observe, observed, publish
from lago.wiring.clock import deadline, now
from lago.wiring.sending import DrainFunctionSettings, make_drain_signs, make_mailboxes, make_sender

observe()
http_shared.close_on_shutdown()
settings = DrainFunctionSettings.read()
mailboxes = make_mailboxes(settings.sending)
sender = make_sender(settings.sending, mailboxes)
signs = make_drain_signs(settings, mailboxes)


@observed
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Answers with the drain's report; publishes how the queue stands, also when it is empty."""
    signs.begin()
    report = drain(
        mailboxes=mailboxes,
        sender=sender,
        clock=now,
        batch=settings.batch,
        budget=settings.budget,
        deadline=deadline(context),
    )
    publish(
        {
            "PendingNotifications": report.pending,
            "DeadLetters": report.dead,
            "OldestDueAge": report.oldest_due_ms / 1000,
            "Delivered": report.tally.delivered,
            "Retried": report.tally.retried,
        }
    )
    signs.look(dead=report.dead, pending=report.pending)
    answer: dict[str, Any] = to_builtins(report)
    say = logger.info if report.mailboxes else logger.debug
    say("drained", extra={"report": answer})
    return answer
