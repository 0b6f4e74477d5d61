"""Where messages go: a message in, a classified outcome out."""
