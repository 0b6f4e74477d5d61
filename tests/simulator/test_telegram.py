"""The Bot API answers as Telegram does, without HTTP."""

import json
from typing import Any

import pytest

from simulator.clock import Clock
from simulator.telegram import DEFAULT_TOKEN, Telegram
from tests.simulator.serving import CHAT, NOON

BUTTON = {"inline_keyboard": [[{"text": "Zur Anzeige", "url": "https://www.willhaben.at/iad/object?adId=1"}]]}


def telegram(clock: Clock | None = None) -> Telegram:
    return Telegram(clock or Clock(stopped=NOON))


def call(bot: Telegram, method: str = "sendMessage", token: str = DEFAULT_TOKEN, **params: Any) -> tuple[int, Any]:
    if method.lower().startswith("send"):
        params = {"chat_id": CHAT} | params
    answer = bot.call(token, method, params)
    return answer.status, json.loads(json.dumps(answer.body))


def refusal(bot: Telegram, method: str = "sendMessage", **params: Any) -> tuple[int, str]:
    status, body = call(bot, method, **params)
    assert body["ok"] is False
    assert body["error_code"] == status
    return status, body["description"]


def test_a_message_is_seen_by_the_person_as_text_with_buttons() -> None:
    bot = telegram()

    status, body = call(bot, text="<b>Rennrad</b> &lt;neu&gt;", parse_mode="HTML", reply_markup=BUTTON)

    assert (status, body["ok"], body["result"]["text"]) == (200, True, "Rennrad <neu>")
    assert body["result"]["chat"] == {"id": CHAT, "type": "private", "first_name": "Maria Muster"}
    assert body["result"]["date"] == NOON // 1000
    message = bot.messages(CHAT)[0]
    assert (message.text, message.raw, message.photo) == ("Rennrad <neu>", "<b>Rennrad</b> &lt;neu&gt;", None)
    assert message.buttons[0][0].url == "https://www.willhaben.at/iad/object?adId=1"


def test_a_photo_has_a_caption_and_the_keyboard_may_be_json_text() -> None:
    bot = telegram()

    status, body = call(
        bot,
        "sendPhoto",
        photo="https://cache.willhaben.at/mmo/1/a_hoved.jpg",
        caption="<i>so</i>",
        parse_mode="html",
        reply_markup=json.dumps(BUTTON),
    )

    assert (status, body["result"]["caption"]) == (200, "so")
    message = bot.messages(CHAT)[0]
    assert (message.method, message.photo) == ("sendPhoto", "https://cache.willhaben.at/mmo/1/a_hoved.jpg")


def test_without_a_parse_mode_markup_is_text() -> None:
    bot = telegram()

    call(bot, text="<neu> & so")

    assert bot.messages()[0].text == "<neu> & so"


def test_limits_count_utf_16_units_after_the_entities_are_gone() -> None:
    bot = telegram()
    photo = "https://example.org/a.jpg"

    assert call(bot, text="<b>" + "🚲" * 2048 + "</b>", parse_mode="HTML")[0] == 200
    assert refusal(bot, text="🚲" * 2048 + "x") == (400, "Bad Request: message is too long")
    assert call(bot, "sendPhoto", photo=photo, caption="&lt;" * 1024, parse_mode="HTML")[0] == 200
    too_long = refusal(bot, "sendPhoto", photo=photo, caption="x" * 1025)
    assert too_long == (400, "Bad Request: message caption is too long")


@pytest.mark.parametrize(
    ("params", "description"),
    [
        ({"text": ""}, "message text is empty"),
        ({"text": " <b> </b> ", "parse_mode": "HTML"}, "message text is empty"),
        (
            {"text": "<neu>", "parse_mode": "HTML"},
            'can\'t parse entities: Unsupported start tag "neu" at byte offset 0',
        ),
        ({"text": "x", "parse_mode": "XML"}, "unsupported parse_mode"),
        ({"text": "x\ud800"}, "strings must be encoded in UTF-8"),
        ({"text": "x", "chat_id": 99}, "chat not found"),
        ({"text": "x", "chat_id": "@niemand"}, "chat not found"),
        ({"text": "x", "chat_id": ""}, "chat_id is empty"),
        ({"text": "x", "reply_markup": "{"}, "can't parse reply keyboard markup JSON object"),
        ({"text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a"}]]}}, "text buttons are unallowed in the"),
        ({"text": "x", "reply_markup": {"inline_keyboard": [[{"text": " ", "url": "https://a.at"}]]}}, "can't parse"),
    ],
)
def test_what_is_wrong_with_a_message_is_said(params: dict[str, Any], description: str) -> None:
    bot = telegram()

    status, said = refusal(bot, **params)

    assert status == 400
    assert said.startswith(f"Bad Request: {description}")
    assert bot.messages() == []


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("nur-text", "Wrong HTTP URL"),
        ("http://localhost:8099/x", "Wrong HTTP URL"),
        ("https://a b.at/", "Wrong HTTP URL"),
        ("ftp://example.org/", "Unsupported URL protocol"),
        ("javascript://alert(1)", "Unsupported URL protocol"),
    ],
)
def test_a_button_leads_to_the_web_or_into_telegram(url: str, why: str) -> None:
    said = refusal(telegram(), text="x", reply_markup={"inline_keyboard": [[{"text": "a", "url": url}]]})

    assert said == (400, f"Bad Request: inline keyboard button URL '{url}' is invalid: {why}")
    for good in ("http://127.0.0.1:8099/iad/", "tg://user?id=1"):
        assert call(telegram(), text="x", reply_markup={"inline_keyboard": [[{"text": "a", "url": good}]]})[0] == 200


