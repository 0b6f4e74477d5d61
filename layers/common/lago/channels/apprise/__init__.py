"""The long tail: whatever the Apprise library can reach."""
