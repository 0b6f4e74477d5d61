"""No secret gets out by what went wrong: by channels, the marketplace, the settings, the log, the dead letters.

Far sides like to quote what they were sent, and to tell secrets of their own. Whatever they say is kept in rows, shown
by `/stats` and written into the log, so that every way there is tried with secrets of every kind.
"""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import patch

import httpx
import pytest
from aws_lambda_powertools.utilities.parameters import SSMProvider
from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import json as structs

from lago.channels.registry import CHANNELS, target_spec
from lago.channels.telegram import TelegramChannel
from lago.courier import Candidate
from lago.dead_letters import DeadLetters
from lago.domain.dead_letter import EVERY
from lago.domain.ids import Milliseconds
from lago.errors import BadInputError, LagoError, SearchError, SettingError, SourceError
from lago.host_gate import HostGate
from lago.http import HttpClient, HttpSettings, TransportError
from lago.observability import logger, observed
from lago.settings import number
from lago.sources.willhaben import Willhaben, WillhabenSettings
from lago.stats import read_stats
from lago.wiring.secrets import ParameterSecrets
from tests.builders import ANY, ME, NOW, a_destination, a_query, a_row, an_event
from tests.fakes.dead_letters import FakeDeadLetters
from tests.fakes.searches import FakeSearches, FakeSources
from tests.fakes.sending import MINUTE, FakeSecrets, a_post
from tests.logged import logged
from tests.property.far_sides import SIDES
from tests.property.secrets import OWN_SAYINGS, SAYINGS, Secret, bot_tokens, secrets, shows

unhurried = settings(deadline=None, max_examples=60)
STATUSES = st.sampled_from([400, 401, 403, 404, 413, 422, 500, 503, 535, 550, 302])


@contextmanager
def the_log() -> Iterator[io.StringIO]:
    """What the functions would write meanwhile: the JSON lines of CloudWatch."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logger.registered_formatter)
    package = logging.getLogger("lago")
    package.addHandler(handler)
    level = package.level
    package.setLevel(logging.DEBUG)
    try:
        yield written
    finally:
        package.removeHandler(handler)
        package.setLevel(level)


def test_every_channel_is_tried() -> None:
    assert {name.partition(" ")[0] for name in SIDES} == set(CHANNELS)


@pytest.mark.parametrize("channel", SIDES)
@unhurried
@given(data=st.data(), status=STATUSES, way=st.sampled_from(list(OWN_SAYINGS)))
def test_a_far_side_that_quotes_what_it_was_sent_gets_it_nowhere(
    channel: str, data: st.DataObject, status: int, way: str
) -> None:
    kept, secret = data.draw(SIDES[channel].own)

    with the_log() as log:
        outcome = SIDES[channel].hears(kept, OWN_SAYINGS[way](secret.whole), status)

    assert not shows(secret, outcome.reason)
    assert not shows(secret, log.getvalue())


@pytest.mark.parametrize("channel", SIDES)
@unhurried
@given(data=st.data(), secret=secrets, status=STATUSES, way=st.sampled_from(list(SAYINGS)))
def test_a_far_side_that_tells_a_secret_of_its_own_gets_it_nowhere(
    channel: str, data: st.DataObject, secret: Secret, status: int, way: str
) -> None:
    kept, _ = data.draw(SIDES[channel].own)

    with the_log() as log:
        outcome = SIDES[channel].hears(kept, SAYINGS[way](secret.whole), status)

    assert not shows(secret, outcome.reason)
    assert not shows(secret, log.getvalue())


def quoting(secret: Secret, way: str, failure: type[Exception] | None, status: int = 500) -> HttpClient:
    """A client whose connection breaks with the secret in the error's text, or whose far side has it in each header."""

    def answer(request: httpx.Request) -> httpx.Response:
        said = SAYINGS[way](secret.whole)
        if failure is not None:
            raise failure(said)
        shown = said.encode("ascii", "replace").decode().replace("\r\n", " ")
        return httpx.Response(status, headers={"location": shown, "server": shown, "retry-after": shown}, text=said)

    return HttpClient(HttpSettings(), transport=httpx.MockTransport(answer))


FAILURES = st.sampled_from(
    [httpx.ConnectError, httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.InvalidURL, httpx.DecodingError]
)
WAYS = st.sampled_from(list(SAYINGS))


@unhurried
@given(secret=secrets, way=WAYS, failure=FAILURES)
def test_a_request_that_breaks_says_neither_its_url_nor_what_the_library_says(
    secret: Secret, way: str, failure: type[Exception]
) -> None:
    client = quoting(secret, way, failure)

    with the_log() as log, pytest.raises(TransportError) as caught:
        client.post(f"https://far.example/bot{secret.hidden.replace('/', '_')}", label="sendMessage", content=b"{}")

    told = f"{caught.value} {caught.value!r} {log.getvalue()}"
    assert not shows(secret, told)
    assert not shows(Secret("", secret.hidden.replace("/", "_")), told)


