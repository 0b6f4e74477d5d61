"""Webhooks: each message as a signed CloudEvent to a URL of the person's own (docs/channels/webhook.md)."""
