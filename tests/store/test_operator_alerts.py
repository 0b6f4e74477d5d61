"""Who runs Lago is told of dead letters: at the first, at most once an hour, and when none is left."""

import pytest
from msgspec.structs import replace

from lago.courier import Tally
from lago.domain.ids import DestinationId, EpochMs
from lago.domain.mailbox import Attempt, Row
from lago.domain.operator import Sign, Told
from lago.domain.outcome import Outcome, OutcomeKind
from lago.errors import StoreUnavailableError
from lago.operator_alerts import OperatorAlerts
from lago.operator_reports import tell_now
from lago.operator_signs import DrainSigns, Report
from lago.ports import Counts
from lago.store.dead_letters import DeadLetterStore
from lago.store.mailboxes import MailboxStore
from lago.store.operator import OperatorStore
from tests.builders import NOW, a_destination
from tests.fakes.sending import MINUTE, Post, a_post
from tests.store.letters import a_letter, buried
from tests.store.steps import run_drain

OPERATOR = DestinationId("ops")
HOUR = 60 * MINUTE


def alerts(post: Post, to: str = "ops", memory: OperatorStore | None = None, running: str = "") -> DrainSigns:
    """One drain's: a process of its own."""
    return DrainSigns(
        OperatorAlerts(DestinationId(to), mailboxes=post.mailboxes, memory=memory or OperatorStore(), clock=post.clock),
        mailboxes=post.mailboxes,
        letters=DeadLetterStore(post.mailboxes),
        clock=post.clock,
        running=running,
    )


@pytest.fixture
def post() -> Post:
    made = a_post()
    made.mailboxes.put_destination(a_destination("ops", address="9"))
    return made


def look(drain: DrainSigns, post: Post) -> bool:
    counts = post.mailboxes.counts().get("telegram", Counts(0, 0))
    return drain.look(dead=counts.dead, pending=counts.pending)


def texts(post: Post) -> list[str]:
    """What the operator gets with the next drain."""
    before = len(post.channel.sent)
    post.clock.now += 2_000
    run_drain(post)
    return [note.event.text for message in post.channel.sent[before:] for note in message.notifications]


def discard(*letters: Row) -> None:
    store = DeadLetterStore(MailboxStore(1))
    for letter in letters:
        assert store.discard(a_destination(letter.notification.destination), letter, "seen")


def test_the_first_dead_letter_is_told_with_what_it_died_of(post):
    buried(a_letter("1", history=(Attempt(NOW, "message", "HTTP 400: can't parse"),)))

    assert look(alerts(post), post)

    (text,) = texts(post)
    assert text == (
        "1 dead letter; the newest: new_ad to me (message: HTTP 400: can't parse). `lago dead list` shows them."
    )


def test_nothing_is_told_while_nothing_is_dead_or_nobody_is_to_be_told(post):
    assert not look(alerts(post), post)
    buried(a_letter("1"))
    assert not look(alerts(post, to=""), post)


def test_of_two_drains_one_tells(post):
    first, second = alerts(post), alerts(post)
    buried(a_letter("1"))

    assert [look(first, post), look(second, post)] == [True, False]
    assert len(texts(post)) == 1


def test_of_two_drains_that_decide_at_once_one_tells(post):
    class Late(OperatorStore):
        """Reads, then the other drain is faster."""

        def told(self) -> Told:
            found = super().told()
            look(alerts(post), post)
            return found

    buried(a_letter("1"))

    assert not look(alerts(post, memory=Late()), post)
    assert len(texts(post)) == 1


def test_more_letters_are_told_an_hour_later_and_not_before(post):
    drain = alerts(post)
    buried(a_letter("1"))
    look(drain, post)
    for n in range(2, 50):
        post.clock.now += MINUTE
        buried(a_letter(str(n), died=post.clock.now))
        assert not look(drain, post)
        assert not look(alerts(post), post)

    post.clock.now = NOW + HOUR

    assert look(drain, post)
    assert [text.split(";")[0] for text in texts(post)] == ["1 dead letter", "49 dead letters"]


def test_the_same_letters_are_told_once_however_long_they_lie(post):
    drain = alerts(post)
    buried(a_letter("1"))
    look(drain, post)

    for _ in range(5):
        post.clock.now += HOUR
        assert not look(drain, post)


def test_that_none_is_left_is_told_once(post):
    drain, letter = alerts(post), a_letter("1")
    buried(letter)
    look(drain, post)
    texts(post)
    discard(letter)

    assert look(drain, post)
    assert not look(drain, post)
    assert not look(alerts(post), post)
    assert texts(post) == ["No dead letter is left."]


def test_letters_that_come_and_go_within_the_hour_are_told_once_and_what_stays_is_told_after_it(post):
    drain, letter, other = alerts(post), a_letter("1"), a_letter("2", died=NOW + 10 * MINUTE)
    buried(letter)
    look(drain, post)
    discard(letter)
    look(drain, post)
    texts(post)
    post.clock.now = NOW + 10 * MINUTE
    buried(other)
    assert not look(drain, post)

    post.clock.now = NOW + HOUR

    assert look(drain, post)


