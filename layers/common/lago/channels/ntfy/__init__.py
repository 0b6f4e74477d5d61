"""ntfy: a push notification to whoever subscribed to a topic (docs/channels/ntfy.md)."""
