"""The control API's side of /_hooks/: what Slack, Discord, ntfy and webhooks were posted."""

import re

from simulator import checks
from simulator.checks import BadControlError, Body
from simulator.hooks import SERVICES
from simulator.world import World

Json = dict[str, object]


def posts(world: World, _: "re.Match[str]", body: Body) -> list[Json]:
    """What was taken, of one service or of all, since the post with the id `after`, oldest first."""
    checks.only(body, ("service", "after"))
    service = checks.text(body, "service")
    if service and service not in SERVICES:
        raise BadControlError("service", f"expected one of {', '.join(SERVICES)}, got {service!r}")
    after = checks.text(body, "after", "0")
    if not (after.isascii() and after.isdigit()):
        raise BadControlError("after", f"expected the id of a post, got {after!r}")
    with world.lock:
        return [post.to_json() for post in world.hooks.posts if service in ("", post.service) and post.id > int(after)]


def clear_posts(world: World, _: "re.Match[str]", _body: Body) -> Json:
    """Forget them."""
    with world.lock:
        count = len(world.hooks.posts)
        world.hooks.posts = []
        world.save()
        return {"cleared": count}
