"""Ten series and no more; log lines that say what they are about and nothing private."""

import json
import logging
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from lago.correlation import about
from lago.domain.redact import hashed
from lago.errors import SettingError
from lago.http import Exchange, HttpClient, HttpSettings, NotSentError
from lago.observability import UNITS, Fetches, Values, logger, observe, observed, publish
from tests.fake_network import FakeNetwork, page
from tests.logged import Log, logged

CONTEXT: Any = SimpleNamespace(
    function_name="lago-drain",
    memory_limit_in_mb=256,
    invoked_function_arn="arn:aws:lambda:eu-central-1:123456789012:function:lago-drain",
    aws_request_id="r1",
)


@pytest.fixture(autouse=True)
def log() -> Iterator[Log]:
    with logged() as log:
        yield log


def an_exchange(ms: int = 20, *, reused: bool = True) -> Exchange:
    return Exchange(host="a.example", label="page", status=200, ms=ms, bytes=1, reused=reused, error="")


def invoke(capsys: pytest.CaptureFixture[str], *values: Values) -> list[dict[str, Any]]:
    """The metric lines of one invocation."""

    @observed
    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        for each in values:
            publish(each)
        return {}

    capsys.readouterr()
    handler({}, CONTEXT)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]


def series(lines: list[dict[str, Any]]) -> set[tuple[str, str, tuple[str, ...]]]:
    return {
        (directive["Namespace"], metric["Name"], tuple(dimensions))
        for line in lines
        for directive in line["_aws"]["CloudWatchMetrics"]
        for dimensions in directive["Dimensions"]
        for metric in directive["Metrics"]
    }


def test_everything_that_can_be_published_is_ten_series(capsys: pytest.CaptureFixture[str]) -> None:
    lines = invoke(capsys, dict.fromkeys(UNITS, 1))

    assert series(lines) == {("Lago", name, ("service",)) for name in UNITS}
    assert len(UNITS) == 10
    assert lines[0].keys() - UNITS.keys() == {"_aws", "service"}
    assert lines[0]["service"] == "lago-test"


def test_another_name_is_no_series(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError):
        publish({"Surprise": 1})

    assert invoke(capsys, {"Delivered": 1})[0].keys() == {"_aws", "service", "Delivered"}


def test_a_gauge_is_published_as_zero_too(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = invoke(capsys, {"DeadLetters": 0})

    assert line["DeadLetters"] == [0]


def test_each_request_is_a_value_of_its_own_so_that_percentiles_work(capsys: pytest.CaptureFixture[str]) -> None:
    fetches = Fetches()
    for n in range(250):  # more than a line holds of one metric
        fetches.add(an_exchange(n, reused=n > 0))

    lines = invoke(capsys, {"NewAds": 3}, fetches.take(), {"SourcesBlocked": 0})

    assert [ms for line in lines for ms in line.get("FetchLatency", [])] == list(range(250))
    assert sum(sum(line.get("ConnectionsReused", [])) for line in lines) == 249
    assert [line["NewAds"] for line in lines if "NewAds" in line] == [[3]]
    assert {dimensions for _, _, dimensions in series(lines)} == {("service",)}
    (unit,) = {
        metric["Unit"]
        for line in lines
        for metric in line["_aws"]["CloudWatchMetrics"][0]["Metrics"]
        if metric["Name"] == "FetchLatency"
    }
    assert unit == "Milliseconds"


def test_without_a_request_there_is_no_latency_instead_of_one_of_zero() -> None:
    fetches = Fetches()
    fetches.add(an_exchange())

    assert fetches.take() == {"FetchLatency": [20], "ConnectionsReused": [1]}
    assert fetches.take() == {}


def test_the_http_client_tells_of_each_request_also_of_one_that_failed() -> None:
    fetches = Fetches()
    network = FakeNetwork(page(), page(), httpx.ConnectError("refused"))
    client = HttpClient(HttpSettings(), transport=network, clock=lambda: 0.0, observer=fetches.add)
    for _ in range(2):
        client.get("https://a.example/", label="page")
    with pytest.raises(NotSentError):
        client.get("https://a.example/", label="page")

    seen = fetches.take()
    assert seen["FetchLatency"] == [0, 0, 0]
    assert list(seen["ConnectionsReused"])[:2] == [0, 1]


def test_a_dimension_more_leaves_the_series_that_alarms_look_at(capsys: pytest.CaptureFixture[str]) -> None:
    observe({"METRIC_DIMENSIONS": "function", "AWS_LAMBDA_FUNCTION_NAME": "lago-notify"})

    first = invoke(capsys, {"Delivered": 1}, {"Delivered": 2})
    second = invoke(capsys, {"Delivered": 1})

    for lines in (first, second):
        assert series(lines) == {("Lago", "Delivered", ("service",)), ("Lago", "Delivered", ("service", "function"))}
        assert lines[0]["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["service"], ["service", "function"]]
        assert lines[0]["function"] == "lago-notify"


def test_an_unknown_dimension_names_the_variable() -> None:
    with pytest.raises(SettingError, match=r"METRIC_DIMENSIONS: got 'chat', expected one of none, function"):
        observe({"METRIC_DIMENSIONS": "chat"})


def test_an_error_that_nobody_took_is_logged_with_its_cycle_and_goes_on_without_what_is_private(log: Log) -> None:
    @observed
    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        raise ValueError("maria@example.org at https://far.example/hook/abc?key=1")

    with pytest.raises(ValueError, match="removed") as caught:
        handler({"cycle": "c1"}, CONTEXT)

    failed = log.one("failed")
    assert (failed["level"], failed["cycle"], failed["function_request_id"]) == ("ERROR", "c1", "r1")
    assert "ValueError" in failed["exception"]
    for told in (str(caught.value), log.text.getvalue()):
        assert "maria" not in told
        assert "hook" not in told


def test_every_line_says_cycle_and_request_and_what_it_is_about(log: Log) -> None:
    @observed
    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        publish({"Delivered": 0})
        with about(search="s1"):
            logging.getLogger("lago.http").info("request", extra={"ms": 3})
        logging.getLogger("lago.drain").info("over")
        return {}

    handler({"cycle": "c1"}, CONTEXT)
    handler({}, CONTEXT)

    request = next(line for line in log.lines if line["message"] == "request")
    assert (request["cycle"], request["search"], request["ms"]) == ("c1", "s1", 3)
    assert (request["function_request_id"], request["service"], request["level"]) == ("r1", "lago-test", "INFO")
    over = [line for line in log.lines if line["message"] == "over"]
    assert [line.get("cycle") for line in over] == ["c1", None]
    assert not any("search" in line for line in over)


def test_threads_do_not_answer_for_each_others_search(log: Log) -> None:
    def work(search: str) -> None:
        with about(search=search):
            logging.getLogger("lago.http").info("request", extra={"label": search})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, [f"s{n}" for n in range(40)]))

    assert [(line["search"], line["label"]) for line in log.lines] == [(line["label"],) * 2 for line in log.lines]
    assert len(log.lines) == 40


