"""What can go wrong on the way to a running local stack: one sentence each, with a way out."""


class LocalStackError(Exception):
    """The message is the sentence; `log` is the file that tells more."""

    def __init__(self, sentence: str, log: str = "") -> None:
        """Both are shown to the person."""
        self.sentence, self.log = sentence, log
        super().__init__(sentence)
