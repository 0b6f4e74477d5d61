"""Api: what an owner asks over HTTP, behind an API key."""

import random
from functools import partial
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver
from aws_lambda_powertools.utilities.typing import LambdaContext

from lago.api.answers import errors
from lago.api.dead_letters import dead_letters
from lago.api.destinations import destinations
from lago.api.stats import stats
from lago.api.unsubscribe import unsubscribe
from lago.dead_letters import DeadLetters
from lago.observability import logged, observe
from lago.settings import queue_shards, search_shards
from lago.stats import read_stats
from lago.store.dead_letters import DeadLetterStore
from lago.store.mailboxes import MailboxStore
from lago.store.searches import CycleStore, SearchStore, SourceStore
from lago.unsubscribe import Unsubscribe
from lago.wiring.clock import now
from lago.wiring.directory import make_directory, make_trials
from lago.wiring.secrets import ParameterSecrets

observe()
mailboxes = MailboxStore(queue_shards())
figures = partial(
    read_stats,
    mailboxes=mailboxes,
    searches=SearchStore(),
    sources=SourceStore(),
    cycles=CycleStore(),
    search_shards=search_shards(),
    clock=now,
)
letters = DeadLetters(DeadLetterStore(mailboxes), clock=now, random=random.random)

app = APIGatewayRestResolver()
app.include_router(errors())
app.include_router(stats(figures))
app.include_router(dead_letters(letters, now))
app.include_router(unsubscribe(Unsubscribe(mailboxes, ParameterSecrets(""))))
app.include_router(destinations(make_directory(mailboxes), make_trials(), now))


@logged
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Routes the request."""
    return app.resolve(event, context)
