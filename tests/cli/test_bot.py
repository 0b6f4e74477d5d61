"""The bot against a server on this machine."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from lago.errors import BadInputError
from lago_cli.bot import TelegramBot
from lago_cli.errors import TelegramError
from lago_cli.ports import Chat

TOKEN = "123:SECRET"


@contextmanager
def telegram(status: int, body: object) -> Iterator[TelegramBot]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            answer = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Keep the tests quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield TelegramBot(f"http://127.0.0.1:{server.server_port}/", TOKEN)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_name_proves_the_token() -> None:
    with telegram(200, {"ok": True, "result": {"id": 1, "username": "my_bot"}}) as bot:
        assert bot.name() == "@my_bot"


def test_every_conversation_is_found_once() -> None:
    anna = {"id": 77, "type": "private", "first_name": "Anna", "last_name": "B\u202e"}
    updates = [
        {"update_id": 1, "message": {"chat": anna, "text": "hi"}},
        {"update_id": 2, "message": {"chat": anna, "text": "hello?"}},
        {"update_id": 3, "my_chat_member": {"chat": {"id": -100, "type": "group", "title": "Family"}}},
        {"update_id": 4, "poll": {}},
    ]
    with telegram(200, {"ok": True, "result": updates}) as bot:
        assert bot.chats(0) == [Chat("77", "Anna B"), Chat("-100", "Family")]


def test_a_chat_is_known_by_its_title() -> None:
    with telegram(200, {"ok": True, "result": {"id": -100, "type": "group", "title": "Family\u202e"}}) as bot:
        assert bot.chat("-100") == Chat("-100", "Family")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("", ""),
        ("https://bot.example.org/hook/SECRET", "bot.example.org"),
        ("https://me:SECRET@bot.example.org:8443/x", "bot.example.org:8443"),
        ("SECRET", "an address"),
    ],
)
def test_of_a_webhook_only_the_host_is_told(url: str, host: str) -> None:
    with telegram(200, {"ok": True, "result": {"url": url, "pending_update_count": 0}}) as bot:
        assert bot.webhook() == host


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (401, {"ok": False, "description": "Unauthorized"}, "does not know this token"),
        (404, "", "does not know this token"),
        (409, {"ok": False, "description": "webhook is active"}, "give the chat with --chat"),
        (400, {"ok": False, "description": "chat not found"}, "Telegram refused getMe: chat not found"),
        (502, "<html>", "status 502"),
        (200, "garbage", "could not be understood"),
        (200, {"ok": True}, "could not be understood"),
        (200, {"ok": True, "result": []}, "could not be understood"),
    ],
)
def test_what_telegram_refuses_is_told_without_the_token(status: int, body: object, sentence: str) -> None:
    with telegram(status, body) as bot, pytest.raises(TelegramError, match=sentence) as caught:
        bot.name()

    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_unreachable_telegram_is_told_without_the_token() -> None:
    with telegram(200, {}) as bot:
        pass

    with pytest.raises(TelegramError, match="could not be reached") as caught:
        bot.name()

    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("token", ["", "abc", "1:a/../x", "1:a b", "1:ä"])
def test_what_cannot_be_a_token_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(BadInputError, match="not shown"):
        TelegramBot("https://api.telegram.org", token)


def test_an_api_address_must_be_one() -> None:
    with pytest.raises(BadInputError, match="TelegramApiUrl"):
        TelegramBot("file:///etc", TOKEN)