def test_a_photo_is_a_web_address() -> None:
    said = refusal(telegram(), "sendPhoto", photo="kein-bild")

    assert said == (400, "Bad Request: wrong file identifier/HTTP URL specified")
    assert refusal(telegram(), "sendPhoto")[1] == "Bad Request: there is no photo in the request"


def test_a_wrong_token_and_an_unknown_method() -> None:
    bot = telegram()

    assert refusal(bot, token="4711:falsch", text="x") == (401, "Unauthorized")
    assert refusal(bot, token="falsch", text="x") == (404, "Not Found")
    assert refusal(bot, "sendTelepathy") == (404, "Not Found: method not found")
    assert call(bot, "SENDMESSAGE", text="x")[0] == 200


def test_a_person_who_blocked_the_bot_and_a_group_that_removed_it() -> None:
    bot = telegram()
    bot.set_chat(CHAT, blocked=True)
    bot.set_chat(-5, blocked=True)

    assert refusal(bot, text="x") == (403, "Forbidden: bot was blocked by the user")
    assert refusal(bot, text="x", chat_id=-5) == (403, "Forbidden: bot was kicked from the group chat")

    bot.set_chat(CHAT, blocked=False)

    assert call(bot, text="x")[0] == 200


def test_a_group_that_became_a_supergroup_names_its_new_id() -> None:
    bot = telegram()
    bot.set_chat(-5, title="Radler", migrate_to=-1005)

    status, body = call(bot, text="x", chat_id=-5)

    assert (status, body["parameters"]) == (400, {"migrate_to_chat_id": -1005})
    assert body["description"] == "Bad Request: group chat was upgraded to a supergroup chat"
    assert call(bot, text="x", chat_id="-1005")[1]["result"]["chat"] == {
        "id": -1005,
        "type": "supergroup",
        "title": "Radler",
    }


def test_one_message_a_second_for_a_chat_only_when_limits_are_on() -> None:
    clock = Clock(stopped=NOON)
    bot = telegram(clock)
    assert [call(bot, text="x")[0] for _ in range(3)] == [200, 200, 200]
    clock.advance(1_000)
    bot.rate_limited = True

    assert call(bot, text="x")[0] == 200
    status, body = call(bot, text="x")

    assert (status, body["parameters"]) == (429, {"retry_after": 1})
    assert body["description"] == "Too Many Requests: retry after 1"
    bot.set_chat(4712)
    assert call(bot, text="x", chat_id=4712)[0] == 200
    clock.advance(1_000)
    assert call(bot, text="x")[0] == 200


def test_twenty_messages_a_minute_for_a_group() -> None:
    clock = Clock(stopped=NOON)
    bot = telegram(clock)
    bot.set_chat(-5)
    bot.rate_limited = True
    for _ in range(20):
        assert call(bot, text="x", chat_id=-5)[0] == 200
        clock.advance(1_000)

    status, body = call(bot, text="x", chat_id=-5)

    assert (status, body["parameters"]) == (429, {"retry_after": 40})
    clock.advance(40_000)
    assert call(bot, text="x", chat_id=-5)[0] == 200


def test_thirty_messages_a_second_for_the_bot() -> None:
    bot = telegram()
    bot.rate_limited = True
    for chat in range(1, 32):
        bot.set_chat(chat)

    statuses = [call(bot, text="x", chat_id=chat)[0] for chat in range(1, 32)]

    assert statuses == [200] * 30 + [429]


def test_updates_wait_until_an_offset_confirms_them() -> None:
    bot = telegram()
    bot.say(CHAT, "/start")
    bot.say(CHAT, "hallo")

    first = call(bot, "getUpdates", limit=1)[1]["result"]
    assert [update["message"]["text"] for update in first] == ["/start"]
    assert first[0]["message"]["chat"]["id"] == CHAT
    assert first[0]["message"]["entities"] == [{"type": "bot_command", "offset": 0, "length": 6}]

    rest = call(bot, "getUpdates", offset=first[0]["update_id"] + 1)[1]["result"]
    assert [update["message"]["text"] for update in rest] == ["hallo"]
    assert call(bot, "getUpdates", offset=-1)[1]["result"] == rest
    assert call(bot, "getUpdates", offset=rest[0]["update_id"] + 1)[1]["result"] == []


def test_a_webhook_is_https_and_excludes_get_updates() -> None:
    bot = telegram()

    said = refusal(bot, "setWebhook", url="http://example.org/hook")
    assert said == (400, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook")
    assert call(bot, "setWebhook", url="https://example.org/hook", secret_token="s3")[0] == 200
    assert refusal(bot, "getUpdates")[0] == 409
    info = call(bot, "getWebhookInfo")[1]["result"]
    assert (info["url"], info["pending_update_count"]) == ("https://example.org/hook", 0)
    assert "s3" not in json.dumps(info)

    call(bot, "deleteWebhook")

    assert call(bot, "getUpdates")[1]["result"] == []


def test_get_me_and_get_chat() -> None:
    bot = telegram()

    assert call(bot, "getMe")[1]["result"]["username"] == "lago_simulator_bot"
    assert call(bot, "getChat", chat_id=CHAT)[1]["result"]["id"] == CHAT


def test_what_was_stored_is_there_again() -> None:
    bot, again = telegram(), telegram()
    bot.set_chat(-5, migrate_to=-1005)
    bot.say(CHAT, "hallo")
    call(bot, "sendPhoto", photo="https://example.org/a.jpg", caption="x", reply_markup=BUTTON)

    again.load(json.loads(json.dumps(bot.to_json())))

    assert again.to_json() == bot.to_json()
    assert again.messages() == bot.messages()
    assert DEFAULT_TOKEN not in json.dumps(bot.to_json())
