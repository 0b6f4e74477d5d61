"""A marketplace and a Telegram that behave, and misbehave, on request. Standard library only; no product code."""
