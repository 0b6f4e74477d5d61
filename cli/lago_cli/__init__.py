"""The `lago` command. Runs on a person's machine, never in Lambda."""
