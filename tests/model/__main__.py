"""`make model`: the same check over larger spaces; minutes and gigabytes rather than seconds."""

import sys
import time

from lago.domain.outcome import OutcomeKind
from tests.model.checker import check
from tests.model.world import Bounds

SPACES = {
    "one message, cap 3, a crash": Bounds(crashes=1),
    "one message, cap 3, two crashes": Bounds(crashes=2),
    "one message, every answer": Bounds(
        crashes=0,
        answers=(
            OutcomeKind.DELIVERED,
            OutcomeKind.OUTAGE,
            OutcomeKind.AMBIGUOUS,
            OutcomeKind.MESSAGE,
            OutcomeKind.GATE,
        ),
    ),
    "two messages, cap 2, frozen workers": Bounds(messages=2, cap=2, crashes=0, lost_answers=False),
}

if __name__ == "__main__":
    for name, bounds in SPACES.items():
        if any(word not in name for word in sys.argv[1:]):
            continue
        began = time.monotonic()
        found = check(bounds)
        print(f"{name}: {found} in {time.monotonic() - began:.0f} s", flush=True)  # noqa: T201
