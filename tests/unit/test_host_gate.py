import threading
from collections.abc import Callable

from lago.domain.ids import EpochMs, Milliseconds
from lago.host_gate import IN_FLIGHT, HostGate


class Time:
    """A clock that moves only by sleeping."""

    def __init__(self) -> None:
        self.now, self.slept = 1_000, list[int]()

    def sleep(self, milliseconds: Milliseconds) -> None:
        self.slept.append(milliseconds)
        self.now += milliseconds


def gate_at(time: Time, spacing: int = 250, random: Callable[[], float] = lambda: 0.0) -> HostGate:
    return HostGate(Milliseconds(spacing), clock=lambda: EpochMs(time.now), sleep=time.sleep, random=random)


def test_the_first_request_waits_for_nothing_and_the_next_for_the_spacing() -> None:
    time = Time()
    gate = gate_at(time)

    for _ in range(3):
        with gate.turn("host"):
            pass

    assert time.slept == [250, 250]


def test_time_that_passed_anyway_is_not_waited_for() -> None:
    time = Time()
    gate = gate_at(time)

    with gate.turn("host"):
        time.now += 200
    with gate.turn("host"):
        time.now += 900
    with gate.turn("host"):
        pass

    assert time.slept == [50]


def test_jitter_only_ever_adds() -> None:
    time = Time()
    gate = gate_at(time, random=lambda: 0.999)

    for _ in range(2):
        with gate.turn("host"):
            pass

    assert time.slept == [312]


def test_hosts_do_not_wait_for_each_other() -> None:
    time = Time()
    gate = gate_at(time)

    for host in ("one", "two", "three"):
        with gate.turn(host):
            pass

    assert time.slept == []


def test_a_clock_that_was_set_back_does_not_silence_a_host() -> None:
    time = Time()
    gate = gate_at(time)
    with gate.turn("host"):
        pass

    time.now -= 900_000
    with gate.turn("host"):
        pass

    assert time.slept == [IN_FLIGHT * 312]


def test_a_failed_request_gives_its_place_back() -> None:
    time = Time()
    gate = gate_at(time, spacing=0)

    for _ in range(IN_FLIGHT + 1):
        try:
            with gate.turn("host"):
                raise RuntimeError
        except RuntimeError:
            pass


def test_at_most_two_requests_run_at_a_time() -> None:
    gate = HostGate(Milliseconds(0), clock=lambda: EpochMs(0), sleep=lambda _: None, random=lambda: 0.0)
    inside, most = list[int](), list[int]()
    lock, release = threading.Lock(), threading.Event()

    def work() -> None:
        with gate.turn("host"):
            with lock:
                inside.append(1)
                most.append(len(inside))
                if len(most) == IN_FLIGHT:
                    release.set()
            release.wait(5)
            with lock:
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)

    assert len(most) == 8
    assert max(most) <= IN_FLIGHT
