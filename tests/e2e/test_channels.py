"""Channels, end to end: added with the real command, told by the deployed functions, read where they arrive."""

import itertools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email import message_from_bytes, policy
from typing import Any

import httpx
import pytest

from simulator.client import HookPost
from tests.e2e.conftest import Lago, Operator, until
from tests.unit.webhook.test_signature import documented

_numbers = itertools.count(1)
FREE = {
    "slack": "https://hooks.slack.com/services/T0000000{n}/B0000000{n}/{n:024}",
    "discord": "https://discord.com/api/webhooks/{n:018}/{n:068}",
    "ntfy": "{simulator}/topic-{n:012}",
    "webhook": "{simulator}/_hooks/webhook/secret-{n:012}",
    "email": "reader{n}@example.org",
}
"""What a person would give for the n-th destination."""


@dataclass
class Place:
    """A destination and where its messages can be read."""

    lago: Lago
    channel: str
    id: str
    target: str
    mark: str
    """What tells its posts from all others: a part of the path, or the topic."""

    def posts(self) -> list[HookPost]:
        return [post for post in self.lago.simulator.posts(self.channel) if self.mark in post.path + post.raw]

    def mails(self) -> list[Any]:
        taken = [mail for mail in self.lago.inbox.mails if mail.rcpt_tos == [self.target]]
        return [message_from_bytes(mail.content, policy=policy.default) for mail in taken]

    def texts(self) -> list[str]:
        """Each message, whatever it is made of."""
        if self.channel == "email":
            return [f"{mail['subject']}\n{mail.get_body(('plain',)).get_content()}" for mail in self.mails()]
        return [json.dumps(post.json, ensure_ascii=False) for post in self.posts()]

    def get(self, *, count: int) -> list[str]:
        """The messages once there are `count`; more would be a failure of its own."""
        until(lambda: len(self.texts()) >= count)
        return self.texts()

    def fails(self, status: int, times: int | None = 1) -> None:
        """Its far side answers with an error."""
        where = {"text": self.mark} if self.channel == "ntfy" else {"path": self.mark}
        self.lago.simulator.fault("status", self.channel, status=status, times=times, **where)

    def disabled(self) -> str:
        """Why it takes no messages; empty while it does."""
        status, shown = self.lago.ask("GET", f"/destinations/{self.id}")
        assert status == 200
        return str(shown["disabled"])


Places = Callable[[str], Place]


@pytest.fixture
def place(lago: Lago) -> Iterator[Places]:
    """Makes places that no other test has; what was added is removed at the end."""
    made: list[Place] = []

    def new(channel: str) -> Place:
        n = next(_numbers)
        target = FREE[channel].format(n=n, simulator=lago.process.url)
        made.append(Place(lago, channel, f"{channel}-{n}", target, target.rpartition("/")[2]))
        return made[-1]

    yield new
    lago.simulator.clear_faults()
    for each in made:
        assert lago.ask("DELETE", f"/destinations/{each.id}", force="true")[0] in (200, 404)


def add(each: Place) -> str:
    """Add it with the command, its secret through standard input; what the command said."""
    done = each.lago.command("destination", "add", each.id, "-", "--channel", each.channel, typed=f"{each.target}\n")
    assert done.returncode == 0, done.stderr
    assert each.channel == "email" or each.mark not in done.stdout + done.stderr, "the secret was shown"
    return done.stdout


def ask_to_add(each: Place) -> dict[str, Any]:
    """Add it over HTTP."""
    status, added = each.lago.ask(
        "POST", "/destinations", {"id": each.id, "channel": each.channel, "target": each.target}
    )
    assert status == 201, added
    answer: dict[str, Any] = added
    return answer


@dataclass
class Watching:
    """A watch of the test's own, told to places."""

    lago: Lago
    keyword: str

    def publish(self, title: str, price: float = 100.0) -> None:
        self.lago.simulator.publish(title=f"{self.keyword} {title}", price=price)


def watch(*places: Place) -> Watching:
    """A watch that is live: each place has been told."""
    lago, keyword = places[0].lago, f"kanal{next(_numbers)}"
    to = [argument for each in places for argument in ("--to", each.id)]
    done = lago.command("watch", "add", keyword, *to)
    assert done.returncode == 0, done.stderr
    lago.cycle()
    for each in places:
        (text,) = each.get(count=1)
        assert "is live" in text or "lago.watch_live.v1" in text
    return Watching(lago, keyword)


