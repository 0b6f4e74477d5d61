import pytest

from lago.domain.ids import DestinationId
from lago_cli.ports import Chat
from tests.cli.fakes import FakeBot, FakeDestinations, FakeStack, a_destination, a_world
from tests.cli.run import answer, lago

TOKEN = "123456:ABC-DEF"
ANNA = Chat("77", "Anna")


def test_stores_the_token_as_a_secret_and_the_chat_as_destination() -> None:
    stack, bot = FakeStack(), FakeBot([[ANNA]])

    result = answer(lago(a_world(stack, bot=bot), "setup", "--token", TOKEN, "--json"))

    assert result["chat"] == "77"
    assert stack.secrets.kept == {"/lago/test/telegram-bot-token": TOKEN}
    destination = stack.destinations.kept[DestinationId("me")]
    assert (destination.channel, destination.address) == ("telegram", "77")
    assert destination.credentials == "/lago/test/telegram-bot-token"
    assert bot.sent == [("77", "Lago is connected")]


def test_reads_the_token_from_standard_input() -> None:
    stack, bot = FakeStack(), FakeBot([[ANNA]])

    lago(a_world(stack, bot=bot), "setup", "--token", "-", typed=f"{TOKEN}\n")

    assert bot.token == TOKEN


def test_waits_for_the_person_to_write() -> None:
    stack, bot = FakeStack(), FakeBot([[], [], [ANNA]])

    result = lago(a_world(stack, bot=bot), "setup", "--token", TOKEN)

    assert "write anything to @lago_test_bot" in result.stderr
    assert "writes to Anna (77)" in result.stdout


def test_gives_up_after_a_minute_and_changes_nothing() -> None:
    stack = FakeStack()

    result = lago(a_world(stack, bot=FakeBot()), "setup", "--token", TOKEN)

    assert result.exit_code == 1
    assert "Nobody wrote to @lago_test_bot within a minute" in result.stderr
    assert (stack.secrets.kept, stack.destinations.kept) == ({}, {})


def test_takes_no_strangers_chat_when_there_are_several() -> None:
    bot = FakeBot([[Chat("66", "Mallory"), ANNA]])

    result = lago(a_world(FakeStack(), bot=bot), "setup", "--token", TOKEN)

    assert result.exit_code == 1
    assert "choose one with --chat: 66 (Mallory), 77 (Anna)" in result.stderr
    assert bot.sent == []


def test_a_named_chat_is_not_looked_for() -> None:
    bot = FakeBot()

    lago(a_world(FakeStack(), bot=bot), "setup", "--token", TOKEN, "--chat", "-100200")

    assert bot.sent == [("-100200", "Lago is connected")]


def test_a_wrong_token_changes_nothing_and_is_not_repeated() -> None:
    stack = FakeStack()

    result = lago(a_world(stack, bot=FakeBot(refuses=True)), "setup", "--token", TOKEN)

    assert result.exit_code == 1
    assert "does not know this token" in result.stderr
    assert TOKEN not in result.output
    assert stack.secrets.kept == {}


def test_no_token_at_all_says_where_to_get_one() -> None:
    result = lago(a_world(FakeStack()), "setup", typed="")

    assert result.exit_code == 2
    assert "@BotFather" in result.stderr


def test_setting_up_again_revives_the_destination_and_keeps_its_time_zone() -> None:
    known = a_destination(time_zone="Europe/London", disabled="the bot was blocked")
    stack = FakeStack(destinations=FakeDestinations({known.id: known}))

    result = lago(a_world(stack, bot=FakeBot([[ANNA]])), "setup", "--token", TOKEN)

    renewed = stack.destinations.kept[known.id]
    assert (renewed.address, renewed.time_zone, renewed.disabled) == ("77", "Europe/London", "")
    assert "lago watch resume" in result.stderr


def test_another_time_zone_replaces_the_one_before() -> None:
    known = a_destination()
    stack = FakeStack(destinations=FakeDestinations({known.id: known}))

    lago(a_world(stack, bot=FakeBot([[ANNA]])), "setup", "--token", TOKEN, "--time-zone", "Europe/London")

    assert stack.destinations.kept[known.id].time_zone == "Europe/London"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--token", "abc"], "--token: got '(not shown: it may hold a secret)', expected a bot token"),
        (["--time-zone", "Vienna"], "--time-zone: got 'Vienna', expected a time zone's name"),
        (["--time-zone", "Europe"], "--time-zone: got 'Europe'"),
        (["--time-zone", "../etc/passwd"], "--time-zone: got '../etc/passwd'"),
        (["--destination", "shard#0"], "--destination: got 'shard#0', expected at most 40 letters"),
        (["--destination", ""], "--destination: got ''"),
    ],
)
def test_what_was_typed_wrong_is_told_before_the_stack_is_looked_for(options: list[str], sentence: str) -> None:
    result = lago(a_world(), "setup", *options)

    assert result.exit_code == 2
    assert sentence in result.stderr


def test_destinations_are_listed_with_their_state() -> None:
    known = a_destination(disabled="the bot was blocked")
    stack = FakeStack(destinations=FakeDestinations({known.id: known}))

    assert "disabled: the bot was blocked" in lago(a_world(stack), "destination", "list").stdout
    assert "lago setup" in lago(a_world(FakeStack()), "destination", "list").stdout
