"""`lago destination rotate`: a new key to sign with, while the one before goes on signing."""

import typer

from lago.channels.webhook.secret import newest_key, rotated
from lago.domain.ids import DestinationId
from lago.errors import BadInputError
from lago_cli import destination_options, options
from lago_cli.output import print_json, remark, say
from lago_cli.ports import World


def rotate(
    ctx: typer.Context,
    name: destination_options.Name,
    stack_name: options.StackName = options.DEFAULT_STACK,
    as_json: options.AsJson = False,
) -> None:
    """Sign a webhook with a new key as well; the one before signs until the next rotation, older ones are forgotten.

    Tell the new key to whoever receives the webhook, then rotate once more: so no message comes unsigned.

    **Example:** `lago destination rotate shop`
    """
    world: World = ctx.obj
    stack = world.open_stack(stack_name)
    known = stack.destinations.get(DestinationId(name))
    if known is None or known.channel != "webhook":
        raise BadInputError("ID", name, "a webhook of this stack (`lago destination list` shows them)")
    secret = rotated(stack.secrets.get(known.credentials) or "", world.random_bytes)
    stack.secrets.put(known.credentials, secret)
    if as_json:
        print_json({"id": known.id, "key": newest_key(secret)})
        return
    say(newest_key(secret))
    remark("This is shown once: keep it. Functions sign with it within 5 minutes.")