@pytest.mark.parametrize("channel", FREE)
def test_a_destination_that_was_added_is_listed_and_takes_a_test_message(lago: Lago, place: Places, channel: str):
    new = place(channel)

    said = add(new)
    tried = lago.command("destination", "test", new.id)

    assert new.id in said
    assert (tried.returncode, tried.stdout) == (0, f"Delivered: look for it at “{new.id}”.\n")
    (text,) = new.get(count=1)
    assert "test message" in text.lower() or "lago.test.v1" in text
    listed = {each["id"]: each for each in json.loads(lago.command("destination", "list", "--json").stdout)}
    assert (listed[new.id]["channel"], listed[new.id]["disabled"]) == (channel, "")
    assert channel == "email" or new.mark not in json.dumps(listed)


def test_one_watch_tells_three_channels_and_one_that_fails_holds_up_no_other(lago: Lago, place: Places):
    slack, others = place("slack"), [place("discord"), place("ntfy")]
    for each in (slack, *others):
        ask_to_add(each)
    watching = watch(slack, *others)
    slack.fails(500)

    watching.publish("Rahmen & <b>Gabel</b>", price=1250)
    lago.cycle()

    for each in others:
        assert "Rahmen" in each.get(count=2)[-1]
    until(lambda: lago.stats()["pending"]["total"] == 1)
    assert len(slack.texts()) == 1
    lago.drained()
    assert "1.250" in slack.get(count=2)[-1]
    assert [len(each.texts()) for each in (slack, *others)] == [2, 2, 2]


def test_many_ads_at_once_are_one_message_on_each_channel_with_the_numbers_first(lago: Lago, place: Places):
    channels = [place("slack"), place("discord"), place("ntfy"), place("webhook"), place("email")]
    for each in channels:
        ask_to_add(each)
    watching = watch(*channels)

    for n in range(7):
        watching.publish(f"Teil {n:02}")
    lago.cycle()
    lago.drained()

    for each in channels:
        text = each.get(count=2)[-1]
        assert all(f"Teil {n:02}" in text for n in range(7)), each.channel
        assert len(each.texts()) == 2
        if each.channel != "webhook":
            assert "7 new" in text
    (club,) = [post.json for post in channels[3].posts() if "Teil" in post.raw]
    assert club is not None
    assert (club["type"], club["data"]["total"]) == ("lago.club.v1", 7)


def test_a_webhook_is_signed_with_the_key_that_was_shown(lago: Lago, place: Places):
    webhook = place("webhook")

    (key,) = re.findall(r"whsec_\S+", add(webhook))
    lago.command("destination", "test", webhook.id)

    webhook.get(count=1)
    (post,) = webhook.posts()
    assert documented()(post.headers, post.raw.encode(), key)
    assert not documented()(post.headers, post.raw.encode() + b" ", key)
    assert (post.json or {})["specversion"] == "1.0"


def test_a_webhook_that_is_gone_is_disabled_the_operator_hears_and_what_waited_comes_when_it_is_back(
    lago: Lago, place: Places, operator: Operator
):
    webhook = place("webhook")
    ask_to_add(webhook)
    watching = watch(webhook)
    webhook.fails(410)
    watching.publish("Sattel")
    lago.cycle()
    until(lambda: "410" in webhook.disabled())

    heard = operator.hears(f"The destination {webhook.id} takes no messages")
    assert "410" in heard
    assert len(webhook.texts()) == 1

    enabled = lago.command("destination", "enable", webhook.id)
    assert enabled.returncode == 0
    assert "What waits goes out with the next cycle" in enabled.stderr
    assert "Watches that go on" in enabled.stderr
    assert operator.hears(f"The destination {webhook.id} takes messages again")
    lago.drained()
    assert "Sattel" in webhook.get(count=2)[-1]

    watching.publish("Lenker")
    lago.cycle()
    assert "Lenker" in webhook.get(count=3)[-1]


def test_a_slack_webhook_that_was_removed_there_is_disabled(lago: Lago, place: Places):
    slack = place("slack")
    ask_to_add(slack)
    slack.fails(404, times=None)

    tried = lago.command("destination", "test", slack.id)

    assert tried.returncode == 1
    assert "the destination is disabled now" in tried.stderr
    assert "no_service" in slack.disabled()
    assert slack.mark not in tried.stderr + slack.disabled()


