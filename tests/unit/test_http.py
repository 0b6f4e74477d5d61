import gzip
import logging
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from lago import http_shared
from lago.errors import SettingError
from lago.http import (
    HttpClient,
    HttpSettings,
    NoAnswerError,
    NotSentError,
    TooSlowError,
    TransportError,
    UnreadableAnswerError,
)
from tests.fake_network import Answer, FakeNetwork, page

URL = "https://api.example/bot123:SECRET/sendMessage?text=private"


def client_over(
    *answers: Answer, kept: int = 0, clock: Callable[[], float] = lambda: 0.0, **settings: Any
) -> tuple[HttpClient, FakeNetwork]:
    network = FakeNetwork(*answers, kept=kept)
    return HttpClient(HttpSettings(**settings), transport=network, clock=clock), network


def test_a_get_returns_the_whole_answer() -> None:
    client, _ = client_over(page(203, b"hello", X_Thing="1"))

    reply = client.get(URL, label="test")

    assert (reply.status, reply.content, reply.headers["x-thing"]) == (203, b"hello", "1")


def test_the_second_request_reuses_the_connection_of_the_first() -> None:
    client, _ = client_over(page(), page())

    assert [client.get(URL, label="test").reused for _ in range(2)] == [False, True]


DEAD: list[Exception] = [httpx.RemoteProtocolError("gone"), httpx.ReadError("reset"), httpx.WriteError("broken pipe")]


@pytest.mark.parametrize("death", DEAD)
def test_a_get_on_a_connection_that_died_while_frozen_is_sent_again(death: Exception) -> None:
    client, network = client_over(death, page(), kept=1)

    assert client.get(URL, label="test").status == 200
    assert len(network.requests) == 2


def test_all_connections_may_have_died_while_frozen() -> None:
    client, network = client_over(DEAD[0], DEAD[1], DEAD[0], DEAD[0], page(), kept=4)

    assert client.get(URL, label="test").reused is False
    assert len(network.requests) == 5


@pytest.mark.parametrize("death", DEAD)
def test_a_get_that_fails_on_a_fresh_connection_is_not_sent_again(death: Exception) -> None:
    client, network = client_over(death)

    with pytest.raises(NoAnswerError):
        client.get(URL, label="test")
    assert len(network.requests) == 1


def test_a_get_is_sent_again_over_a_fresh_connection_only_once() -> None:
    client, network = client_over(DEAD[0], DEAD[0], kept=1)

    with pytest.raises(NoAnswerError):
        client.get(URL, label="test")
    assert len(network.requests) == 2


@pytest.mark.parametrize("error", [httpx.ReadTimeout("slow"), httpx.ConnectError("refused")])
def test_other_failures_of_a_get_are_not_sent_again(error: Exception) -> None:
    client, network = client_over(error, kept=1)

    with pytest.raises(TransportError):
        client.get(URL, label="test")
    assert len(network.requests) == 1


@pytest.mark.parametrize("death", DEAD)
def test_a_post_is_never_sent_again_even_over_a_dead_connection(death: Exception) -> None:
    client, network = client_over(death, kept=1)

    with pytest.raises(NoAnswerError):
        client.post(URL, label="test", content=b"{}")
    assert len(network.requests) == 1


@pytest.mark.parametrize("error", [httpx.ConnectError("x"), httpx.ConnectTimeout("x"), httpx.PoolTimeout("x")])
def test_a_request_that_had_no_connection_was_not_sent(error: Exception) -> None:
    client, _ = client_over(error)

    with pytest.raises(NotSentError, match=type(error).__name__):
        client.post(URL, label="test", content=b"")


@pytest.mark.parametrize("url", ["https://", "nonsense", "ftp://example/x", "https://exa mple/\x00"])
def test_an_address_that_cannot_be_asked_was_not_sent(url: str) -> None:
    with HttpClientOverNothing() as client, pytest.raises(NotSentError):
        client.get(url, label="test")


class HttpClientOverNothing:
    """A client with httpx's own transport, which refuses odd addresses before it opens a socket."""

    def __enter__(self) -> HttpClient:
        self.client = HttpClient(HttpSettings())
        return self.client

    def __exit__(self, *_: object) -> None:
        self.client.close()


@pytest.mark.parametrize("error", [httpx.ReadTimeout("x"), httpx.WriteTimeout("x"), httpx.RemoteProtocolError("x")])
def test_a_request_that_left_without_an_answer_is_ambiguous(error: Exception) -> None:
    client, _ = client_over(error)

    with pytest.raises(NoAnswerError) as caught:
        client.post(URL, label="test", content=b"")
    assert not isinstance(caught.value, UnreadableAnswerError)


def broken_body() -> Iterator[bytes]:
    yield b"half"
    raise httpx.ReadError("reset")