@unhurried
@given(secret=secrets, way=WAYS, failure=st.one_of(st.none(), FAILURES), status=STATUSES)
def test_a_marketplace_that_tells_secrets_gets_them_into_no_health(
    secret: Secret, way: str, failure: type[Exception] | None, status: int
) -> None:
    source = Willhaben(
        WillhabenSettings(),
        http=quoting(secret, way, failure, status),
        gate=HostGate(Milliseconds(0), clock=lambda: NOW, sleep=lambda _: None, random=lambda: 0.5),
        clock=lambda: NOW,
    )

    with the_log() as log, pytest.raises((SourceError, SearchError)) as caught:
        source.fetch(a_query(), 1)

    assert not shows(secret, f"{caught.value} {vars(caught.value)} {log.getvalue()}")


@unhurried
@given(secret=secrets)
def test_a_secret_in_a_setting_that_takes_none_is_not_repeated(secret: Secret) -> None:
    variables = {"RETRY_ATTEMPTS": secret.whole}

    with the_log() as log, pytest.raises(SettingError) as caught:
        number(variables, "RETRY_ATTEMPTS", 6, low=1, high=20)

    assert "RETRY_ATTEMPTS" in str(caught.value)
    assert not shows(secret, f"{caught.value} {log.getvalue()}")


@unhurried
@given(secret=secrets, way=WAYS)
def test_a_secret_that_cannot_be_read_is_named_and_not_told(secret: Secret, way: str) -> None:
    def fails(*_: object, **__: object) -> str:
        raise GetParameterError(SAYINGS[way](secret.whole))

    with patch.object(SSMProvider, "get", fails), the_log() as log:
        with pytest.raises(SettingError) as caught:
            ParameterSecrets("/lago/test/telegram-bot-token").get("")
        logging.getLogger("lago.test").error("could not send", exc_info=caught.value)

    assert "/lago/test/telegram-bot-token" in str(caught.value)
    assert not shows(secret, f"{caught.value} {log.getvalue()}")


@unhurried
@given(secret=secrets, way=WAYS)
def test_the_log_tells_no_secret_wherever_it_stands(secret: Secret, way: str) -> None:
    said = SAYINGS[way](secret.whole)

    with the_log() as log:
        try:
            raise LagoError(said)
        except LagoError:
            logging.getLogger("lago.test").exception(
                "failed: %s", said, extra={"report": {"notes": [said]}, "why": said}
            )

    line = json.loads(log.getvalue())
    assert (line["level"], line["exception_name"]) == ("ERROR", "LagoError")
    assert not shows(secret, log.getvalue())


@pytest.mark.parametrize("channel", [name for name in CHANNELS if target_spec(name).private])
@unhurried
@given(secret=secrets)
def test_a_target_that_is_refused_is_not_repeated(channel: str, secret: Secret) -> None:
    try:
        told = target_spec(channel).make(f" {secret.whole} ", bytes).address
    except BadInputError as error:
        told = f"{error} {error.value}"

    assert not shows(secret, told)


@unhurried
@given(token=bot_tokens, secret=secrets, way=WAYS, status=STATUSES)
def test_neither_rows_nor_dead_letters_nor_their_export_nor_stats_hold_a_secret(
    token: Secret, secret: Secret, way: str, status: int
) -> None:
    says = f"{SAYINGS[way](secret.whole)} {token.whole}"
    answer = httpx.Response(status, json={"ok": False, "error_code": status, "description": says})
    client = HttpClient(HttpSettings(), transport=httpx.MockTransport(lambda _: answer))
    post = a_post(in_memory=True)
    channel = TelegramChannel(client, api_url="https://api.telegram.org", clock=post.clock, sleep=post.clock.sleep)
    post = a_post(in_memory=True, channel=channel)
    post.mailboxes.put_destination(a_destination())
    row = a_row(an_event())

    with patch.object(FakeSecrets, "get", lambda *_, **__: token.whole), the_log() as log:
        post.sender.deliver(ME, [Candidate(row, (ANY,))], deadline=post.deadline)
        for _ in range(6):
            post.clock.now += 20 * MINUTE
            post.sender.drain(ME, soft=post.deadline, deadline=post.deadline)

    head, rows = post.mailboxes.head(ME), [*post.mailboxes.dead(ME), *post.mailboxes.waiting(ME, 10)]
    letters = DeadLetters(FakeDeadLetters(post.mailboxes.dead(ME)), clock=post.clock, random=lambda: 0.5)
    exported = [structs.encode(letter) for letter in letters.export(EVERY)]
    stats = read_stats(
        mailboxes=post.mailboxes,
        searches=FakeSearches(),
        sources=FakeSources(),
        cycles=SimpleNamespace(last=dict),
        search_shards=1,
        clock=post.clock,
    )
    assert rows
    kept = " ".join(each.decode() for each in (structs.encode([head, rows, stats]), *exported))
    for one in (secret, token):
        assert not shows(one, kept)
        assert not shows(one, log.getvalue())


@unhurried
@given(secret=secrets, way=WAYS)
def test_an_error_that_nobody_took_says_it_neither_in_the_log_nor_to_whoever_invoked(secret: Secret, way: str) -> None:
    @observed
    def handler(event: dict[str, object], context: object) -> dict[str, object]:
        raise RuntimeError(SAYINGS[way](secret.whole))

    context = SimpleNamespace(function_name="f", memory_limit_in_mb=1, invoked_function_arn="a", aws_request_id="r")
    with logged() as log, pytest.raises(RuntimeError) as caught:
        handler({}, context)  # type: ignore[arg-type]

    assert not shows(secret, f"{caught.value!r} {log.text.getvalue()}")
