"""What is done with destinations, whatever store holds them."""

import pytest
from msgspec.structs import replace

from lago.channels.registry import target_spec
from lago.destination_answers import REMOVING
from lago.destination_options import Options, read_digest, read_id
from lago.destinations import Addition, Directory
from lago.domain.ids import DestinationId, EpochMs, WatchId
from lago.domain.mailbox import dead
from lago.domain.notification import Destination
from lago.errors import BadInputError, NotFoundError
from tests.builders import ME, NOW, a_destination, a_row, a_watch, an_event
from tests.fakes.destinations import FakeRemovals, KeptSecrets, TurningWatches, a_spec
from tests.fakes.mailboxes import FakeMailboxes
from tests.fakes.sending import FakeClock

HOME = DestinationId("home")
HOOK = "https://hooks.example/T0/B0/very-secret"


class Stack:
    def __init__(self, *watches) -> None:
        self.mailboxes, self.secrets, self.clock = FakeMailboxes(), KeptSecrets(), FakeClock()
        self.watches, self.removals = TurningWatches(*watches), FakeRemovals(self.mailboxes)
        self.directory = Directory(
            self.mailboxes,
            self.removals,
            self.watches,
            self.secrets,
            prefix="/lago/test/destinations",
            clock=self.clock,
            random_bytes=lambda count: bytes(range(count)),
            spec_of=a_spec,
        )

    def add(self, id_: str = "home", channel: str = "slack", target: str = HOOK, **more):
        return self.directory.add(Addition(id=DestinationId(id_), channel=channel, target=target, **more))

    def destination(self, id_: DestinationId = HOME) -> Destination:
        return self.mailboxes.head(id_).destination

    def remove(self, id_: DestinationId = HOME, *, force: bool = False):
        return self.directory.remove(id_, force=force, deadline=EpochMs(self.clock() + 60_000))


def test_a_secret_is_kept_apart_and_named_by_its_destination_and_channel() -> None:
    stack = Stack()

    added = stack.add()

    name = "/lago/test/destinations/home/slack"
    assert stack.secrets.kept == {name: HOOK}
    assert (stack.destination().credentials, stack.destination().address) == (name, "hooks.example")
    assert added.show == "key 0001"


def test_the_secret_is_there_before_the_destination_refers_to_it() -> None:
    stack = Stack()

    def gone(destination: Destination) -> None:
        raise KeyboardInterrupt

    stack.mailboxes.put_destination = gone
    with pytest.raises(KeyboardInterrupt):
        stack.add()

    assert list(stack.secrets.kept) == ["/lago/test/destinations/home/slack"]
    assert stack.mailboxes.destinations() == []


def test_a_secret_that_cannot_be_stored_leaves_no_destination() -> None:
    stack = Stack()

    def away(name: str, value: str) -> None:
        raise ConnectionError

    stack.secrets.put = away
    with pytest.raises(ConnectionError):
        stack.add()

    assert stack.mailboxes.destinations() == []


def test_a_channel_without_secrets_names_none() -> None:
    stack = Stack()

    stack.add(channel="telegram", target="77")

    assert (stack.destination().address, stack.destination().credentials) == ("77", "")
    assert stack.secrets.kept == {}


def test_adding_it_again_changes_the_target_and_keeps_the_options() -> None:
    stack = Stack()
    stack.add(options=Options(quiet=(1_320, 420), time_zone="Europe/London"))

    stack.add(target="https://other.example/secret", options=Options(club_seconds=600))

    after = stack.destination()
    assert (after.address, after.quiet, after.time_zone, after.club_seconds) == (
        "other.example",
        (1_320, 420),
        "Europe/London",
        600,
    )


def test_links_in_old_mails_stay_good_when_the_same_reader_is_added_again() -> None:
    stack = Stack()
    stack.add(channel="email", target="anna@example.org")
    name = stack.destination().credentials
    stack.secrets.kept[name] = "the key that links were made with"

    stack.add(channel="email", target="anna@example.org")
    assert stack.secrets.kept[name] == "the key that links were made with"
    stack.add(channel="email", target="bea@example.org")
    assert stack.secrets.kept[name] == "0001"  # Anna's links are not Bea's


def test_a_key_that_was_lost_is_made_anew() -> None:
    stack = Stack()
    stack.add(channel="email", target="anna@example.org")
    stack.secrets.kept.clear()

    stack.add(channel="email", target="anna@example.org")

    assert stack.secrets.kept == {"/lago/test/destinations/home/email": "0001"}


def test_another_channel_replaces_the_one_before_only_if_that_is_wanted() -> None:
    stack = Stack()
    stack.add()

    with pytest.raises(BadInputError, match="slack, which 'home' is already"):
        stack.add(channel="webhook")
    assert list(stack.secrets.kept) == ["/lago/test/destinations/home/slack"]
    stack.add(channel="webhook", replace_channel=True)

    assert stack.destination().channel == "webhook"
    assert list(stack.secrets.kept) == ["/lago/test/destinations/home/webhook"]


