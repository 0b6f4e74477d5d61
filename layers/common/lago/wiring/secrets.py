"""User-given secrets, from the one store that they live in."""

from collections.abc import Callable
from threading import Lock

from aws_lambda_powertools.utilities.parameters import SSMProvider
from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError
from botocore.config import Config

from lago.errors import SettingError

SECRET_SECONDS = 300
"""How long a secret is cached in the function: a rotated one is used after five minutes at the latest, and at once
by a test message, and where the one before is refused."""


def _make_provider() -> SSMProvider:
    retries = {"total_max_attempts": 2, "mode": "standard"}
    return SSMProvider(boto_config=Config(connect_timeout=2, read_timeout=4, retries=retries))


class ParameterSecrets:
    """Secrets from SSM Parameter Store, cached; never in an environment variable in clear. Thread-safe."""

    def __init__(self, default: str, make_provider: Callable[[], SSMProvider] = _make_provider) -> None:
        """`default` is the parameter for destinations that name none; `make_provider` is asked once, when needed."""
        self._default, self._make_provider = default, make_provider
        self._provider: SSMProvider | None = None
        self._lock = Lock()

    def get(self, name: str, *, anew: bool = False) -> str:
        """The secret, from the cache unless `anew`. Raises SettingError that says how to set it, without its value."""
        parameter = name or self._default
        with self._lock:  # or each of the first message's threads makes a client, 10 MB and a third of a second each
            if self._provider is None:
                self._provider = self._make_provider()
        try:
            return str(self._provider.get(parameter, max_age=SECRET_SECONDS, decrypt=True, force_fetch=anew))
        except GetParameterError as error:
            how = "run `lago setup` to store it" if parameter == self._default else "store it anew (docs/operations.md)"
            raise SettingError(f"the secret {parameter} cannot be read: {how}") from error