def test_a_get_whose_answer_broke_off_is_not_sent_again() -> None:
    client, network = client_over(httpx.Response(200, content=broken_body()), kept=1)

    with pytest.raises(NoAnswerError):
        client.get(URL, label="test")
    assert len(network.requests) == 1


def test_an_answer_larger_than_the_limit_is_not_read_on() -> None:
    client, _ = client_over(page(content=b"x" * 11), max_bytes=10)

    with pytest.raises(UnreadableAnswerError, match="larger than 10 bytes"):
        client.get(URL, label="test")


def test_the_limit_counts_what_comes_out_of_the_compression() -> None:
    bomb = page(content=gzip.compress(b"0" * 1_000_000), content_encoding="gzip")
    client, _ = client_over(bomb, max_bytes=10_000)

    with pytest.raises(UnreadableAnswerError):
        client.get(URL, label="test")


def test_a_bomb_is_defused_before_it_takes_memory() -> None:
    packed = gzip.compress(b"0" * 60_000_000)  # one piece of what comes over the wire at a time
    client, _ = client_over(
        httpx.Response(200, content=iter([packed]), headers={"content-encoding": "gzip"}), max_bytes=10_000
    )
    tracemalloc.start()

    with pytest.raises(UnreadableAnswerError):
        client.get(URL, label="test")

    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 5_000_000


def test_gzip_is_asked_for_and_unpacked() -> None:
    client, network = client_over(page(content=gzip.compress(b"hello"), content_encoding="gzip"))

    assert client.get(URL, label="test").content == b"hello"
    assert network.requests[0].headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "deflate", "unknown"])
def test_layers_of_compression_and_unknown_ones_are_refused(encoding: str) -> None:
    client, _ = client_over(httpx.Response(200, content=iter([b"x"]), headers={"content-encoding": encoding}))

    with pytest.raises(UnreadableAnswerError, match="encoding"):
        client.get(URL, label="test")


def test_broken_compression_is_an_unreadable_answer() -> None:
    client, _ = client_over(
        lambda _: httpx.Response(200, content=iter([b"not gzip"]), headers={"content-encoding": "gzip"})
    )

    with pytest.raises(UnreadableAnswerError):
        client.get(URL, label="test")


def test_an_answer_that_trickles_is_given_up() -> None:
    now = iter(range(0, 1000, 8))
    client, _ = client_over(httpx.Response(200, content=iter([b"a", b"b", b"c", b"d"])), clock=lambda: next(now))

    with pytest.raises(TooSlowError, match="took longer than 20 s"):
        client.get(URL, label="test")


def test_cookies_are_not_kept() -> None:
    client, network = client_over(page(Set_Cookie="id=1; Path=/; Domain=api.example"), page())

    client.get(URL, label="test")
    client.get(URL, label="test")

    assert "cookie" not in network.requests[1].headers


def test_redirects_are_the_callers_to_follow() -> None:
    client, network = client_over(page(302, Location="https://evil.example/"))

    assert client.get(URL, label="test").headers["location"] == "https://evil.example/"
    assert len(network.requests) == 1


def test_each_request_logs_one_line_without_its_address(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client, _ = client_over(page(content=b"hello"), page(), httpx.ReadTimeout(URL))

    client.get(URL, label="telegram")
    client.get(URL, label="telegram")
    with pytest.raises(NoAnswerError):
        client.get(URL, label="telegram")

    lines: list[Any] = [record for record in caplog.records if record.name == "lago.http"]
    assert [(r.host, r.label, r.status, r.reused, r.error) for r in lines] == [
        ("api.example", "telegram", 200, False, ""),
        ("api.example", "telegram", 200, True, ""),
        ("api.example", "telegram", None, True, "ReadTimeout"),
    ]
    assert all(isinstance(r.ms, int) and isinstance(r.bytes, int) for r in lines)


def test_no_token_reaches_a_log_or_an_error(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client, _ = client_over(page(), httpx.ConnectError(URL))

    client.get(URL, label="telegram")
    with pytest.raises(NotSentError) as caught:
        client.post(URL, label="telegram", content=b"SECRET")

    logged = "".join(str(vars(record)) for record in caplog.records)
    assert "SECRET" not in logged
    assert "SECRET" not in f"{caught.value!r} {caught.value.__dict__} {caught.value.__cause__!r}"
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("field", HttpSettings.__struct_fields__)
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_limit_that_lets_nothing_through_is_a_setting_error(field: str, value: Any) -> None:
    with pytest.raises(SettingError, match=field):
        HttpSettings(**{field: value})


def test_a_process_has_one_client_until_it_is_closed() -> None:
    first = http_shared.client(HttpSettings())
    assert http_shared.client(HttpSettings(max_connections=9)) is first

    http_shared.close()
    http_shared.close()

    assert first.closed
    second = http_shared.client(HttpSettings())
    assert second is not first
    http_shared.close()
