"""A webhook's key is renewed without a message that comes unsigned."""

from msgspec.structs import replace

from lago.channels.webhook.secret import WebhookSecret, new_key, read_secret, write_secret
from lago.domain.ids import DestinationId
from tests.cli.fakes import FakeDestinations, FakeSecrets, FakeStack, a_destination, a_world
from tests.cli.run import lago

SHOP = DestinationId("shop")
NAME = "/lago/test/destinations/shop/webhook"
URL = "https://example.org/hook"
OLD, OLDER = new_key(lambda count: b"o" * count), new_key(lambda count: b"p" * count)


def a_stack(secret: str = "") -> FakeStack:
    webhook = replace(a_destination(id=SHOP), channel="webhook", address="example.org", credentials=NAME)
    kept = secret or write_secret(WebhookSecret(url=URL, keys=(OLD, OLDER)))
    return FakeStack(destinations=FakeDestinations({SHOP: webhook}), secrets=FakeSecrets({NAME: kept}))


def test_a_new_key_signs_beside_the_one_before_and_is_shown_once():
    stack = a_stack()

    result = lago(a_world(stack), "destination", "rotate", "shop")

    kept = read_secret(stack.secrets.kept[NAME])
    assert kept.url == URL
    assert kept.keys[1:] == (OLD,)
    assert result.stdout.strip() == kept.keys[0]


def test_only_a_webhook_has_keys():
    stack = FakeStack(destinations=FakeDestinations({SHOP: a_destination(id=SHOP)}))

    result = lago(a_world(stack), "destination", "rotate", "shop")

    assert result.exit_code == 2
    assert "ID: got 'shop', expected a webhook of this stack" in result.stderr


def test_a_secret_that_is_lost_or_broken_is_told_without_it():
    for broken in ('{"url": "https://example.org/s3cret"}', " "):
        result = lago(a_world(a_stack(broken)), "destination", "rotate", "shop")

        assert result.exit_code == 2
        assert "add the webhook again" in result.stderr
        assert "s3cret" not in result.stderr