def test_a_mail_has_a_link_that_unsubscribes_when_its_button_is_pressed_and_not_when_it_is_opened(
    lago: Lago, place: Places
):
    reader = place("email")
    add(reader)
    watching = watch(reader)
    watching.publish("Rahmen <b>", price=1250)
    lago.cycle()
    reader.get(count=2)
    mail = reader.mails()[-1]
    assert "Rahmen <b>" in mail["subject"]
    assert "Rahmen &lt;b&gt;" in mail.get_body(("html",)).get_content()
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    # the link has the address that the API would have on AWS
    at_aws, _, asked = mail["List-Unsubscribe"].strip("<>").partition("/v1/")
    assert at_aws.startswith("https://")
    assert at_aws.endswith(".amazonaws.com")
    link = f"{lago.stack.api_url}/{asked}"

    page = httpx.get(link, timeout=20)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert '<form method="post">' in page.text
    assert reader.disabled() == ""
    assert httpx.post(link[:-1] + ("A" if link[-1] != "A" else "B"), timeout=20).status_code == 404
    assert reader.disabled() == ""

    pressed = httpx.post(link, data={"List-Unsubscribe": "One-Click"}, timeout=20)
    assert pressed.status_code == 200
    assert reader.disabled() == "unsubscribed by its reader"
    watching.publish("Sattel")
    lago.cycle()
    assert len(reader.texts()) == 2


def test_a_mail_that_bounces_ends_its_destination(lago: Lago, place: Places):
    reader, other = place("email"), place("email")
    for each in (reader, other):
        ask_to_add(each)

    bounced = {"bounceType": "Permanent", "bouncedRecipients": [{"emailAddress": reader.target}]}
    event = {"eventType": "Bounce", "bounce": bounced, "mail": {"destination": [reader.target]}}
    message = {"EventSource": "aws:sns", "Sns": {"Message": json.dumps(event)}}

    report = lago.stack.invoke("NotifyFunction", {"Records": [message]})

    assert report["disabled"] == [reader.id]
    assert "bounced for good" in reader.disabled()
    assert other.disabled() == ""


INSIDE = [
    "http://169.254.169.254/latest/meta-data",
    "https://169.254.169.254/latest/meta-data",
    "http://127.0.0.1:{cloud}/",
    "https://127.0.0.1:{cloud}/",
    "https://[::ffff:127.0.0.1]:{cloud}/",
    "https://2130706433/",
    "https://localhost/",
    "http://example.org/hook",
    "https://127.0.0.1:{simulator}/_hooks/webhook/other-scheme",
    "file:///etc/passwd",
]


@pytest.mark.parametrize("channel", ["webhook", "ntfy"])
def test_nothing_inside_can_be_added(lago: Lago, place: Places, channel: str):
    new = place(channel)
    ports = {"cloud": lago.stack.url.rpartition(":")[2], "simulator": lago.process.url.rpartition(":")[2]}

    for url in INSIDE:
        body = {"id": new.id, "channel": channel, "target": url.format(**ports)}
        status, said = lago.ask("POST", "/destinations", body)
        assert (status, said["field"]) == (400, "target"), url
    typed = lago.command("destination", "add", new.id, "-", "--channel", channel, typed=INSIDE[0])

    assert typed.returncode != 0
    assert "Traceback" not in typed.stderr
    assert "https" in typed.stderr
    assert lago.ask("GET", f"/destinations/{new.id}")[0] == 404
    secrets = lago.stack.client("ssm").describe_parameters(
        ParameterFilters=[{"Key": "Name", "Option": "Contains", "Values": [new.id]}]
    )
    assert secrets["Parameters"] == []


def test_destinations_over_http(lago: Lago, place: Places):
    new = place("discord")
    refused = httpx.get(f"{lago.stack.api_url}/destinations", timeout=20)
    assert refused.status_code == 403

    added = ask_to_add(new)
    assert added["destination"]["address"].startswith("discord.com/api/webhooks/")
    status, tried = lago.ask("POST", f"/destinations/{new.id}/test")
    assert (status, tried["delivered"]) == (200, True)
    status, changed = lago.ask("PATCH", f"/destinations/{new.id}", {"quiet": "22:00-07:00", "club_seconds": 600})
    assert (status, changed["destination"]["quiet"]) == (200, "22:00-07:00")
    status, changed = lago.ask("PATCH", f"/destinations/{new.id}", {"disabled": "on holiday"})
    assert (status, changed["destination"]["disabled"]) == (200, "on holiday")
    status, tried = lago.ask("POST", f"/destinations/{new.id}/test")
    assert (status, tried) == (200, {"delivered": False, "outcome": "the destination is disabled: on holiday"})
    status, woken = lago.ask("PATCH", f"/destinations/{new.id}", {"enabled": True})
    assert (status, woken["destination"]["disabled"]) == (200, "")
    status, listed = lago.ask("GET", "/destinations")
    assert new.id in {each["id"] for each in listed["destinations"]}
    assert new.mark not in json.dumps([added, listed])

    status, removed = lago.ask("DELETE", f"/destinations/{new.id}")
    assert (status, removed["done"]) == (200, True)
    assert lago.ask("GET", f"/destinations/{new.id}")[0] == 404
    assert len(new.texts()) == 1
