"""Slack, through an incoming webhook."""
