"""Mail: one message to one address, over SES or a mail server of the owner's own."""
