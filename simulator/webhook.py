"""Delivers what people write to the bot's webhook, as Telegram does: in order, again until it is taken."""

import json
import urllib.error
import urllib.request

from simulator.world import World

SECONDS = 10.0


def deliver(world: World) -> int:
    """Post pending updates to the webhook until one is refused; how many were taken."""
    taken = 0
    while True:
        with world.lock:
            hook = dict(world.telegram.webhook)
            pending = world.telegram.updates[:1]
        if not hook or not pending:
            return taken
        problem = _post(str(hook["url"]), str(hook.get("secret_token", "")), pending[0])
        with world.lock:
            if problem:
                world.telegram.webhook["last_error_message"] = problem
                world.telegram.webhook["last_error_date"] = world.clock() // 1000
                return taken
            world.telegram.updates = [one for one in world.telegram.updates if one is not pending[0]]
            world.save()
        taken += 1


def _post(url: str, secret: str, update: dict[str, object]) -> str:
    """What went wrong, or nothing. setWebhook let through only https and loopback addresses."""
    headers = {"Content-Type": "application/json"}
    if secret:
        headers["X-Telegram-Bot-Api-Secret-Token"] = secret
    request = urllib.request.Request(url, json.dumps(update).encode(), headers)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=SECONDS):  # noqa: S310
            return ""
    except urllib.error.HTTPError as error:
        return f"Wrong response from the webhook: {error.code} {error.reason}"
    except OSError as error:
        return f"Connection failed: {error}"
