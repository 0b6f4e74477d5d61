"""When whoever runs Lago is told: at first, once an hour at most, and when it is over."""

from hypothesis import given
from hypothesis import strategies as st

from lago.domain.ids import EpochMs
from lago.domain.operator import HOUR, SIGNS, Sign, Told, decide, settled
from tests.builders import NOW


def a_sign(key: str = "source/willhaben", mark: int = 0) -> Sign:
    return Sign(key=key, text=f"{key} is wrong", over=f"{key} is right", mark=mark)


def after(told: Told, *signs: Sign, at: int, scope: tuple[str, ...] = ("source", "gap")) -> tuple[Told, list[str]]:
    """What is remembered and what was said when these signs were seen then."""
    decided = decide(told, scope, signs, EpochMs(at)).told
    return settled(decided), [alert.text for alert in decided.due]


def test_a_sign_is_told_once_while_it_lasts_and_when_it_is_over():
    told, first = after(Told(), a_sign(), at=NOW)
    told, still = after(told, a_sign(), at=NOW + 5 * HOUR)
    told, over = after(told, at=NOW + 6 * HOUR)
    told, later = after(told, at=NOW + 7 * HOUR)

    assert (first, still, over, later) == (
        ["source/willhaben is wrong"],
        [],
        ["source/willhaben is right"],
        [],
    )


def test_what_gets_worse_is_told_again_after_an_hour_and_not_before():
    told, _ = after(Told(), a_sign(mark=1), at=NOW)

    soon = decide(told, ("source",), [a_sign(mark=2)], EpochMs(NOW + 1))
    later = decide(told, ("source",), [a_sign(mark=2)], EpochMs(NOW + HOUR))

    assert (soon.told.due, soon.again) == ((), NOW + HOUR)
    assert [alert.text for alert in later.told.due] == ["source/willhaben is wrong"]


def test_what_comes_and_goes_is_told_once_an_hour():
    told, said = Told(), []
    for minute in range(120):
        signs = [a_sign()] if minute % 2 == 0 else []
        told, texts = after(told, *signs, at=NOW + minute * 60_000)
        said += texts

    assert said == ["source/willhaben is wrong", "source/willhaben is right"] * 2


def test_what_somebody_else_looks_after_is_not_over_because_we_do_not_see_it():
    told, _ = after(Told(), a_sign("dead-letters"), at=NOW, scope=("dead-letters",))

    told, said = after(told, at=NOW + 1, scope=("source", "dead"))

    assert said == []
    assert told.signs["dead-letters"].open


def test_each_destination_has_an_hour_of_its_own():
    told, _ = after(Told(), a_sign("disabled/a"), at=NOW, scope=("disabled",))

    _, said = after(told, a_sign("disabled/a"), a_sign("disabled/b"), at=NOW + 1, scope=("disabled",))

    assert said == ["disabled/b is wrong"]


def test_what_is_due_stays_due_until_it_is_queued():
    decided = decide(Told(), ("source",), [a_sign()], EpochMs(NOW)).told

    assert [alert.text for alert in decide(decided, ("source",), [a_sign()], EpochMs(NOW + 1)).told.due] == [
        "source/willhaben is wrong"
    ]


@given(st.lists(st.tuples(st.sets(st.integers(0, 200), max_size=80), st.integers(0, HOUR)), max_size=20))
def test_whatever_is_seen_each_sign_is_told_once_an_hour_and_the_memory_stays_small(looks):
    told, now = Told(), NOW
    when: dict[str, int] = {}
    for seen, later in looks:
        now += later
        decided = decide(told, ("source",), [a_sign(f"source/{n}") for n in seen], EpochMs(now)).told
        for alert in decided.due:
            if not alert.key.endswith("-over"):
                assert now - when.get(alert.key, now - HOUR) >= HOUR
                when[alert.key] = now
        assert len(decided.signs) <= SIGNS
        told = settled(decided)
