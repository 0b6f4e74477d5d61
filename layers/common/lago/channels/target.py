"""What a person gives for a destination, made into what is stored of it: an address to show, and a secret."""

from collections.abc import Callable

from msgspec import Struct

RandomBytes = Callable[[int], bytes]


class Target(Struct, frozen=True, kw_only=True):
    """`address` is stored in clear and shown; `secret` lives in the secret store alone; empty for a channel without.

    `show` is told to the person once, when the destination is added (a key to check signatures with, for example).
    """

    address: str
    secret: str = ""
    show: str = ""


class TargetSpec(Struct, frozen=True, kw_only=True):
    """How a channel makes its targets.

    `asks` says for people what is to be given ("the webhook's URL from Slack"), `private` whether no shell history
    should hold that. `make` raises BadInputError, which never repeats a secret.
    """

    channel: str
    asks: str
    private: bool
    make: Callable[[str, RandomBytes], Target]
