"""Watches and destinations from one stack to another, by a file."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws
from msgspec.structs import replace

from lago.destinations import Directory
from lago.domain.ids import DestinationId, WatchId
from lago.domain.query import Query
from lago.domain.watch import Filters, Watch
from lago.errors import StoreUnavailableError
from lago.store.mailboxes import MailboxStore
from lago.store.searches import SearchStore
from lago_cli.carried import FORMAT, LARGEST, VERSION, CarriedFilters
from lago_cli.standing import NEEDS_SECRET
from lago_cli.store import StackDestinations, StackWatches
from tests.cli.fakes import (
    NOW,
    OUTPUTS,
    FakeDestinations,
    FakeSecrets,
    FakeStack,
    FakeWatches,
    a_destination,
    a_watch,
    a_world,
)
from tests.cli.run import answer, lago
from tests.tables import create_tables

ME, MAIL = DestinationId("me"), DestinationId("mail")
SECRET_NAME = "/lago/old/telegram-bot-token"
WATCH = a_watch(
    "k4qaaaaa",
    url="https://www.willhaben.at/iad/kaufen-und-verkaufen/marktplatz?keyword=rennrad",
    destinations=(ME, MAIL),
    filters=Filters(exclude_words=("kinder",), seller_kind="private", price_to=50_000, drop_percent=7.5),
    near=(48.2, 16.37),
    paused="on holiday",
    missed=7,
)


def an_old_stack() -> FakeStack:
    destinations = (
        a_destination(address="4711", credentials=SECRET_NAME, quiet=(1_320, 450), club_seconds=600),
        a_destination(id=MAIL, channel="email", address="me@example.org", time_zone="Europe/London", digest_at=480),
    )
    return FakeStack("old", FakeWatches([WATCH]), FakeDestinations({each.id: each for each in destinations}))


class NewStack(FakeStack):
    """With the channels that there are."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__("new", *arguments, **more)

    @property
    def directory(self) -> Directory:
        boxes, removals = self.destinations.mailboxes, self.destinations.removals
        prefix = OUTPUTS["DestinationSecrets"]
        return Directory(
            boxes, removals, self.watches, self.secrets, prefix=prefix, clock=lambda: NOW, random_bytes=bytes
        )