def test_a_destination_that_fails_is_not_told_of_its_own_letters(post):
    buried(a_letter("1", to="ops"))
    assert not look(alerts(post), post)
    assert not look(alerts(post), post)

    buried(a_letter("2"))
    assert look(alerts(post), post)


def test_a_drain_that_dies_between_deciding_and_queueing_owes_the_message(post, monkeypatch):
    buried(a_letter("1"))
    dying = alerts(post)
    with monkeypatch.context() as broken:
        broken.setattr(post.mailboxes, "enqueue", away)
        assert not look(dying, post)
    post.clock.now += MINUTE

    look(alerts(post), post)

    assert len(texts(post)) == 1


def test_a_message_that_was_queued_and_told_is_not_told_again_by_who_finds_it_owed(post, monkeypatch):
    buried(a_letter("1"))
    with monkeypatch.context() as broken:
        keep = OperatorStore.put
        broken.setattr(OperatorStore, "put", lambda self, told: keep(self, told) if told.due else away())
        look(alerts(post), post)
    assert len(texts(post)) == 1

    look(alerts(post), post)

    assert texts(post) == []


def test_a_store_that_is_away_does_not_fail_the_drain_and_the_next_one_tells(post, monkeypatch):
    buried(a_letter("1"))
    drain = alerts(post)
    with monkeypatch.context() as broken:
        broken.setattr(OperatorStore, "told", away)
        assert not look(drain, post)

    assert look(drain, post)


def test_a_letter_that_the_index_does_not_show_yet_is_told_by_the_next_drain(post, monkeypatch):
    drain = alerts(post)
    assert not drain.look(dead=1, pending=0)
    buried(a_letter("1"))

    assert drain.look(dead=1, pending=0)


def test_an_idle_drain_asks_once_an_hour(post, monkeypatch):
    asked = []

    class Counted(OperatorStore):
        def told(self) -> Told:
            asked.append(post.clock())
            return super().told()

    drain = alerts(post, memory=Counted())
    for _ in range(120):
        drain.look(dead=0, pending=0)
        post.clock.now += MINUTE

    assert len(asked) == 2


def test_a_destination_that_does_not_exist_is_logged_and_harms_nothing(post, caplog):
    buried(a_letter("1"))

    look(alerts(post, to="nobody"), post)

    assert "there is no destination" in caplog.text


def test_a_destination_that_refuses_messages_is_told_and_that_it_takes_them_again(post):
    post.mailboxes.put_destination(a_destination("me"))
    drain = alerts(post)
    look(drain, post)
    post.mailboxes.put_destination(replace(a_destination("me"), disabled="Telegram 403: bot was blocked"))
    post.clock.now += HOUR

    assert look(drain, post)
    (text,) = texts(post)
    assert text.startswith("The destination me takes no messages: Telegram 403: bot was blocked.")
    post.mailboxes.put_destination(a_destination("me"))
    post.clock.now += HOUR
    assert look(drain, post)

    assert texts(post) == ["The destination me takes messages again."]


def test_what_waits_for_a_destination_that_was_just_disabled_is_reason_enough_to_look(post):
    drain = alerts(post)
    drain.look(dead=0, pending=0)
    post.mailboxes.put_destination(replace(a_destination("me"), disabled="blocked"))

    assert drain.look(dead=0, pending=1)


def test_the_operators_own_destination_is_not_told_about(post):
    post.mailboxes.put_destination(replace(a_destination("ops", address="9"), disabled="blocked"))

    assert not look(alerts(post), post)


def test_a_new_version_is_told_once_and_the_first_is_no_news(post):
    assert not look(alerts(post, running="Lago 0.1, layer 1"), post)
    assert look(alerts(post, running="Lago 0.1, layer 2"), post)
    assert not look(alerts(post, running="Lago 0.1, layer 2"), post)

    assert texts(post) == ["A new version runs: Lago 0.1, layer 2."]


def a_report(text: str = "A cycle failed in its drain.") -> Report:
    return Report(signs=(Sign(key="cycle/drain", text=text, over="The drain works again."),))


def tell(post: Post) -> Tally:
    """Notify's part, without any drain."""
    ops = OperatorAlerts(OPERATOR, mailboxes=post.mailboxes, memory=OperatorStore(), clock=post.clock)
    return tell_now(a_report(), alerts=ops, sender=post.sender, deadline=EpochMs(post.clock.now + MINUTE))


def test_that_no_drain_works_is_told_without_one_and_once(post):
    assert tell(post).delivered == 1
    assert tell(post).delivered == 0

    assert [message.notifications[0].event.text for message in post.channel.sent] == ["A cycle failed in its drain."]
    assert post.mailboxes.counts()["telegram"].pending == 0


def test_what_cannot_be_told_now_waits_for_a_drain(post):
    post.channel.outcomes = [Outcome(kind=OutcomeKind.OUTAGE, reason="away")]

    assert tell(post).delivered == 0

    post.clock.now += HOUR
    run_drain(post)
    assert post.mailboxes.counts()["telegram"].pending == 0


def away(*_: object, **__: object) -> None:
    raise StoreUnavailableError("away")