def test_a_destination_is_a_digest_wherever_it_stands(log: Log) -> None:
    with about(destination="maria-phone"):
        logging.getLogger("lago.http").info("request")
    extra = {"report": {"destination": "maria-phone", "destinations": ["maria-phone"]}}
    logging.getLogger("lago.courier").info("sent", extra=extra)

    digest = hashed("maria-phone")
    assert log.one("request")["destination"] == digest
    assert log.one("sent")["report"] == {"destination": digest, "destinations": [digest]}
    assert "maria" not in log.text.getvalue()


@pytest.mark.parametrize(
    "secret",
    [
        "maria@example.org",
        "123456789:AAEhBOweik6ad9rHZQ3lk0dF4tF5lZ0d2bW",
        "https://hooks.slack.com/services/T000/B000/XXXX",
        "https://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz?keyword=verlobungsring",
    ],
)
def test_no_address_secret_or_search_gets_into_a_line(secret: str, log: Log) -> None:
    said = logging.getLogger("lago.courier")
    said.warning("could not send to %s", secret)
    said.warning(
        "sent", extra={"reason": f"refused: {secret}", "deep": [{"error": secret}], "object": ValueError(secret)}
    )
    try:
        raise ValueError(f"no such thing: {secret}")
    except ValueError:
        said.exception("failed")

    assert len(log.lines) == 3
    assert "Traceback" in log.one("failed")["exception"]
    for part in (secret, "maria@", "AAEhBOweik6ad9", "T000/B000", "verlobungsring"):
        assert part not in log.text.getvalue()


def test_lines_do_not_repeat_what_nobody_reads(log: Log) -> None:
    @observed
    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        publish({"Delivered": 0})
        logger.info("notified")
        return {}

    handler({"cycle": "c"}, CONTEXT)

    line = log.one("notified")
    assert not line.keys() & {"function_arn", "function_memory_size", "sampling_rate", "stack_trace"}
    assert len(json.dumps(line)) < 400


def test_debug_lines_come_only_from_a_sampled_invocation_and_only_from_us(log: Log) -> None:
    @observed
    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        publish({"Delivered": 0})
        logging.getLogger("lago.scrape").debug("search done")
        logger.debug("scraped")
        logging.getLogger("botocore.parsers").debug("Response body: the bot token")
        return {}

    logging.getLogger().setLevel(logging.DEBUG)  # as Lambda does where sampled lines are to be kept
    observe({})
    handler({}, CONTEXT)
    assert log.lines == []

    logger.sampling_rate = "1"
    handler({}, CONTEXT)
    assert [line["message"] for line in log.lines] == ["search done", "scraped"]
    assert not logging.getLogger("botocore.parsers").isEnabledFor(logging.DEBUG)
    assert not logging.getLogger("urllib3").isEnabledFor(logging.DEBUG)

    logger.sampling_rate = "0"
    handler({}, CONTEXT)
    assert len(log.lines) == 2


def test_a_function_without_figures_says_nothing_about_that(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as said:
        observe({})
        invoke(capsys)

    assert [str(each.message) for each in said] == []
