"""The doctor's check of secrets: there, readable, and such that the channel can use it. None is ever shown."""

from collections.abc import Iterator

from lago.channels.registry import target_spec
from lago.errors import LagoError
from lago_cli import checks
from lago_cli.doctor_case import TELEGRAM, Case, Check, Finding, fine, wrong
from lago_cli.text import plain

_MAIL_SERVER = "mail server"
_AGAIN = {
    TELEGRAM: "run `lago setup`",
    _MAIL_SERVER: "store the mail server's URL with `aws ssm put-parameter --type SecureString` (docs/operations.md)",
}


def secrets_are_there(case: Case) -> Iterator[Finding]:
    """Every secret that a destination or a parameter refers to."""
    named = {each.credentials: each.channel for each in case.destinations if each.credentials}
    if not case.destinations or any(each.channel == TELEGRAM for each in case.destinations):
        named.setdefault(case.stack.output("TelegramTokenParameter"), TELEGRAM)
    server = case.described.parameters.get("SmtpParameter")
    if server:
        named[server] = _MAIL_SERVER
    for name, channel in sorted(named.items()):
        yield _secret(plain(name), channel, case.stack.secrets.get(name))
    if not named:
        yield fine("none is needed")


def _secret(name: str, channel: str, secret: str | None) -> Finding:
    again = _AGAIN.get(channel, "add the destination again with `lago destination add`")
    if secret is None:
        return wrong(f"{name} is not there", again)
    if not secret.strip():
        return wrong(f"{name} is empty", again)
    if not is_usable(channel, secret):
        return wrong(f"{name} holds nothing that {plain(channel)} can use", again)
    return fine(f"{name} can be read")


def is_usable(channel: str, secret: str) -> bool:
    """Whether the secret is of the shape that the channel needs; one of a channel that is not known here is."""
    try:
        _read(channel, secret)
    except LagoError:
        return False
    return True


def _read(channel: str, secret: str) -> None:
    """Raises LagoError for a secret that the channel cannot use. The channels are loaded when there is one of them."""
    match channel:
        case "telegram":
            checks.bot_token(secret)
        case "slack" | "discord" | "apprise":  # what was given is what is kept
            target_spec(channel).make(secret, bytes)
        case "webhook":
            from lago.channels.webhook.secret import read_secret as read_webhook  # noqa: PLC0415

            read_webhook(secret)
        case "ntfy":
            from lago.channels.ntfy.target import read_secret as read_topic  # noqa: PLC0415

            read_topic(secret)
        case "email":
            from lago.channels.email.unsubscribe import key_of  # noqa: PLC0415

            if not key_of(secret):
                raise LagoError("no key to unsubscribe with")
        case "mail server":
            from lago.channels.email.smtp_url import read_smtp_url  # noqa: PLC0415

            read_smtp_url(secret)


CHECKS = (Check("secrets", secrets_are_there),)
