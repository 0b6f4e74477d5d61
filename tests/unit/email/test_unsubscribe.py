"""A reader unsubscribes, scanners and strangers do not."""

from typing import NoReturn
from urllib.parse import parse_qs, urlsplit

import pytest

from lago.channels.email.unsubscribe import is_token, key_of, link, new_secret, token
from lago.destination_answers import REMOVING
from lago.domain.ids import DestinationId
from lago.errors import LagoError, SettingError, StoreUnavailableError
from lago.unsubscribe import DISABLED, HEADERS, Page, Unsubscribe
from tests.fakes.mailboxes import FakeMailboxes
from tests.unit.email.builders import API, SECRET, a_reader
from tests.unit.telegram.builders import chat

ID = DestinationId("anna")
KEY = key_of(SECRET)
OTHER_KEY = key_of(new_secret(b"x" * 32))


def never(*_: object) -> NoReturn:
    raise AssertionError("the database is left alone")


class Secrets:
    """Holds Anna's secret; fails when it is told to."""

    def __init__(self, secret: str = SECRET, error: LagoError | None = None) -> None:
        self._secret, self._error = secret, error
        self.asked: list[str] = []

    def get(self, name: str, *, anew: bool = False) -> str:
        self.asked.append(name)
        if self._error:
            raise self._error
        return self._secret


class House:
    """Anna's destination and the use case."""

    def __init__(self, secrets: Secrets | None = None, **changes: object) -> None:
        self.mailboxes = FakeMailboxes()
        self.mailboxes.put_destination(a_reader(**changes))
        self.secrets = secrets or Secrets()
        self.unsubscribe = Unsubscribe(self.mailboxes, self.secrets)

    @property
    def disabled(self) -> str:
        return self.mailboxes.head(ID).destination.disabled


def test_a_link_names_its_destination_and_proves_itself() -> None:
    parts = urlsplit(link(API + "/", ID, KEY))

    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{API}/unsubscribe"
    assert parse_qs(parts.query) == {"d": ["anna"], "t": [token(KEY, ID)]}


def test_a_link_holds_any_id_whole() -> None:
    id_ = DestinationId("an na&t=x#/?é")

    assert parse_qs(urlsplit(link(API, id_, KEY)).query) == {"d": [id_], "t": [token(KEY, id_)]}


def test_a_token_is_the_same_for_ever() -> None:
    # links in old mails must stay good: this value may never change
    assert token("AAECAw", ID) == "y98_H7zQVNqT0j0R4DYyV7jg2jxeDSDxJWVr_9SY4D0"


@pytest.mark.parametrize(
    "given", ["", "x", "ä" * 43, "\ud800" * 43, token(OTHER_KEY, ID), token(KEY, DestinationId("b"))]
)
def test_nothing_else_is_the_token(given: str) -> None:
    assert is_token(token(KEY, ID), KEY, ID)
    assert not is_token(given, KEY, ID)


def test_an_empty_key_has_no_token() -> None:
    assert not is_token(token("", ID), "", ID)


def test_opening_the_link_changes_nothing_and_reads_nothing() -> None:
    house = House()

    page = house.unsubscribe.confirm(ID, token(KEY, ID))

    assert page.status == 200
    assert '<form method="post"><button type="submit"' in page.html
    assert house.disabled == ""
    assert house.secrets.asked == []


def test_the_button_disables_the_destination_with_the_reason() -> None:
    house = House()

    page = house.unsubscribe.apply(ID, token(KEY, ID))

    assert page.status == 200
    assert "Lago sends no more mail to this address." in page.html
    assert house.disabled == DISABLED == "unsubscribed by its reader"


def test_twice_is_once() -> None:
    house = House()
    first = house.unsubscribe.apply(ID, token(KEY, ID))
    house.mailboxes.put_destination = never  # type: ignore[assignment]

    assert house.unsubscribe.apply(ID, token(KEY, ID)) == first


def test_what_else_is_known_of_the_destination_stays() -> None:
    house = House(club_seconds=600)

    house.unsubscribe.apply(ID, token(KEY, ID))

    assert house.mailboxes.head(ID).destination == a_reader(club_seconds=600, disabled=DISABLED)


def test_a_reader_has_the_last_word_over_a_bounce() -> None:
    house = House(disabled="mail to it bounced for good")

    house.unsubscribe.apply(ID, token(KEY, ID))

    assert house.disabled == DISABLED


def test_a_removal_that_began_goes_on() -> None:
    house = House(disabled=REMOVING)

    assert house.unsubscribe.apply(ID, token(KEY, ID)).status == 200
    assert house.disabled == REMOVING


def test_a_stranger_learns_nothing() -> None:
    house = House()
    house.mailboxes.put_destination(chat("4711", id=DestinationId("chat")))
    wrong = token(OTHER_KEY, ID)

    answers = {
        house.unsubscribe.apply(ID, wrong),
        house.unsubscribe.apply("nobody", wrong),
        house.unsubscribe.apply("chat", wrong),
        house.unsubscribe.apply(ID, token(KEY, DestinationId("chat"))),
        house.unsubscribe.apply(ID, "short"),
        house.unsubscribe.apply(None, None),
    }

    (answer,) = answers
    assert answer.status == 404
    assert house.disabled == ""


@pytest.mark.parametrize(
    ("destination", "given"),
    [
        (None, "t" * 43),
        ("", "t" * 43),
        ("a" * 201, "t" * 43),
        ("a\nb", "t" * 43),
        ("anna", None),
        ("anna", "t" * 9_999),
    ],
)
def test_what_can_be_no_link_costs_no_read(destination: str | None, given: str | None) -> None:
    house = House()
    house.mailboxes.head = never  # type: ignore[assignment]

    assert house.unsubscribe.apply(destination, given).status == 404
    assert house.unsubscribe.confirm(destination, given).status == 404


def test_without_a_key_of_its_own_no_link_is_good() -> None:
    # a destination that names no secret would be given the bot token
    house = House(Secrets("123456789:AAEhBOweik6ad9rHZQ3lk0dF4tF5lZ0d2bW"))

    assert house.unsubscribe.apply(ID, token("", ID)).status == 404
    assert house.disabled == ""


def test_a_secret_that_cannot_be_read_is_a_matter_of_time() -> None:
    house = House(Secrets(error=SettingError("the secret cannot be read")))

    assert house.unsubscribe.apply(ID, token(KEY, ID)).status == 503
    assert house.disabled == ""


def test_so_is_a_database_that_does_not_answer() -> None:
    house = House()

    def fail(destination: DestinationId) -> None:
        raise StoreUnavailableError("throttled")

    house.mailboxes.head = fail

    assert house.unsubscribe.apply(ID, token(KEY, ID)).status == 503


def test_pages_hold_nothing_of_the_link() -> None:
    house = House()
    pages: list[Page] = [
        house.unsubscribe.confirm('"><script>alert(1)</script>', "<" * 43),
        house.unsubscribe.apply('"><script>alert(1)</script>', "<" * 43),
        house.unsubscribe.apply(ID, token(KEY, ID)),
    ]

    for page in pages:
        assert "script" not in page.html
        assert token(KEY, ID) not in page.html
        assert ID not in page.html
    assert "default-src 'none'" in HEADERS["content-security-policy"]