@pytest.mark.parametrize("row", [a_row(destination="home"), dead(a_row(destination="home"), "message", NOW)])
def test_a_channel_is_not_replaced_under_what_is_counted_with_it(row) -> None:
    stack = Stack()
    stack.add()
    stack.mailboxes.enqueue(stack.destination(), (row,), now=NOW)

    with pytest.raises(BadInputError, match="while messages wait there"):
        stack.add(channel="webhook", replace_channel=True)

    assert stack.destination().channel == "slack"
    assert list(stack.secrets.kept) == ["/lago/test/destinations/home/slack"]


def test_nor_under_a_message_that_is_on_its_way() -> None:
    stack = Stack()
    stack.add()
    stack.mailboxes.claim(stack.mailboxes.head(HOME), [a_row().id], now=NOW, lease_until=EpochMs(NOW + 60_000))

    with pytest.raises(BadInputError, match="on their way"):
        stack.add(channel="webhook", replace_channel=True)

    assert stack.destination().channel == "slack"


def test_a_secret_too_long_for_its_store_is_refused_unseen() -> None:
    stack = Stack()

    with pytest.raises(BadInputError, match="'4129 characters', expected at most 4096") as refused:
        stack.add(target=HOOK + "x" * (4_129 - len(HOOK)))

    assert "hooks" not in str(refused.value)
    assert stack.secrets.kept == {}


def test_adding_a_disabled_one_again_wakes_it_and_its_watches() -> None:
    stack = Stack(a_watch(destinations=("home",), paused="gone"))
    stack.add()
    stack.mailboxes.put_destination(replace(stack.destination(), disabled="gone"))

    added = stack.add()

    assert (added.destination.disabled, added.resumed) == ("", ("w1",))


def test_the_words_of_a_removal_are_no_reason_to_disable() -> None:
    stack = Stack()
    stack.add()

    with pytest.raises(BadInputError, match="other words"):
        stack.directory.disable(HOME, REMOVING)

    assert stack.destination().disabled == ""


def test_enabling_resumes_the_watches_that_rested_because_of_it_and_no_others() -> None:
    stack = Stack(
        a_watch("w1", destinations=("home",), paused="bot was blocked"),
        a_watch("w2", destinations=("home", "me"), paused="mailbox is full"),
        a_watch("w3", destinations=("home",), paused="paused by you"),
        a_watch("w4", destinations=("me",), paused="mailbox is full"),
        a_watch("w5", destinations=("home",)),
    )
    stack.add()
    stack.mailboxes.put_destination(replace(a_destination("me"), disabled="mailbox is full"))
    stack.directory.disable(HOME, "bot was blocked")

    woken = stack.directory.enable(HOME)

    assert sorted(woken.resumed) == ["w1", "w2"]
    assert {each.id: each.paused for each in stack.watches.all() if each.paused} == {
        "w3": "paused by you",
        "w4": "mailbox is full",
    }


def test_dying_while_enabling_it_can_be_enabled_again() -> None:
    stack = Stack(a_watch("w1", destinations=("home",), paused="off"), a_watch("w2", ("home",), paused="off"))
    stack.add()
    stack.directory.disable(HOME, "off")
    pause = stack.watches.set_paused

    def once(watch, reason):
        stack.watches.set_paused = pause
        pause(watch, reason)
        raise KeyboardInterrupt

    stack.watches.set_paused = once
    with pytest.raises(KeyboardInterrupt):
        stack.directory.enable(HOME)

    assert stack.directory.enable(HOME).resumed == (WatchId("w2"),)
    assert stack.destination().disabled == ""
    assert not any(watch.paused for watch in stack.watches.all())


def test_what_waited_is_due_at_once_when_it_is_enabled() -> None:
    stack = Stack()
    stack.add()
    stack.directory.disable(HOME, "off")
    stack.mailboxes.enqueue(stack.destination(), (a_row(destination="home"),), now=NOW)

    stack.directory.enable(HOME)

    assert [box.destination for box in stack.mailboxes.due(0, NOW, 5)] == [HOME]


def test_a_change_touches_only_what_it_names() -> None:
    stack = Stack()
    stack.add(options=Options(quiet=(1_320, 420), digest_at=600))

    shown = stack.directory.change(HOME, Options(digest_at=None))

    assert (shown.quiet, shown.digest) == ("22:00-07:00", None)
    assert stack.destination().address == "hooks.example"


def test_a_removal_takes_messages_log_secret_and_name() -> None:
    stack = Stack()
    stack.add()
    stack.removals.log[HOME] = 5
    rows = tuple(a_row(an_event(str(n)), destination="home") for n in range(3))
    stack.mailboxes.enqueue(stack.destination(), (*rows, dead(a_row(destination="home"), "crash", NOW)), now=NOW)

    removed = stack.remove()

    assert (removed.done, removed.messages, removed.log_entries) == (True, 4, 5)
    assert stack.secrets.kept == {}
    assert stack.directory.list() == []
    with pytest.raises(NotFoundError):
        stack.remove()


