"""The guarded client against real sockets, names that lie, certificates and servers that go on for ever."""

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import httpcore
import pytest
import trustme

from lago.http import ForbiddenTargetError, HttpClient, HttpSettings, NoAnswerError, NotSentError, Reply
from lago.http_backend import GuardedBackend, guarded_client
from lago.http_guard import NONE_TRUSTED, Trusted, read_origins
from tests.web_server import Answer, WebServer, serving

SETTINGS = HttpSettings(connect_seconds=1, read_seconds=0.5, total_seconds=1, max_bytes=64 * 1024)
PUBLIC, OTHER_PUBLIC = "93.184.215.14", "8.8.8.8"


class Internet(httpcore.NetworkBackend):
    """Every address leads to one server on loopback; remembers which were asked for, and refuses `dead` ones."""

    def __init__(self, port: int, *dead: str) -> None:
        self._port, self._dead = port, dead
        self.asked: list[tuple[str, int]] = []

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        self.asked.append((host, port))
        if host in self._dead:
            raise httpcore.ConnectError("refused")
        return httpcore.SyncBackend().connect_tcp("127.0.0.1", self._port, timeout)


class Names:
    """A resolver that gives its answers in turn, and counts."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, _port: int) -> Sequence[str]:
        self.asked.append(host)
        return self._answers.pop(0)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def hook_certificate(authority: trustme.CA) -> ssl.SSLContext:
    return certificate(authority, "hook.example.org")


def certificate(authority: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@contextmanager
def client_to(
    internet: Internet,
    names: Callable[[str, int], Sequence[str]],
    authority: trustme.CA,
    settings: HttpSettings = SETTINGS,
) -> Iterator[HttpClient]:
    guard = GuardedBackend(settings, resolve=names, network=internet)
    client = HttpClient(settings, guard=guard, ssl_context=trusting(authority))
    try:
        yield client
    finally:
        client.close()


@contextmanager
def trial(*answers: Answer, settings: HttpSettings = SETTINGS) -> Iterator[tuple[HttpClient, WebServer]]:
    with serving(*answers) as server:
        client = guarded_client(settings, read_origins(server.origin, "TRUSTED_ORIGINS"))
        try:
            yield client, server
        finally:
            client.close()


def post(client: HttpClient, url: str) -> Reply:
    return client.post(url, label="test", content=b"{}")


def test_a_public_host_is_connected_to_by_its_address_and_known_by_its_name(
    authority: trustme.CA, hook_certificate: ssl.SSLContext
) -> None:
    greeted: list[str] = []
    hook_certificate.sni_callback = lambda _socket, name, _context: greeted.append(name)
    names = Names([PUBLIC])

    with serving(ssl_context=hook_certificate) as server:
        internet = Internet(server.port)
        with client_to(internet, names, authority) as client:
            assert post(client, "https://hook.example.org/x").status == 200

        assert internet.asked == [(PUBLIC, 443)]
        assert names.asked == ["hook.example.org"]
        assert greeted == ["hook.example.org"]
        assert server.requests[0].headers["host"] == "hook.example.org"
    hook_certificate.sni_callback = None


@pytest.mark.parametrize("name", ["other.example.org", PUBLIC])
def test_a_certificate_for_another_name_is_refused(authority: trustme.CA, name: str) -> None:
    with serving(ssl_context=certificate(authority, name)) as server:
        internet = Internet(server.port)
        with (
            client_to(internet, Names([PUBLIC]), authority) as client,
            pytest.raises(NotSentError, match="certificate is not good"),
        ):
            post(client, "https://hook.example.org/x")

        assert server.requests == []


def test_a_certificate_of_an_unknown_authority_is_refused(hook_certificate: ssl.SSLContext) -> None:
    with (
        serving(ssl_context=hook_certificate) as server,
        client_to(Internet(server.port), Names([PUBLIC]), trustme.CA()) as client,
        pytest.raises(NotSentError, match="certificate is not good"),
    ):
        post(client, "https://hook.example.org/x")


def test_a_name_that_turns_private_is_looked_up_once_and_then_refused(
    authority: trustme.CA, hook_certificate: ssl.SSLContext
) -> None:
    names = Names([PUBLIC], ["127.0.0.1"])
    with serving(ssl_context=hook_certificate) as server:
        internet = Internet(server.port)
        with client_to(internet, names, authority) as client:
            assert post(client, "https://hook.example.org/x").status == 200
            assert names.asked == ["hook.example.org"]

            with pytest.raises(ForbiddenTargetError):
                post(client, "https://hook.example.org/x")

        assert internet.asked == [(PUBLIC, 443)]


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], [PUBLIC, "10.0.0.1"], ["10.0.0.1", PUBLIC], ["::ffff:169.254.169.254"], [PUBLIC, "::1"]],
)
def test_one_address_inside_is_enough_to_connect_to_none(authority: trustme.CA, addresses: Sequence[str]) -> None:
    internet = Internet(9)
    with (
        client_to(internet, Names(addresses), authority) as client,
        pytest.raises(ForbiddenTargetError, match="not public") as caught,
    ):
        post(client, "https://hook.example.org/PATH")

    assert internet.asked == []
    assert "PATH" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://hook.example.org/PATH",
        "HTTP://hook.example.org/PATH",
        "https://127.0.0.1/PATH",
        "https://127.1/PATH",
        "https://2130706433/PATH",
        "https://0x7f000001/PATH",
        "https://[::ffff:127.0.0.1]/PATH",
        "https://[::1]/PATH",
        "https://localhost/PATH",
        "https://localhost./PATH",
        "https://hook.localhost/PATH",
        "https://169.254.169.254/PATH",
        "https://hook.example.org:22/PATH",
        "https://hook.example.org@127.0.0.1/PATH",
        "https://user:PATH@hook.example.org/",
    ],
)
def test_what_the_name_alone_gives_away_is_not_even_looked_up(authority: trustme.CA, url: str) -> None:
    internet, names = Internet(9), Names()

    with client_to(internet, names, authority) as client, pytest.raises(ForbiddenTargetError) as caught:
        post(client, url)

    assert (internet.asked, names.asked) == ([], [])
    assert "PATH" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["https://①②⑦.⓪.⓪.①/", "https://exa mple.org/", "https://[fe80::1%25eth0]/", "https://0177.0.0.1/"]
)
def test_what_is_no_address_for_one_reader_or_the_other_is_not_sent(authority: trustme.CA, url: str) -> None:
    internet = Internet(9)

    with client_to(internet, Names(["127.0.0.1"]), authority) as client, pytest.raises(NotSentError):
        post(client, url)

    assert internet.asked == []


def test_an_international_name_is_looked_up_as_dns_knows_it(authority: trustme.CA) -> None:
    names = Names(["10.0.0.1"])

    with client_to(Internet(9), names, authority) as client, pytest.raises(ForbiddenTargetError):
        post(client, "https://bücher.example.org/x")

    assert names.asked == ["xn--bcher-kva.example.org"]


def test_the_next_address_is_tried_when_one_is_dead(authority: trustme.CA, hook_certificate: ssl.SSLContext) -> None:
    with serving(ssl_context=hook_certificate) as server:
        internet = Internet(server.port, PUBLIC)
        with client_to(internet, Names([PUBLIC, OTHER_PUBLIC]), authority) as client:
            assert post(client, "https://hook.example.org/x").status == 200

        assert [address for address, _ in internet.asked] == [PUBLIC, OTHER_PUBLIC]


def test_no_address_that_answers_is_not_sent(authority: trustme.CA) -> None:
    with client_to(Internet(9, PUBLIC), Names([PUBLIC], []), authority) as client:
        for _ in range(2):
            with pytest.raises(NotSentError) as caught:
                post(client, "https://hook.example.org/x")
            assert not isinstance(caught.value, ForbiddenTargetError)


def unknown(_host: str, _port: int) -> Sequence[str]:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def slow(_host: str, _port: int) -> Sequence[str]:
    time.sleep(0.6)
    return [PUBLIC]


def test_a_name_that_does_not_exist_is_not_sent(authority: trustme.CA) -> None:
    with (
        client_to(Internet(9), unknown, authority) as client,
        pytest.raises(NotSentError, match="cannot be resolved"),
    ):
        post(client, "https://hook.example.org/x")


def test_a_resolver_that_hangs_is_given_up(authority: trustme.CA) -> None:
    hasty = HttpSettings(connect_seconds=0.1, read_seconds=0.5, total_seconds=1)
    internet = Internet(9)

    with (
        client_to(internet, slow, authority, hasty) as client,
        pytest.raises(NotSentError, match="cannot be resolved"),
    ):
        post(client, "https://hook.example.org/x")

    assert internet.asked == []


def test_a_trusted_origin_is_asked_though_it_is_inside() -> None:
    with trial() as (client, server):
        assert post(client, f"{server.origin}/x").status == 200
        assert [request.path for request in server.requests] == ["/x"]


@pytest.mark.parametrize("trusted", [NONE_TRUSTED, read_origins("http://127.0.0.1:1", "TRUSTED_ORIGINS")])
def test_what_is_not_trusted_is_not_reached(trusted: Trusted) -> None:
    with serving() as server:
        client = guarded_client(SETTINGS, trusted)
        for scheme in ("http", "https"):
            with pytest.raises(ForbiddenTargetError):
                post(client, f"{scheme}://127.0.0.1:{server.port}/x")
        client.close()

        assert server.requests == []


def test_the_trusted_place_is_not_reached_by_another_scheme() -> None:
    with trial() as (client, server), pytest.raises(ForbiddenTargetError):
        post(client, server.origin.replace("http:", "https:"))


@pytest.mark.parametrize("location", ["http://169.254.169.254/latest/meta-data/", "https://127.0.0.1/", "//[::1]/"])
def test_a_redirect_is_an_answer_and_not_followed(location: str) -> None:
    with trial(Answer(status=302, headers={"location": location})) as (client, server):
        assert post(client, f"{server.origin}/x").status == 302
        assert len(server.requests) == 1


def test_each_request_connects_and_is_checked_anew() -> None:
    with trial() as (client, server):
        assert [post(client, f"{server.origin}/x").reused for _ in range(3)] == [False, False, False]


def test_an_endless_answer_is_cut_but_its_status_is_known() -> None:
    busy = Answer(status=503, headers={"retry-after": "9"}, then="endless")

    with trial(busy) as (client, server), pytest.raises(NoAnswerError, match="larger than 65536 bytes") as caught:
        post(client, server.origin)

    assert caught.value.begun is not None
    assert (caught.value.begun.status, caught.value.begun.headers["retry-after"]) == (503, "9")


def test_a_head_that_never_ends_meets_the_deadline() -> None:
    with trial(Answer(then="drip")) as (client, server), pytest.raises(NoAnswerError, match="ReadTimeout") as caught:
        post(client, server.origin)

    assert caught.value.begun is None


@pytest.mark.parametrize("then", ["hang", "drop"])
def test_no_answer_at_all_is_unknown(then: str) -> None:
    with trial(Answer(then=then)) as (client, server), pytest.raises(NoAnswerError) as caught:  # type: ignore[arg-type]
        post(client, server.origin)

    assert caught.value.begun is None


def test_a_server_that_speaks_no_tls_is_not_sent(authority: trustme.CA) -> None:
    with serving() as server, client_to(Internet(server.port), Names([PUBLIC]), authority) as client:
        with pytest.raises(NotSentError):
            post(client, "https://hook.example.org/x")

        assert server.requests == []


def test_a_handshake_that_hangs_is_given_up(authority: trustme.CA) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        internet = Internet(silent.getsockname()[1])
        with client_to(internet, Names([PUBLIC]), authority) as client, pytest.raises(NotSentError):
            post(client, "https://hook.example.org/x")
