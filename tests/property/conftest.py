"""What a test here may touch: nothing outside its process."""

from tests.no_sockets import no_sockets

__all__ = ["no_sockets"]
