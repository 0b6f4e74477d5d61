"""Secrets of every kind that Lago comes near, and how far sides write them into what they say."""

import base64
import json
import string
from itertools import count
from random import Random
from typing import NamedTuple
from urllib.parse import quote

from hypothesis import strategies as st

LETTERS = string.ascii_letters + string.digits
URL_SAFE = LETTERS + "-_"


class Secret(NamedTuple):
    """`whole` is how it is written, `hidden` what must not show of it."""

    whole: str
    hidden: str


_salts = count()


def random_text(characters: str, low: int, high: int) -> st.SearchStrategy[str]:
    """As random as real ones, whatever they are shrunk to: what two of them share says nothing."""
    salt = next(_salts)

    def drawn(seed: int, length: int) -> str:
        random = Random(f"{salt} {seed} {length}")
        return "".join(random.choice(characters) for _ in range(length))

    return st.builds(drawn, st.integers(0, 2**32), st.integers(low, high))


bot_tokens = st.builds(
    lambda bot, key: Secret(f"{bot}:{key}", key),
    st.integers(100_000, 10**10),
    random_text(URL_SAFE, 32, 40),
)
slack_urls = st.builds(
    lambda team, bot, key: Secret(f"https://hooks.slack.com/services/T{team}/B{bot}/{key}", key),
    random_text(string.ascii_uppercase, 8, 10),
    random_text(string.ascii_uppercase, 8, 10),
    random_text(LETTERS, 24, 24),
)
discord_urls = st.builds(
    lambda id_, key: Secret(f"https://discord.com/api/webhooks/{id_}/{key}", key),
    random_text(string.digits[1:], 17, 20),
    random_text(URL_SAFE, 60, 70),
)
webhook_keys = (
    random_text(LETTERS + "+/", 32, 44)
    .map(lambda text: text[: len(text) // 4 * 4])
    .map(lambda key: Secret(f"whsec_{key}", key))
)
ntfy_tokens = random_text(LETTERS, 29, 29).map(lambda key: Secret(f"tk_{key}", key))
access_keys = random_text(string.ascii_uppercase + string.digits, 16, 16).map(
    lambda key: Secret(f"AKIA{key}", key),
)
secret_keys = random_text(LETTERS + "+/", 40, 40).map(lambda key: Secret(f"aws_secret_access_key = {key}", key))
json_keys = random_text(LETTERS + "+/", 40, 40).map(lambda key: Secret(json.dumps({"SecretAccessKey": key}), key))
web_tokens = st.builds(
    lambda head, body, sign: Secret(f"eyJ{head}.eyJ{body}.{sign}", sign),
    random_text(URL_SAFE, 20, 30),
    random_text(URL_SAFE, 20, 60),
    random_text(URL_SAFE, 43, 43),
)
passwords = random_text(LETTERS + "!$*-._~", 12, 24)
basic_urls = st.builds(lambda password: Secret(f"https://anna:{password}@hooks.example/in", password), passwords)
logins = st.builds(lambda password: Secret(f"anna:{password}@mail.example", password), passwords)
headers = st.builds(
    lambda password: Secret(f"Authorization: Basic {base64.b64encode(f'anna:{password}'.encode()).decode()}", password),
    passwords,
).map(lambda secret: Secret(secret.whole, secret.whole.rpartition(" ")[2]))
api_keys = random_text(LETTERS, 40, 40).map(lambda key: Secret(f"x-api-key: {key}", key))
query_strings = st.builds(
    lambda name, key: Secret(f"/unsubscribe?d=me&{name}={key}", key),
    st.sampled_from(["t", "token", "sig", "access_token", "X-Amz-Signature"]),
    random_text(URL_SAFE, 30, 43),
)
apprise_urls = st.builds(
    lambda user, token: Secret(f"pover://{user}@{token}", token),
    random_text(LETTERS, 30, 30),
    random_text(LETTERS, 30, 30),
)

KINDS = {
    "a bot's token": bot_tokens,
    "a Slack URL": slack_urls,
    "a Discord URL": discord_urls,
    "a webhook's key": webhook_keys,
    "an ntfy token": ntfy_tokens,
    "an AWS access key": access_keys,
    "an AWS secret key": secret_keys,
    "an AWS secret key in JSON": json_keys,
    "a JSON web token": web_tokens,
    "a URL with a password": basic_urls,
    "a login": logins,
    "a header": headers,
    "an API key": api_keys,
    "a query string": query_strings,
    "an Apprise URL": apprise_urls,
}
secrets = st.one_of(*KINDS.values())

SAYINGS = {
    "as it is": lambda secret: f"cannot take {secret} today",
    "alone": lambda secret: secret,
    "in quotes": lambda secret: f"wrong key '{secret}'",
    "in JSON": lambda secret: json.dumps({"error": f"no such key: {secret}"}),
    "in PHP's JSON": lambda secret: json.dumps({"error": f"no such key: {secret}"}).replace("/", "\\/"),
    "in brackets": lambda secret: f"denied ({secret})",
    "on a line of its own": lambda secret: f"error\r\n{secret}\r\nbye",
    "after much text": lambda secret: "x " * 70 + secret,
}
"""How a far side may say a secret that it was sent, or has of its own."""
OWN_SAYINGS = SAYINGS | {
    "in a URL": lambda secret: f"redirect=/{quote(secret, safe='')}",
    "cut off": lambda secret: f"got {secret[: -len(secret) // 8]}...",
}
"""And in which ways one is known again that was sent there."""


def shows(secret: Secret, said: str) -> bool:
    """Whether more of it can be read than its beginning: half of a secret is one still."""
    least = max(9, len(secret.hidden) // 2 + 1)
    return any(secret.hidden[at : at + least] in said for at in range(len(secret.hidden) - least + 1))
