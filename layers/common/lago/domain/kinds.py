"""What is agreed for each kind of notification: its retries, how long it is of use, whether it may wake people."""

from collections.abc import Mapping

from msgspec import Struct

from lago.domain.backoff import PATIENT, Backoff
from lago.domain.event import EventKind
from lago.domain.ids import Milliseconds

HOUR = 3_600_000
DAY = Milliseconds(24 * HOUR)


class KindPolicy(Struct, frozen=True, kw_only=True):
    """`expiry` is how long after it was found it is of use, in ms; an `urgent` kind is told in quiet hours too."""

    backoff: Backoff
    expiry: Milliseconds = DAY
    urgent: bool = False


def kind_policies(alert: Backoff) -> Mapping[EventKind, KindPolicy]:
    """The policies, with the retry schedule of alerts as it is set.

    A watch_live is urgent: whoever made the watch is waiting for it.
    """
    return {
        "new_ad": KindPolicy(backoff=alert),
        "price_drop": KindPolicy(backoff=alert),
        "watch_live": KindPolicy(backoff=alert, urgent=True),
        "operator_alert": KindPolicy(backoff=PATIENT, expiry=Milliseconds(7 * DAY), urgent=True),
    }
