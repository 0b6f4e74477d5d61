"""What is done with destinations: added, listed, changed, disabled and enabled, removed. One for command and API."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from lago.channels.registry import CHANNELS, target_spec
from lago.channels.target import RandomBytes, Target, TargetSpec
from lago.destination_answers import REMOVING, Added, DestinationAnswer, Removed, Woken, answer
from lago.destination_options import AS_THEY_ARE, Options
from lago.domain.ids import Clock, DestinationId, EpochMs, Milliseconds, OwnerId, WatchId
from lago.domain.mailbox import Head, Settlement
from lago.domain.notification import Destination
from lago.domain.watch import Watch
from lago.errors import BadInputError, ConflictError, NotFoundError
from lago.ports import Mailboxes

ME = OwnerId("me")
"""Whose everything is while one person uses the stack."""
LONGEST_SECRET = 4_096
"""Characters that a standard parameter of Parameter Store holds (Systems Manager's quotas)."""
SLACK = Milliseconds(10_000)
"""How much longer than its deadline a removal holds the mailbox: its last write may be slow."""


class Removals(Protocol):
    """Takes a destination away, step by step. Every method may raise StoreUnavailableError."""

    def listed(self, destination: DestinationId) -> bool:
        """Whether anything of it may still be there."""
        ...

    def clear(self, claim: Head) -> int:
        """Delete some of its rows with their counts; 0 is all. Raises ConflictError when the claim was lost."""
        ...

    def forget(self, claim: Head) -> bool:
        """Delete the mailbox itself, if nothing is in it; says whether. Raises ConflictError when it was changed."""
        ...

    def erase_log(self, destination: DestinationId) -> int:
        """Erase some of what it was told; 0 is all."""
        ...

    def strike(self, destination: DestinationId) -> bool:
        """Take it off the list, last of all; says no when it was added anew."""
        ...


class Watches(Protocol):
    """The watches of the stack. Every method may raise StoreUnavailableError."""

    def all(self) -> list[Watch]:
        """Every watch."""
        ...

    def remove(self, watch: Watch) -> object:
        """Delete a watch."""
        ...

    def set_paused(self, watch: Watch, reason: str) -> bool:
        """Pause with a reason, or resume with an empty one."""
        ...

    def turn(self, watch: Watch, destinations: tuple[DestinationId, ...]) -> object:
        """Send what it finds elsewhere from now on."""
        ...


class Secrets(Protocol):
    """The one store of user-given secrets. Its errors are its own."""

    def put(self, name: str, value: str) -> None:
        """Create or replace a secret."""
        ...

    def put_if_missing(self, name: str, value: str) -> None:
        """Create a secret, unless it is there."""
        ...

    def delete(self, names: tuple[str, ...]) -> None:
        """Delete those that are there."""
        ...


class Addition(Struct, frozen=True, kw_only=True):
    """What a person wants to add. `target` may be a secret; `replace_channel` lets an id change its channel."""

    id: DestinationId
    channel: str
    target: str
    options: Options = AS_THEY_ARE
    replace_channel: bool = False


class Directory:
    """All that can be done with destinations. Every method may raise BadInputError and StoreUnavailableError."""

    def __init__(
        self,
        mailboxes: Mailboxes,
        removals: Removals,
        watches: Watches,
        secrets: Secrets,
        *,
        prefix: str,
        clock: Clock,
        random_bytes: RandomBytes,
        spec_of: Callable[[str], TargetSpec] = target_spec,
    ) -> None:
        """`prefix` is the path under which the secrets of destinations are kept, without a slash at its end."""
        self._mailboxes, self._removals, self._watches, self._secrets = mailboxes, removals, watches, secrets
        self._prefix, self._clock, self._random_bytes, self._spec_of = prefix, clock, random_bytes, spec_of

    def list(self) -> list[DestinationAnswer]:
        """Every destination by id, also one whose removal began."""
        found = ((name, self._mailboxes.head(name)) for name in sorted(self._mailboxes.destinations()))
        return [DestinationAnswer(id=name, disabled=REMOVING) if head is None else answer(head) for name, head in found]

    def show(self, name: DestinationId) -> DestinationAnswer:
        """One destination. Raises NotFoundError."""
        return answer(self._head(name))

    def add(self, wanted: Addition) -> Added:
        """Store a destination, new or with another target; one that was disabled works again.

        Its secret is stored first: dying in between leaves a secret that nothing refers to, never a destination that
        refers to none. Each channel's secret has a name of its own: functions cache secrets by name for minutes, and
        must not hand one channel's to another. A secret that no person gave stays while the address does: the links in
        old mails are made with it.
        """
        spec = self._spec_of(wanted.channel)
        target = self._target(wanted, spec)
        if len(target.secret) > LONGEST_SECRET:
            raise BadInputError("target", f"{len(target.secret)} characters", f"at most {LONGEST_SECRET}")
        head = self._mailboxes.head(wanted.id)
        if self._removals.listed(wanted.id) if head is None else head.destination.disabled == REMOVING:
            raise _being_removed(wanted.id)
        known = None if head is None else head.destination
        moves = known is not None and known.channel != wanted.channel
        if head is not None and moves:
            _require_movable(wanted, head)
        secret = self._secret(wanted.id, wanted.channel) if target.secret else ""
        if target.secret and known is not None and not moves and not spec.private and known.address == target.address:
            self._secrets.put_if_missing(secret, target.secret)
        elif target.secret:
            self._secrets.put(secret, target.secret)

        def renewed(each: Destination) -> Destination:
            if each.disabled == REMOVING:
                raise _being_removed(wanted.id)
            address = target.address
            return wanted.options.applied(replace(each, address=address, credentials=secret, disabled=""))

        if known is not None and not moves:
            resumed = self._resume(known)
            self._change(wanted.id, renewed)
        else:
            base = known or Destination(id=wanted.id, owner=ME, channel=wanted.channel, address=target.address)
            resumed = self._resume(base)
            try:
                self._mailboxes.put_destination(renewed(replace(base, channel=wanted.channel)))
            except ConflictError:
                raise _occupied(wanted) from None
            if moves:
                self._secrets.delete((self._secret(wanted.id, base.channel),))
        return Added(destination=self.show(wanted.id), show=target.show, resumed=resumed)

    def change(self, name: DestinationId, options: Options) -> DestinationAnswer:
        """Change how it is told. What waits already keeps its time. Raises NotFoundError."""
        self._change(name, options.applied)
        return self.show(name)

    def disable(self, name: DestinationId, because: str) -> DestinationAnswer:
        """Send nothing there for the time being: what is found waits as long as it is of use. Raises NotFoundError."""
        if because == REMOVING:
            raise BadInputError("disabled", because, "other words: these say that a removal began")
        self._change(name, partial(_disabled, because=because))
        return self.show(name)

    def enable(self, name: DestinationId) -> Woken:
        """Send there again, what waits at once; the watches that rested because of it go on. Raises NotFoundError.

        Watches first: dying in between, the reason that tells which they are is still there to try again by.
        """
        destination = self._head(name).destination
        if destination.disabled == REMOVING:
            raise BadInputError("id", name, "a destination whose removal has not begun: finish it, then add it anew")
        resumed = self._resume(destination)
        self._change(name, partial(_enabled, was=destination.disabled))
        return Woken(destination=self.show(name), resumed=resumed)

    def remove(self, name: DestinationId, *, force: bool, deadline: EpochMs) -> Removed:
        """Remove a destination and all that is known of it: what waits, dead letters, delivery log, secrets.

        `force` takes it out of the watches that name it, and removes those that name no other. Goes on until
        `deadline`, and wherever it died before. Raises NotFoundError when nothing of it is left.
        """
        head = self._mailboxes.head(name)
        if head is None and not self._removals.listed(name):
            raise _missing(name)
        naming = [watch for watch in self._watches.all() if name in watch.destinations]
        if naming and not force:
            raise BadInputError("force", "not given", f"force, as watches name {name!r}: {_labels(naming)}")
        if head is not None and head.destination.disabled != REMOVING:
            self._mailboxes.change_destination(name, lambda each: replace(each, disabled=REMOVING))
        turned = tuple(watch.id for watch in naming if self._take_out(watch, name))
        progress = Removed(
            id=name, done=False, turned=turned, removed=tuple(each.id for each in naming if each.id not in turned)
        )
        gone, messages = self._clear(name, deadline)
        progress = replace(progress, messages=messages)
        while gone and (erased := self._removals.erase_log(name)):
            progress = replace(progress, log_entries=progress.log_entries + erased)
            gone = self._clock() < deadline
        if not gone:
            return progress
        self._secrets.delete(tuple(self._secret(name, channel) for channel in CHANNELS))
        return replace(progress, done=self._removals.strike(name))

    def _take_out(self, watch: Watch, name: DestinationId) -> bool:
        """Take the destination out of a watch; says whether anybody is left to tell: else the watch is removed."""
        others = tuple(each for each in watch.destinations if each != name)
        if others:
            self._watches.turn(watch, others)
        else:
            self._watches.remove(watch)
        return bool(others)

    def _clear(self, name: DestinationId, deadline: EpochMs) -> tuple[bool, int]:
        """Empty the mailbox and delete it, under its claim: nobody sends meanwhile. Says whether it is gone."""
        head, now, messages = self._mailboxes.head(name), self._clock(), 0
        if head is None:
            return True, 0
        if head.leased(now):
            return False, 0  # a message is on its way there
        try:
            claim = self._mailboxes.claim(head, (), now=now, lease_until=EpochMs(max(now, deadline) + SLACK))
        except ConflictError:
            return False, 0  # somebody else was first
        with suppress(ConflictError):  # somebody else took it over, or changed it: it is seen anew the next time
            while self._clock() < deadline:
                cleared = self._removals.clear(claim)
                messages += cleared
                if not cleared and self._removals.forget(claim):
                    return True, messages
        given_up = Settlement(failures=claim.failures, gate_until=claim.gate_until)
        self._mailboxes.release(claim, given_up, now=self._clock())
        return False, messages

    def _resume(self, destination: Destination) -> tuple[WatchId, ...]:
        """Let the watches run again that rested because this destination, or another of theirs, was disabled."""
        if not destination.disabled:
            return ()
        resting = [each for each in self._watches.all() if each.paused and destination.id in each.destinations]
        names = {name for watch in resting for name in watch.destinations}
        heads = [self._mailboxes.head(name) for name in sorted(names)]
        reasons = {head.destination.disabled for head in heads if head is not None}
        mended = [watch for watch in resting if watch.paused in reasons]
        return tuple(watch.id for watch in mended if self._watches.set_paused(watch, ""))

    def _change(self, name: DestinationId, change: Callable[[Destination], Destination]) -> None:
        if self._mailboxes.change_destination(name, change) is None:
            raise _missing(name)

    def _head(self, name: DestinationId) -> Head:
        head = self._mailboxes.head(name)
        if head is None:
            raise _missing(name)
        return head

    def _target(self, wanted: Addition, spec: TargetSpec) -> Target:
        try:
            return spec.make(wanted.target, self._random_bytes)
        except BadInputError as error:  # channels have names of their own for parts of it
            raise BadInputError("target", error.value, error.expected) from None

    def _secret(self, name: DestinationId, channel: str) -> str:
        return f"{self._prefix}/{name}/{channel}"


def _disabled(destination: Destination, because: str) -> Destination:
    return destination if destination.disabled == REMOVING else replace(destination, disabled=because)


def _enabled(destination: Destination, was: str) -> Destination:
    """Works again, unless it was disabled for another reason meanwhile."""
    return replace(destination, disabled="") if destination.disabled == was else destination


def _require_movable(wanted: Addition, head: Head) -> None:
    """Another channel only if that is meant, and while nothing is counted under the one before."""
    known = head.destination
    if not wanted.replace_channel:
        expected = f"{known.channel}, which {known.id!r} is already, or the wish to replace that"
        raise BadInputError("channel", wanted.channel, expected)
    if head.waiting or head.dead:
        raise _occupied(wanted)


def _occupied(wanted: Addition) -> BadInputError:
    return BadInputError(
        "channel",
        wanted.channel,
        f"the channel that {wanted.id!r} has while messages wait there, are dead or on their way; or another id",
    )


def _being_removed(name: DestinationId) -> BadInputError:
    return BadInputError("id", name, "another id, or the removal of this one to be finished first")


def _missing(name: DestinationId) -> NotFoundError:
    return NotFoundError(f"there is no destination {name}")


def _labels(watches: list[Watch]) -> str:
    shown = ", ".join(f"{watch.label!r} ({watch.id})" for watch in watches[:5])
    return shown if len(watches) <= 5 else f"{shown} and {len(watches) - 5} more"
