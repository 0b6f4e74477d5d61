import pytest

from lago.channels import registry
from lago.domain.ids import DestinationId
from lago_cli import destination_add
from lago_cli.errors import FunctionError
from tests.cli.fakes import FakeDestinations, FakeFunctions, FakeStack, FakeWatches, a_destination, a_watch, a_world
from tests.cli.run import answer, lago
from tests.fakes.destinations import a_spec

HOME = DestinationId("home")
HOOK = "https://hooks.example/T0/very-secret"


@pytest.fixture(autouse=True)
def _channels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(destination_add, "target_spec", a_spec)


def add(stack: FakeStack, *arguments: str, typed: str | None = HOOK):
    return lago(a_world(stack), "destination", "add", *arguments, typed=typed)


def test_a_secret_target_is_read_from_standard_input_stored_and_never_printed() -> None:
    stack = FakeStack()

    result = add(stack, "home", "--channel", "slack", "-")

    assert result.exit_code == 0
    assert stack.secrets.kept == {"/lago/test/destinations/home/slack": HOOK}
    assert "“home” is slack hooks.example: no quiet hours, told at once, Europe/Vienna." in result.stdout
    assert "key 0001" in result.stdout
    assert "lago destination test home" in result.stderr
    assert "very-secret" not in result.output


def test_a_secret_target_is_not_taken_from_the_command_line() -> None:
    stack = FakeStack()

    result = add(stack, "home", "--channel", "slack", HOOK)

    assert result.exit_code == 2
    assert "a shell remembers what is typed" in result.stderr
    assert "very-secret" not in result.output
    assert (stack.secrets.kept, stack.destinations.kept) == ({}, {})


def test_a_target_that_is_no_secret_is_typed_with_options() -> None:
    stack = FakeStack()
    options = ("--quiet", "22:00-07:00", "--club", "600", "--digest", "18:00", "--time-zone", "Europe/London")

    added = answer(add(stack, "home", "77", "--channel", "telegram", *options, "--json"))

    made = stack.destinations.kept[HOME]
    assert (made.address, made.quiet, made.club_seconds, made.digest_at) == ("77", (1_320, 420), 600, 1_080)
    assert (made.time_zone, made.owner, made.credentials) == ("Europe/London", "me", "")
    assert added["destination"]["digest"] == "18:00"


def test_another_channel_is_refused_unless_it_is_to_be_replaced() -> None:
    stack = FakeStack(destinations=FakeDestinations({HOME: a_destination(id=HOME)}))

    refused = add(stack, "home", "--channel", "slack", "-")
    add(stack, "home", "--channel", "slack", "-", "--replace")

    assert refused.exit_code == 2
    assert "--channel: got 'slack', expected telegram, which 'home' is already" in refused.stderr
    assert stack.destinations.kept[HOME].channel == "slack"


def test_adding_a_disabled_one_again_lets_its_watches_go_on() -> None:
    disabled = a_destination(id=HOME, disabled="gone")
    watches = FakeWatches([a_watch("w1", destinations=(HOME,), paused="gone")])
    stack = FakeStack(destinations=FakeDestinations({HOME: disabled}), watches=watches)

    result = add(stack, "home", "78", "--channel", "telegram")

    assert stack.destinations.kept[HOME].disabled == ""
    assert "Watches that go on: w1." in result.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("a b", "--channel", "slack", "-"), "ID: got 'a b'"),
        (("home", "-"), "--channel: got 'nothing', expected one of"),
        (("home", "--channel", "pigeon", "-"), "--channel: got 'pigeon', expected one of"),
        (("home", "--channel", "slack", "-", "--digest", "6"), "--digest: got '6'"),
    ],
)
def test_what_is_typed_wrong_is_told_before_anything_is_read(arguments: tuple[str, ...], sentence: str) -> None:
    result = lago(a_world(), "destination", "add", *arguments)

    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())


def test_what_is_no_text_on_standard_input_is_told_in_a_sentence() -> None:
    result = lago(a_world(FakeStack()), "destination", "add", "home", "--channel", "slack", "-", typed=b"\xff\xfe\x00")

    assert result.exit_code == 2
    assert "TARGET: got 'something else on standard input', expected text" in result.stderr


def test_a_wrong_target_is_told_without_it() -> None:
    stack = FakeStack()

    result = add(stack, "home", "--channel", "slack", "-", typed="ftp://very-secret")

    assert result.exit_code == 2
    assert "TARGET: got 'what was given', expected an https address" in result.stderr
    assert stack.secrets.kept == {}


def test_the_channels_are_those_of_the_registry() -> None:
    printed = lago(a_world(), "destination", "add", "--help").stdout

    assert all(channel in printed for channel in registry.CHANNELS)


def with_answer(answer: object) -> FakeStack:
    return FakeStack(functions=FakeFunctions({"test-notify": answer}))


def test_a_test_that_arrives_is_told() -> None:
    stack = with_answer({"delivered": True, "outcome": "delivered"})

    result = lago(a_world(stack), "destination", "test", "home")

    assert (result.exit_code, stack.functions.asked) == (0, [("test-notify", {"test": "home"})])
    assert "Delivered: look for it at “home”." in result.stdout


def test_a_test_that_does_not_arrive_says_why_and_fails() -> None:
    stack = with_answer({"delivered": False, "outcome": "it asks to wait (HTTP 429)\x1b[2J"})

    result = lago(a_world(stack), "destination", "test", "home")

    assert result.exit_code == 1
    assert "Not delivered: it asks to wait (HTTP 429)[2J." in result.stderr


@pytest.mark.parametrize("said", [{"batchItemFailures": []}, None, FunctionError("test-notify: KeyError")])
def test_a_stack_that_cannot_test_is_one_sentence(said: object) -> None:
    result = lago(a_world(with_answer(said)), "destination", "test", "home")

    assert result.exit_code == 1
    assert len(result.stderr.strip().splitlines()) == 1
