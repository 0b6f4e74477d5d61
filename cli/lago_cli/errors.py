"""Every failure as one clear sentence and an exit code: 2 for wrong usage, 1 for everything else.

LagoError
├── StackError       the stack cannot be found or used: the message says what to do
├── FunctionError    a function of the stack failed
└── TelegramError    the bot refused or could not be reached; never holds the token
"""

from collections.abc import Callable, Iterator

from botocore import exceptions as aws

from lago.errors import (
    BadInputError,
    ConflictError,
    LagoError,
    SearchError,
    SettingError,
    SourceBlockedError,
    SourceError,
    StoreUnavailableError,
)

USAGE = 2
FAILURE = 1


class StackError(LagoError):
    """The stack cannot be found or used."""


class FunctionError(LagoError):
    """A function of the stack failed."""


class TelegramError(LagoError):
    """The bot refused or could not be reached."""


_EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException", "RequestExpired"})
_REJECTED = frozenset(
    {"InvalidClientTokenId", "UnrecognizedClientException", "InvalidSignatureException", "SignatureDoesNotMatch"}
)
_DENIED = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"})


def explain(error: BaseException) -> tuple[str, int] | None:
    """The sentence and the exit code for an error that a person can act on; None for one that is a bug.

    The database layer wraps AWS errors, so the chain of causes is searched for one that says more; the command's own
    errors say what to do themselves.
    """
    if isinstance(error, (StackError, FunctionError, TelegramError)):
        return str(error), FAILURE
    for link in _chain(error):
        aws_sentence = _explain_aws(link)
        if aws_sentence is not None:
            return aws_sentence, FAILURE
    if isinstance(error, LagoError):
        return _explain_lago(error)
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes, each once."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


_REMEDIES: tuple[tuple[type[LagoError], str], ...] = (
    (SourceBlockedError, "The marketplace refuses requests at the moment ({}); try again later."),
    (SourceError, "The marketplace could not be reached ({})."),
    (SearchError, "The marketplace did not answer this search as expected ({})."),
    (ConflictError, "Somebody else changed the same thing at the same time; run the command again."),
    (StoreUnavailableError, "The stack's tables could not be used just now ({}); try again."),
)


def _explain_lago(error: LagoError) -> tuple[str, int]:
    for kind, sentence in _REMEDIES:
        if isinstance(error, kind):
            return sentence.format(error), FAILURE
    return str(error), USAGE if isinstance(error, (BadInputError, SettingError)) else FAILURE


Explanation = Callable[[BaseException], str]

_SENTENCES: tuple[tuple[tuple[type[BaseException], ...], Explanation], ...] = (
    (
        (aws.NoCredentialsError, aws.PartialCredentialsError, aws.CredentialRetrievalError),
        lambda _: (
            "No AWS credentials found: run `aws configure`, set AWS_PROFILE, or source .local/env after `make run`."
        ),
    ),
    (
        (aws.SSOError, aws.TokenRetrievalError, aws.LoginError),
        lambda _: "The AWS sign-in has expired: sign in again (for example `aws sso login`).",
    ),
    (
        (aws.ProfileNotFound,),
        lambda error: f"{error}: check AWS_PROFILE against the profiles in your AWS configuration.",
    ),
    (
        (aws.NoRegionError,),
        lambda _: "No AWS region given: set AWS_REGION, or a region in your AWS profile.",
    ),
    (
        (aws.ConnectionError, aws.HTTPClientError),
        lambda error: (
            f"AWS could not be reached ({error}); check the network, AWS_REGION and AWS_ENDPOINT_URL, "
            "and that `make run` is still running if this is the local stack."
        ),
    ),
    (
        (aws.InvalidRegionError, aws.InvalidEndpointConfigurationError, aws.ParamValidationError),
        lambda error: f"AWS would not take this request: {' '.join(str(error).split())}.",
    ),
)


def _explain_aws(error: BaseException) -> str | None:
    for kinds, sentence in _SENTENCES:
        if isinstance(error, kinds):
            return sentence(error)
    if isinstance(error, aws.ClientError):
        return _explain_answer(error)
    return None


def _explain_answer(error: aws.ClientError) -> str:
    """AWS answered and said no."""
    code = error.response.get("Error", {}).get("Code", "")
    message = error.response.get("Error", {}).get("Message", "")
    if code in _EXPIRED:
        return "The AWS credentials have expired: sign in again (for example `aws sso login`)."
    if code in _REJECTED:
        return "AWS does not accept these credentials: check AWS_PROFILE, the access key and this machine's clock."
    if code in _DENIED:
        return f"These AWS credentials may not do that: {message}"
    return f"AWS said no to {error.operation_name}: {message or code}"
