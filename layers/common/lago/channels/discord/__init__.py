"""Discord, through a channel's webhook."""