def a_document(**changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(lago(a_world(an_old_stack()), "export").stdout)
    return document | changes


def imported(stack: FakeStack, document: object, *options: str, path: Path) -> Any:
    file = path / "lago.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return lago(a_world(stack), "import", str(file), *options)


def told(result: Any) -> str:
    return " ".join(result.output.split())


def test_what_is_exported_and_imported_is_what_a_person_chose(tmp_path: Path) -> None:
    new = NewStack()

    result = imported(new, a_document(), path=tmp_path)

    assert "2 destinations and 1 watch added, 0 were there already." in told(result)
    (watch,) = new.watches.kept
    assert (watch.id, watch.label, watch.destinations) == (WATCH.id, WATCH.label, WATCH.destinations)
    assert (watch.filters, watch.near, watch.paused) == (WATCH.filters, WATCH.near, WATCH.paused)
    old = an_old_stack().destinations.kept
    key = f"{OUTPUTS['DestinationSecrets']}/mail/email"
    assert new.destinations.kept[MAIL] == replace(old[MAIL], credentials=key)
    assert "unsubscribe_key" in new.secrets.kept[key]
    assert new.destinations.kept[ME] == replace(old[ME], credentials="", disabled=NEEDS_SECRET)


def test_a_chat_works_at_once_where_the_stack_has_a_bot(tmp_path: Path) -> None:
    bot = OUTPUTS["TelegramTokenParameter"]
    new = NewStack(secrets=FakeSecrets({bot: "1:token"}))

    result = imported(new, a_document(), path=tmp_path)

    assert (new.destinations.kept[ME].credentials, new.destinations.kept[ME].disabled) == (bot, "")
    assert NEEDS_SECRET not in told(result)


def test_a_channel_whose_address_is_no_secret_of_its_own_waits_for_it(tmp_path: Path) -> None:
    old, new = an_old_stack(), NewStack()
    slack = a_destination(id=DestinationId("team"), channel="slack", address="hooks.slack.com/services/T1")
    old.destinations.put(slack)

    result = imported(new, json.loads(lago(a_world(old), "export").stdout), "--stack", "new", path=tmp_path)

    assert new.destinations.kept[slack.id].disabled == NEEDS_SECRET
    assert "“team” needs its secret: `lago destination add team --channel slack --stack new`." in told(result)


def test_what_was_disabled_stays_so(tmp_path: Path) -> None:
    document, new = a_document(), NewStack()
    document["destinations"][0]["disabled"] = "the address bounces"

    imported(new, document, path=tmp_path)

    assert new.destinations.kept[MAIL].disabled == "the address bounces"


def test_a_search_begins_anew_in_the_other_stack(tmp_path: Path) -> None:
    new = NewStack()

    imported(new, a_document(), path=tmp_path)

    (watch,) = new.watches.kept
    query = new.watches.queries[watch.id]
    assert watch.search == query.search_id(2)
    assert watch.search != WATCH.search
    assert (watch.missed, watch.created > WATCH.created) == (0, True)


def test_no_secret_and_no_name_of_one_is_exported() -> None:
    text = lago(a_world(an_old_stack()), "export").stdout

    assert SECRET_NAME not in text
    assert "credentials" not in text
    assert json.loads(text)["destinations"][1]["needs_secret"] is True


def test_twice_is_once(tmp_path: Path) -> None:
    new, document = NewStack(), a_document()
    imported(new, document, path=tmp_path)
    watches, destinations = list(new.watches.kept), dict(new.destinations.kept)

    again = answer(imported(new, document, "--json", path=tmp_path))

    assert (new.watches.kept, new.destinations.kept) == (watches, destinations)
    assert (again["watches"], again["destinations"], sorted(again["kept"])) == ([], [], ["k4qaaaaa", "mail", "me"])


def test_what_is_there_already_stays_as_it_is_and_a_difference_is_told(tmp_path: Path) -> None:
    mine = a_destination(address="1", credentials="/lago/new/telegram-bot-token")
    new = NewStack(FakeWatches([a_watch("k4qaaaaa")]), FakeDestinations({ME: mine}))

    result = imported(new, a_document(), path=tmp_path)

    assert new.destinations.kept[ME] == mine
    assert new.watches.kept == [a_watch("k4qaaaaa")]
    assert "me is there already and differs from the file: left as it is." in told(result)
    assert "k4qaaaaa is there already and differs" in told(result)
    assert NEEDS_SECRET not in told(result)


def test_how_a_destination_gets_its_secret_is_told_until_it_has_it(tmp_path: Path) -> None:
    new, document = NewStack(), a_document()

    first = imported(new, document, "--stack", "new", path=tmp_path)
    second = imported(new, document, "--stack", "new", path=tmp_path)

    for result in (first, second):
        assert "“me” needs its secret: `lago setup --destination me --chat=4711 --stack new`." in told(result)
        assert "“mail”" not in told(result)


def test_a_command_to_copy_cannot_be_made_to_do_something_else(tmp_path: Path) -> None:
    document = a_document()
    document["destinations"][1]["address"] = "1; rm -rf ~"

    result = imported(NewStack(), document, path=tmp_path)

    assert "'--chat=1; rm -rf ~'" in told(result)


def test_a_failure_in_the_middle_says_what_was_done_and_the_next_try_does_the_rest(tmp_path: Path) -> None:
    class Failing(FakeWatches):
        def add(self, query: Query, watch: Watch) -> None:
            if watch.id == "second" and not self.queries.get(WatchId("second")):
                self.queries[watch.id] = query
                raise StoreUnavailableError("DynamoDB: ThrottlingException")
            super().add(query, watch)

    document = a_document()
    document["watches"].append(document["watches"][0] | {"id": "second"})
    new = NewStack(Failing())

    result = imported(new, document, path=tmp_path)
    again = imported(new, document, path=tmp_path)

    assert result.exit_code == 1
    assert "Stopped in the middle. 2 destinations and 1 watch added, 0 were there already. Run it again" in told(result)
    assert again.exit_code == 0
    assert [watch.id for watch in new.watches.kept] == ["k4qaaaaa", "second"]


def watch_with(**changes: Any) -> dict[str, Any]:
    document = a_document()
    document["watches"][0] |= changes
    return document


def destination_with(**changes: Any) -> dict[str, Any]:
    document = a_document()
    document["destinations"][1] |= changes
    return document


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("not JSON", "the file: must be JSON"),
        ("[" * 100_000, "the file: must be JSON"),
        (" " * (LARGEST + 1), "the file: must be at most 4 MB"),
        ({"watches": []}, f"format: must be '{FORMAT}'"),
        (a_document(version=VERSION + 1), "version: 2 is newer than this command, which reads 1: update it first"),
        (a_document(version=0), "version: must be a number from 1 to 1"),
        (a_document(version="1"), "version: must be a number"),
        (a_document(version=True), "version: must be a number"),
        (a_document(watches={}), "watches: expected `array`, got `object`"),
        (a_document(more=1), "the file: object contains unknown field `more`"),
        (a_document(watches=a_document()["watches"] * 2), "watches: must not name 'k4qaaaaa' twice"),
        (watch_with(id="../x"), "watches[0].id: must be a watch's id"),
        (watch_with(id=7), "watches[0].id: expected `str`, got `int`"),
        (watch_with(label="\u202e\u200b"), "watches[0].label: must be some visible text"),
        (watch_with(url="https://evil.example/iad/"), "watches[0].url: must be the address of a willhaben search"),
        (watch_with(destinations=[]), "watches[0].destinations: must name at least one"),
        (watch_with(destinations=["you"]), "'you' is a destination neither of the file nor of the stack"),
        (watch_with(destinations=["me", "me"]), "watches[0].destinations: must not name 'me' twice"),
        (watch_with(near=[91, 0]), "watches[0].near: must be latitude and longitude"),
        (watch_with(near=[1]), "watches[0].near: expected `array` of length 2"),
        (watch_with(filters={"colour": "red"}), "watches[0].filters: object contains unknown field `colour`"),
        (watch_with(filters={"price_from": -1}), "watches[0].filters.price_from: must be cents"),
        (watch_with(filters={"price_from": 2, "price_to": 1}), "watches[0].filters.price_to: must be at least"),
        (watch_with(filters={"drop_percent": 0}), "watches[0].filters.drop_percent: must be above 0"),
        (watch_with(filters={"seller_kind": "nobody"}), "watches[0].filters.seller_kind: invalid enum value"),
        (watch_with(filters={"exclude_words": [" "]}), "watches[0].filters.exclude_words: must be some visible"),
        (destination_with(id="a/b"), "destinations[1].id: must be at most 40 letters"),
        (destination_with(channel="fax"), "destinations[1].channel: must be one of telegram, email"),
        (destination_with(channel="slack", needs_secret=False), "destinations[1].address: must be an incoming webhook"),
        (destination_with(address="4711\n"), "destinations[1].address: must be visible text"),
        (destination_with(address=""), "destinations[1].address: must be visible text"),
        (destination_with(time_zone="Mars/Olympus"), "destinations[1].time_zone: must be a time zone's name"),
        (destination_with(quiet=[1, 1]), "destinations[1].quiet: must be two different times"),
        (destination_with(quiet=[0, 1_440]), "destinations[1].quiet, digest_at: must be minutes of the day"),
        (destination_with(digest_at=-1), "destinations[1].quiet, digest_at: must be minutes"),
        (destination_with(club_seconds=30), "destinations[1].club_seconds: must be 0"),
        (destination_with(credentials="/lago/other"), "destinations[1]: object contains unknown field `credentials`"),
    ],
)
def test_a_file_that_is_wrong_anywhere_changes_nothing(document: object, words: str, tmp_path: Path) -> None:
    new = NewStack()

    result = imported(new, document, path=tmp_path)

    assert result.exit_code == 2, result.output
    assert words in told(result)
    assert (new.watches.kept, new.destinations.kept) == ([], {})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = lago(a_world(FakeStack()), "import", str(tmp_path / "none.json"))

    assert result.exit_code == 2
    assert "none.json', expected a file that can be read" in told(result)