def test_it_refuses_while_watches_name_it_and_says_which() -> None:
    stack = Stack(*(a_watch(f"w{n}", destinations=("home",)) for n in range(7)))
    stack.add()

    with pytest.raises(BadInputError, match=r"'rennrad' \(w0\), .*\(w4\) and 2 more"):
        stack.remove()

    assert stack.destination().disabled == ""


def test_by_force_watches_go_on_to_others_or_end() -> None:
    stack = Stack(a_watch("w1", destinations=("home",)), a_watch("w2", destinations=("me", "home")))
    stack.add()

    removed = stack.remove(force=True)

    assert (removed.turned, removed.removed) == (("w2",), ("w1",))
    assert [(each.id, each.destinations) for each in stack.watches.all()] == [("w2", (ME,))]


def slowly(step, clock: FakeClock, seconds: int):
    def slow(*args):
        clock.sleep(1_000 * seconds)
        return step(*args)

    return slow


def test_a_removal_without_time_goes_on_when_it_is_asked_for_again() -> None:
    stack = Stack()
    stack.add()
    stack.removals.log[HOME] = 5
    stack.removals.clear = slowly(stack.removals.clear, stack.clock, seconds=9)
    rows = tuple(a_row(an_event(str(n)), destination="home") for n in range(5))
    stack.mailboxes.enqueue(stack.destination(), rows, now=NOW)

    first = stack.directory.remove(HOME, force=False, deadline=EpochMs(stack.clock() + 10_000))
    disabled = stack.directory.show(HOME).disabled
    second = stack.directory.remove(HOME, force=False, deadline=EpochMs(stack.clock() + 10_000))

    assert (first.done, first.messages, disabled) == (False, 4, REMOVING)
    assert (second.done, second.messages, second.log_entries) == (False, 1, 2)
    with pytest.raises(BadInputError, match="removal"):
        stack.add()
    assert stack.remove().done


def test_an_erased_part_of_the_log_is_told_and_the_rest_is_erased_the_next_time() -> None:
    stack = Stack()
    stack.add()
    stack.removals.log[HOME] = 5
    stack.removals.erase_log = slowly(stack.removals.erase_log, stack.clock, seconds=6)

    first = stack.directory.remove(HOME, force=False, deadline=EpochMs(stack.clock() + 10_000))
    second = stack.remove()

    assert (first.done, first.log_entries) == (False, 4)
    assert (second.done, second.log_entries) == (True, 1)


@pytest.mark.parametrize(
    "act",
    [
        lambda directory: directory.show(HOME),
        lambda directory: directory.change(HOME, Options()),
        lambda directory: directory.disable(HOME, "x"),
        lambda directory: directory.enable(HOME),
        lambda directory: directory.remove(HOME, force=True, deadline=EpochMs(NOW)),
    ],
)
def test_a_destination_that_is_not_there_is_not_found(act) -> None:
    with pytest.raises(NotFoundError, match="there is no destination home"):
        act(Stack().directory)


def test_an_unknown_channel_is_named_with_the_known_ones() -> None:
    with pytest.raises(BadInputError, match="channel: got 'pigeon', expected one of telegram, email"):
        target_spec("pigeon")


@pytest.mark.parametrize("chat", ["77", "-1001234567890", "@my_channel", " 77\n"])
def test_telegram_takes_a_chat(chat: str) -> None:
    target = target_spec("telegram").make(chat, bytes)

    assert (target.address, target.secret, target.show) == (chat.strip(), "", "")


@pytest.mark.parametrize("chat", ["", "me", "@a", "1" * 21, "7 7", "٧", "@x/../getMe"])
def test_telegram_takes_nothing_else(chat: str) -> None:
    with pytest.raises(BadInputError, match="target"):
        target_spec("telegram").make(chat, bytes)


@pytest.mark.parametrize("id_", ["", "a b", "shard#0", "directory", "x" * 41, "-a", "é", "a\n"])
def test_an_id_is_one_that_can_be_typed_and_that_the_queue_does_not_use_itself(id_: str) -> None:
    with pytest.raises(BadInputError, match="id"):
        read_id("id", id_)


@pytest.mark.parametrize(("text", "minutes"), [("0:00", 0), ("23:59", 1_439), ("none", None), (" None ", None)])
def test_a_digest_is_a_time_of_the_day_or_none(text: str, minutes: int | None) -> None:
    assert read_digest("--digest", text) == minutes


@pytest.mark.parametrize("text", ["", "24:00", "8", "08:60", "٠٨:٠٠", "-1:00"])
def test_a_digest_is_nothing_else(text: str) -> None:
    with pytest.raises(BadInputError, match="--digest"):
        read_digest("--digest", text)
