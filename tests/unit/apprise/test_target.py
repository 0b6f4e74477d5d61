"""What a person gives for an Apprise destination."""

import subprocess
import sys

import pytest

from lago.channels.apprise.target import TARGET
from lago.errors import BadInputError
from tests.unit.apprise.builders import URL


def none(_: int) -> bytes:
    return b""


def test_the_whole_url_is_the_secret_and_its_schema_is_shown() -> None:
    target = TARGET.make(f"  {URL}\n", none)

    assert (target.address, target.secret) == ("mailto", URL)
    assert TARGET.private


@pytest.mark.parametrize("given", ["matrixs://user:pw@host/#room", "tgram://1234:abc/42", "Discord://id/token"])
def test_a_service_may_have_a_url_of_any_form(given: str) -> None:
    assert TARGET.make(given, none).address == given.partition("://")[0].lower()


@pytest.mark.parametrize(
    "given",
    [
        "",
        "passw0rd",
        "mailto:anna@example.org?passw0rd",
        "mailto://",
        f"{URL}, tgram://passw0rd",
        f"{URL} tgram://passw0rd",
        "json://host\u202e/passw0rd",
        "json://host:0/passw0rd",
        "json://[::1/passw0rd",
        "mailto://passw0rd" + "x" * 2_048,
        "https://hooks.example.org/passw0rd",
        "file:///etc/passw0rd",
        "syslog://passw0rd",
        "dbus://passw0rd",
    ],
)
def test_anything_else_is_refused_without_repeating_it(given: str) -> None:
    with pytest.raises(BadInputError) as refusal:
        TARGET.make(given, none)

    assert "passw0rd" not in str(refusal.value)


def test_the_library_is_loaded_neither_for_a_target_nor_for_the_channel() -> None:
    code = (
        "import sys; import lago.channels.apprise.target, lago.channels.apprise.channel as c; c.AppriseChannel();"
        "sys.exit(any(name in sys.modules for name in ('apprise', 'requests', 'httpx')))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