def test_a_document_comes_through_a_pipe_too() -> None:
    new = NewStack()

    result = lago(a_world(new), "import", "-", typed=json.dumps(a_document()))

    assert result.exit_code == 0, result.output
    assert len(new.watches.kept) == 1


def test_a_written_file_is_for_its_owner_alone_also_when_one_was_there(tmp_path: Path) -> None:
    file = tmp_path / "lago.json"
    file.write_text("before")
    file.chmod(0o644)

    result = lago(a_world(an_old_stack()), "export", "--output", str(file))

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text()) == a_document()
    assert [each.name for each in tmp_path.iterdir()] == ["lago.json"]
    assert "1 watch and 2 destinations in" in told(result)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    result = lago(a_world(an_old_stack()), "export", "--output", str(tmp_path / "none" / "lago.json"))

    assert result.exit_code == 2
    assert "--output" in told(result)


def test_every_filter_of_a_watch_is_carried() -> None:
    assert set(CarriedFilters.__struct_fields__) == set(Filters.__struct_fields__)


def test_in_the_real_tables_an_imported_search_takes_stock_before_it_tells(tmp_path: Path) -> None:
    document = watch_with(destinations=["me"])
    del document["destinations"][0]
    with mock_aws():
        create_tables()
        mailboxes = MailboxStore(1)
        new = NewStack(StackWatches(mailboxes, 2), StackDestinations(mailboxes))

        imported(new, document, path=tmp_path)
        imported(new, document, path=tmp_path)

        (watch,) = new.watches.all()
        search = SearchStore().get(watch.search)
        assert search is not None
        assert (search.cursor, search.outbox, search.watches) == (None, (), 1)
        assert search.awaiting == {WATCH.id}
