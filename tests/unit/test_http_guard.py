"""What of the web may be asked, by its name and by its address."""

import pytest

from lago.errors import BadInputError, SettingError
from lago.http_guard import Origin, check_url, is_public, read_origins

TRIAL = read_origins("http://127.0.0.1:8099", "TRUSTED_ORIGINS")


@pytest.mark.parametrize(
    "address",
    ["93.184.215.14", "8.8.8.8", "2606:2800:21f:cb07::1", "2a02:8388::1", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8"],
)
def test_a_host_on_the_internet_may_be_asked(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "169.254.170.2",
        "100.64.0.1",
        "100.127.255.255",
        "100.100.100.200",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "2606:2800:21f:cb07::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
        "2001:db8::1",
        "3fff::1",
        "5f00::1",
        "100::1",
        "2001::1",
        "2001:20::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:100.64.0.1",
        "::ffff:0:127.0.0.1",
        "::127.0.0.1",
        "::8.8.8.8",
        "2002:7f00:1::1",
        "2002:a9fe:a9fe::1",
        "2002:808:808::1",
        "64:ff9b::127.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b::100.64.0.1",
        "64:ff9b:1::8.8.8.8",
        "",
        "localhost",
        "0x7f000001",
    ],
)
def test_whatever_is_inside_or_no_host_at_all_may_not(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("https://example.org/hook?key=1", "https://example.org/hook?key=1"),
        (" https://example.org \n", "https://example.org/"),
        ("HTTPS://Example.ORG/Hook", "https://example.org/Hook"),
        ("https://example.org:443/x#fragment", "https://example.org/x"),
        ("https://example.org:8443/x", "https://example.org:8443/x"),
        ("https://8.8.8.8/x", "https://8.8.8.8/x"),
        ("https://[2606:2800:21f:cb07::1]:8443/x", "https://[2606:2800:21f:cb07::1]:8443/x"),
        ("https://bücher.example.org/x", "https://xn--bcher-kva.example.org/x"),
        ("https://hooks_1.example.org/x", "https://hooks_1.example.org/x"),
    ],
)
def test_a_public_https_url_is_taken_in_one_form(given: str, url: str) -> None:
    assert check_url(given).url == url


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/PATH",
        "ftp://example.org/PATH",
        "file:///etc/PATH",
        "gopher://127.0.0.1:6379/PATH",
        "//example.org/PATH",
        "example.org/PATH",
        "https:///PATH",
        "https://",
        "",
        "https://localhost/PATH",
        "https://LOCALHOST/PATH",
        "https://localhost./PATH",
        "https://example.org./PATH",
        "https://intranet/PATH",
        "https://a.localhost/PATH",
        "https://printer.local/PATH",
        "https://metadata.google.internal/PATH",
        "https://router.lan/PATH",
        "https://127.0.0.1/PATH",
        "https://127.0.0.1./PATH",
        "https://127.1/PATH",
        "https://2130706433/PATH",
        "https://0177.0.0.1/PATH",
        "https://0x7f.0.0.1/PATH",
        "https://0x7f000001/PATH",
        "https://0/PATH",
        "https://8.8.2056/PATH",
        "https://0x8080808/PATH",
        "https://08.8.8.8/PATH",
        "https://1.2.3.4.5/PATH",
        "https://169.254.169.254/latest/PATH",
        "https://[::1]/PATH",
        "https://[::]/PATH",
        "https://[::ffff:127.0.0.1]/PATH",
        "https://[::ffff:7f00:1]/PATH",
        "https://[fd00:ec2::254]/PATH",
        "https://[fe80::1%25eth0]/PATH",
        "https://[64:ff9b::a00:1]/PATH",
        "https://[v1.x]/PATH",
        "https://[::1/PATH",
        "https://①②⑦.⓪.⓪.①/PATH",
        "https://127。0。0。1/PATH",
        "https://\u202eexample.org/PATH",
        "https://exa mple.org/PATH",
        "https://example.org\\@127.0.0.1/PATH",
        "https://example.org\t/PATH",
        "https://example.org/PATH\r\nHost: evil",
        "https://127.0.0.1%2f.example.org/PATH",
        "https://good.example.org@evil.example.org/PATH",
        "https://user:PATH@example.org/",
        "https://:PATH@example.org/",
        "https://a@b@example.org/PATH",
        "https://example.org:22/PATH",
        "https://example.org:25/PATH",
        "https://example.org:80/PATH",
        "https://example.org:0/PATH",
        "https://example.org:65536/PATH",
        "https://example.org:x/PATH",
        "https://-example.org/PATH",
        f"https://{'a' * 64}.org/PATH",
        "https://example.org/PATH" + "x" * 2_048,
    ],
)
def test_anything_else_is_refused_without_repeating_what_may_be_secret(url: str) -> None:
    with pytest.raises(BadInputError) as caught:
        check_url(url)

    assert caught.value.field == "url"
    assert "PATH" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.org/x", "url: got 'example.org', expected a URL that begins with https://"),
        ("https://10.0.0.1/x", "url: got '10.0.0.1', expected a host on the public internet"),
        ("https://example.org:22/x", "url: got 'example.org', expected port 443, or 1024 and above"),
    ],
)
def test_a_refusal_says_what_would_be_right(url: str, expected: str) -> None:
    with pytest.raises(BadInputError) as caught:
        check_url(url)

    assert str(caught.value) == expected


def test_credentials_are_given_apart_where_they_may_be() -> None:
    address = check_url("https://:tk_1@example.org/x", credentials=True)

    assert (address.url, address.user, address.password) == ("https://example.org/x", "", "tk_1")


@pytest.mark.parametrize("url", ["http://127.0.0.1:8099/hook", "HTTP://127.0.0.1:8099/hook"])
def test_a_trusted_origin_is_exempt(url: str) -> None:
    assert check_url(url, TRIAL).url == "http://127.0.0.1:8099/hook"


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1:8099/",
        "http://127.0.0.1:8098/",
        "http://127.0.0.1/",
        "http://localhost:8099/",
        "http://127.0.0.1.example.org:8099/",
        "http://127.0.0.1:8099@example.org/",
        "http://user@127.0.0.1:8099/",
        "http://2130706433:8099/",
    ],
)
def test_trust_is_in_scheme_host_and_port_exactly(url: str) -> None:
    with pytest.raises(BadInputError):
        check_url(url, TRIAL)


def test_several_origins_are_read_from_a_setting() -> None:
    origins = read_origins("http://[::1]:8099, https://ntfy.home\nHTTP://Nas.lan", "TRUSTED_ORIGINS")

    assert origins == {
        Origin("http", "::1", 8099),
        Origin("https", "ntfy.home", 443),
        Origin("http", "nas.lan", 80),
    }
    assert read_origins("", "TRUSTED_ORIGINS") == frozenset()


@pytest.mark.parametrize(
    "text", ["127.0.0.1:8099", "http://nas.lan/path", "ssh://nas.lan", "http://a:b@nas.lan", "*", "http://nas.lan:0"]
)
def test_what_is_no_origin_stops_at_the_start(text: str) -> None:
    with pytest.raises(SettingError, match="TRUSTED_ORIGINS"):
        read_origins(text, "TRUSTED_ORIGINS")
