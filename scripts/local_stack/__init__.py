"""The whole stack on this machine: embedded cloud, real build and deploy. `make run` and the e2e tests share it."""

from scripts.local_stack.errors import LocalStackError
from scripts.local_stack.ports import free_port, require_free
from scripts.local_stack.stack import LocalStack

__all__ = ["LocalStack", "LocalStackError", "free_port", "require_free"]
