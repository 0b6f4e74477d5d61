"""Secrets of Parameter Store, as several threads of a function ask for them."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError

from lago.wiring.secrets import ParameterSecrets

THREADS = 4


class FakeProvider:
    def get(self, name: str, **_: object) -> str:
        return f"secret of {name}"


def test_the_first_messages_threads_share_one_client() -> None:
    made: list[FakeProvider] = []
    others = Barrier(2)

    def make() -> FakeProvider:
        made.append(FakeProvider())
        with suppress(BrokenBarrierError):
            others.wait(0.1)  # for another that makes one, too
        return made[-1]

    secrets = ParameterSecrets("/lago/test/telegram-bot-token", make)  # type: ignore[arg-type]

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(secrets.get, ["/one", "/two", "", "/three"]))

    assert found[2] == "secret of /lago/test/telegram-bot-token"
    assert len(made) == 1
