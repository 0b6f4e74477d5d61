"""Each step of each worker, and what may go wrong at it.

A worker goes the way of `lago.delivery` and `lago.courier`: read, claim, look up the log, send, log, record. Between
any two of its steps the others move, its lease runs out (then it is a frozen worker that wakes up later) or it dies.
"""

from collections.abc import Iterator

from lago.domain.outcome import OutcomeKind
from tests.model.box import CURRENT, Box, Line, Result, Rules, Seen, Store
from tests.model.world import (
    At,
    Bounds,
    ImpossibleError,
    Message,
    Worker,
    World,
    acknowledged,
    noted,
    refunded,
    requeued,
    watch,
    with_worker,
)


class Model:
    """The steps of a world under given rules."""

    def __init__(self, bounds: Bounds, rules: Rules) -> None:
        self.bounds = bounds
        self.store = Store(rules, cap=bounds.cap, lease=bounds.lease)

    def start(self) -> World:
        """The first message was found, nothing else has happened."""
        count = self.bounds.messages
        box = Box(Seen(CURRENT), (None,) * count)
        return World((0,), count - 1, box, (Message(),) * count, (Worker(),) * self.bounds.workers, self.bounds.crashes)

    def steps(self, world: World) -> Iterator[tuple[str, World]]:
        """Everything that can happen next, by name. Raises ImpossibleError."""
        if world.unfound:
            number = self.bounds.messages - world.unfound
            yield f"found {number}", world._replace(outbox=(*world.outbox, number), unfound=world.unfound - 1)
        if self.bounds.time:
            yield from self._tick(world)
        for index, worker in enumerate(world.workers):
            if index and worker == world.workers[index - 1]:
                continue  # the same worker twice
            for name, after in self._move(world, index, worker):
                yield f"{worker.at.name.lower()}{tuple(row.number for row in worker.rows)}: {name}", after
            if worker.at is not At.IDLE and world.crashes:
                messages = world.messages
                if worker.at in (At.UNSURE, At.LOOK_UP) and not worker.dud and not worker.charging:
                    messages = noted(messages, worker.rows, duds=1)
                died = with_worker(world, index, Worker())
                yield f"{worker.at.name.lower()}: dies", died._replace(crashes=world.crashes - 1, messages=messages)

    def _tick(self, world: World) -> Iterator[tuple[str, World]]:
        head = world.box.head
        if not head.lease and not any(worker.lease for worker in world.workers):
            return
        messages, workers = world.messages, []
        for worker in world.workers:
            left = worker.lease - 1
            late = left == 0 and worker.at in (At.UNSURE, At.LOOK_UP) and not worker.charging and not worker.dud
            if late:
                messages = noted(messages, worker.rows, duds=1)
            workers.append(worker._replace(lease=max(left, 0), dud=worker.dud or late))
        if head.lease:
            head = head._replace(lease=head.lease - 1)
        box = world.box._replace(head=head)
        yield "a tick", world._replace(box=box, messages=messages, workers=tuple(sorted(workers, key=hash)))

    def _move(self, world: World, index: int, worker: Worker) -> Iterator[tuple[str, World]]:
        box = world.box

        def goes(name: str, to: Worker, **changes: object) -> tuple[str, World]:
            return name, with_worker(world._replace(**changes), index, to)  # type: ignore[arg-type]

        match worker.at:
            case At.IDLE:
                if world.outbox:
                    yield goes("reads the outbox", Worker(At.NOTIFY, world.outbox, world.outbox))
                if box.head.due:
                    yield goes("finds the mailbox due", Worker(At.DRAIN))
            case At.NOTIFY:
                yield goes("reads the head", self._next_message(worker, box.head))
            case At.DRAIN:
                free = not box.head.lease
                yield goes("reads the head", Worker(At.READ_ROWS, seen=box.head) if free else Worker())
            case At.READ_ROWS:
                yield goes("reads the rows", self._choose(worker, box))
            case At.CLAIM:
                yield from self._claim(world, index, worker)
            case At.UNSURE:  # the SDK repeats the claim, which is refused: its token says whose it is
                mine = worker.seen.epoch == box.head.epoch
                yield goes("asks whose claim it is", self._claimed(worker) if mine else self._refused(worker))
            case At.LOOK_UP:
                yield from self._look_up(world, index, worker)
            case At.SENDING:
                yield from self._sending(world, index, worker)
            case At.LOG:
                messages = noted(world.messages, worker.rows, logged=True)
                yield goes("writes the log", self._settles(worker), messages=messages)
            case At.RECORD:
                yield from self._record(world, index, worker)
            case At.REREAD:
                yield goes("reads again", self._reread(worker, box))
            case At.ACKNOWLEDGE:
                yield from self._acknowledge(world, index, worker)
            case At.RELEASE:
                yield from self._release(world, index, worker)
            case At.GIVE_BACK:
                after = self.store.release(box, worker.seen, worker.result, exact=False)
                messages = refunded(world, worker) if after else world.messages
                yield goes("as it was", self._refused(worker), box=after or box, messages=messages)
            case At.READ_TO_QUEUE:
                fresh = tuple(row for row in worker.rows if row.number not in box.known())
                if fresh:
                    yield goes("reads rows and head", worker._replace(at=At.QUEUE, rows=fresh, seen=box.head))
                else:
                    yield goes("all are known", self._queued(worker))
            case At.QUEUE:
                after = self.store.enqueue(box, worker.seen, worker.rows, charging=worker.charging)
                if after is None:
                    yield goes("is refused", worker._replace(at=At.READ_TO_QUEUE, seen=Seen()))
                else:
                    watch(box, after, world.messages)
                    messages = requeued(world.messages, worker.rows)
                    yield goes("queues", self._queued(worker), box=after, messages=messages)
            case At.CLEAR:
                outbox = () if world.outbox == worker.outbox else world.outbox
                yield goes("clears the outbox", Worker(), outbox=outbox)

    # Notify and Drain: which message, and whether it may be sent

    def _next_message(self, worker: Worker, head: Seen) -> Worker:
        if not worker.rest:
            return Worker(At.CLEAR, worker.outbox)
        number, rest = worker.rest[0], worker.rest[1:]
        crashed = number in self.store.lost(head)
        if head.waiting or head.failing or head.lease or crashed:
            return self._refused(worker._replace(rest=rest, rows=(Line(number),)))
        return Worker(At.CLAIM, worker.outbox, rest, head._replace(due=False), rows=(Line(number),))

    def _choose(self, worker: Worker, box: Box) -> Worker:
        head, rows = worker.seen, box.waiting()
        seen = head._replace(due=False)
        lost = tuple(row for row in rows if row.number in head.in_flight)
        if lost:
            return Worker(At.CLAIM, seen=seen, rows=lost, charging=True, following=True)
        if rows:
            return Worker(At.CLAIM, seen=seen, rows=rows[:1], following=len(rows) > 1)
        if head.due or head.waiting:
            return Worker(At.CLAIM, seen=seen, following=head.waiting > 0)  # to set when it is due, or that it is not
        return Worker()

    def _refused(self, worker: Worker) -> Worker:
        """Another has the mailbox: what Notify can't send is queued, Drain leaves it to the other."""
        if worker.outbox is None:
            return Worker()
        rows = (*worker.rows, *(Line(number) for number in worker.rest))
        return Worker(At.READ_TO_QUEUE, worker.outbox, rows=rows, charging=True)

    # under the claim

    def _claim(self, world: World, index: int, worker: Worker) -> Iterator[tuple[str, World]]:
        lost = worker.rows if worker.charging else ()
        ids = () if worker.charging else tuple(row.number for row in worker.rows)
        after = self.store.claim(world.box, worker.seen, ids, lost)
        if after is None:
            yield "is refused", with_worker(world, index, self._refused(worker))
            return
        watch(world.box, after, world.messages)
        held = after.head._replace(lease=None, due=False)
        claimed = world._replace(box=after)
        mine = worker._replace(seen=held, lease=self.bounds.lease)
        yield "is applied", with_worker(claimed, index, self._claimed(mine))
        if self.bounds.lost_answers:
            yield "is applied, answer lost", with_worker(claimed, index, mine._replace(at=At.UNSURE))

    def _claimed(self, worker: Worker) -> Worker:
        if worker.rows and not worker.charging:
            return worker._replace(at=At.LOOK_UP)
        # nothing to send: what was lost is charged, or the time is set
        result = Result(failing=worker.seen.failing)
        return worker._replace(at=At.RECORD, rows=(), charging=False, result=result)

    def _look_up(self, world: World, index: int, worker: Worker) -> Iterator[tuple[str, World]]:
        numbers = tuple(row.number for row in worker.rows)
        if worker.outbox is not None and any(world.box.rows[number] is not None for number in numbers):
            unsent = world.messages if worker.dud else noted(world.messages, worker.rows, duds=1)
            result = Result(failing=worker.seen.failing)
            back = worker._replace(at=At.GIVE_BACK, result=result)
            yield "is dead", with_worker(world._replace(messages=unsent), index, back._replace(dud=True))
            return
        unsent = world.messages if worker.dud else noted(world.messages, worker.rows, duds=1)
        if world.messages[numbers[0]].logged:
            result = Result(done=numbers, failing=worker.seen.failing)
            told = self._settles(worker._replace(result=result, dud=True))
            yield "was told before", with_worker(world._replace(messages=unsent), index, told)
        elif not worker.lease:
            result = self.store.outcome(worker.seen, worker.rows, OutcomeKind.GATE)
            yield "no time left", with_worker(world, index, self._settles(worker._replace(result=result)))
        else:
            messages = noted(world.messages, worker.rows, dispatched=1)
            if any(messages[number].dispatched > self.bounds.cap for number in numbers):
                raise ImpossibleError("more dispatches than attempts")
            if any(messages[number].acknowledged for number in numbers):
                raise ImpossibleError("a message is sent again whose delivery was acknowledged")
            yield (
                "starts to send",
                with_worker(world._replace(messages=messages), index, worker._replace(at=At.SENDING)),
            )
        if world.crashes:
            result = Result(failing=worker.seen.failing)
            returned = worker._replace(at=At.RELEASE, result=result, rest=(), outbox=None)
            failed = world._replace(crashes=world.crashes - 1, messages=unsent)
            yield "log fails", with_worker(failed, index, returned._replace(dud=True))

    def _sending(self, world: World, index: int, worker: Worker) -> Iterator[tuple[str, World]]:
        if not worker.arrived:
            messages = noted(world.messages, worker.rows, arrived=1)
            yield "arrives", with_worker(world._replace(messages=messages), index, worker._replace(arrived=True))
        for kind in self.bounds.answers:
            if kind is OutcomeKind.AMBIGUOUS and not self.bounds.lost_answers:
                continue
            if kind is not OutcomeKind.AMBIGUOUS and worker.arrived is not (kind is OutcomeKind.DELIVERED):
                continue
            result = self.store.outcome(worker.seen, worker.rows, kind)
            answered, messages = worker._replace(result=result, arrived=False), world.messages
            if kind is OutcomeKind.GATE:  # refused uncharged, as if it had never been sent
                answered = answered._replace(dud=True)
                messages = noted(messages, worker.rows, dispatched=-1, duds=1)
            to = answered._replace(at=At.LOG) if kind is OutcomeKind.DELIVERED else self._settles(answered)
            yield f"hears {kind}", with_worker(world._replace(messages=messages), index, to)

    # the end of a claim

    def _settles(self, worker: Worker) -> Worker:
        worker = worker._replace(rows=worker.rows if worker.dud else ())
        if worker.outbox is None:
            return worker._replace(at=At.RECORD)
        absent = frozenset(line.number for line in worker.result.kept)
        return worker._replace(at=At.RECORD if absent else At.RELEASE, absent=absent)

    def _record(self, world: World, index: int, worker: Worker) -> Iterator[tuple[str, World]]:
        going = worker.result.done if worker.outbox is None else ()
        after = self.store.finish(
            world.box,
            worker.seen,
            worker.result,
            worker.absent,
            going=going,
            following=worker.following,
            again=worker.again,
            hurry=worker.again,
        )
        if after is None:
            yield "is refused", with_worker(world, index, worker._replace(at=At.REREAD))
            return
        watch(world.box, after, world.messages)
        recorded = world._replace(box=after, messages=acknowledged(refunded(world, worker), going))
        queued = sum(not line.dead for line in worker.result.kept) if worker.outbox is not None else 0
        yield "is applied", with_worker(recorded, index, self._told(worker, queued))

    def _reread(self, worker: Worker, box: Box) -> Worker:
        new, there = worker.outbox is not None, box.known()
        done = tuple(number for number in worker.result.done if number in there)
        absent = frozenset(line.number for line in worker.result.kept if new and line.number not in there)
        waits = {line.number for line in box.waiting() if not new or line.number in box.head.in_flight}
        kept = tuple(line for line in worker.result.kept if line.number in absent | waits)
        if box.head.epoch == worker.seen.epoch:
            seen = worker.seen._replace(waiting=box.head.waiting)
            result = worker.result._replace(done=done, kept=kept)
            return worker._replace(at=At.RECORD, result=result, absent=absent, seen=seen, again=True)
        kept = tuple(self.store.returned(line) for line in kept if line.number in absent)
        result = worker.result._replace(kept=kept)
        return worker._replace(at=At.ACKNOWLEDGE, result=result, absent=frozenset(), again=False)

    def _acknowledge(self, world: World, index: int, worker: Worker) -> Iterator[tuple[str, World]]:
        done = worker.result.done
        box = world.box
        for number in done:
            box = self.store.acknowledge(box, worker.seen, number) or box
        messages = acknowledged(world.messages, done)
        yield "whoever has it", with_worker(world._replace(box=box, messages=messages), index, self._unclaimed(worker))

    def _unclaimed(self, worker: Worker) -> Worker:
        """The claim was lost: a failure is not ours to record, but a message that is no row yet is to be kept."""
        if worker.outbox is not None and worker.again:
            return worker._replace(at=At.RELEASE)
        if not worker.result.kept:
            return self._told(worker, 0)
        return Worker(At.READ_TO_QUEUE, worker.outbox, worker.rest, rows=worker.result.kept)

    def _release(self, world: World, index: int, worker: Worker) -> Iterator[tuple[str, World]]:
        after = self.store.release(world.box, worker.seen, worker.result, exact=not worker.again)
        if worker.again:  # acknowledged before
            messages = refunded(world, worker) if after else world.messages
            given_up = world._replace(box=after or world.box, messages=messages)
            yield "is given up", with_worker(given_up, index, self._told(worker, 0))
            return
        late = worker._replace(at=At.ACKNOWLEDGE, again=True)
        if after is None:
            yield "is refused", with_worker(world, index, late)
            return
        world = world._replace(messages=refunded(world, worker))
        late = late._replace(rows=(), dud=False)
        if not worker.lease:
            yield "is applied, late", with_worker(world._replace(box=after), index, late)
        else:
            released = world._replace(box=after, messages=acknowledged(world.messages, worker.result.done))
            yield "is applied", with_worker(released, index, self._told(worker, 0))
            if self.bounds.lost_answers:
                yield "is applied, answer lost", with_worker(world._replace(box=after), index, late)

    def _told(self, worker: Worker, queued: int) -> Worker:
        """The message is settled: on with the next one, with the mailbox as the worker believes it to be."""
        if worker.outbox is None:
            return Worker()
        seen = worker.seen
        head = Seen(seen.epoch, suspects=seen.suspects, waiting=seen.waiting + queued, failing=worker.result.failing)
        return self._next_message(worker, head)

    def _queued(self, worker: Worker) -> Worker:
        if worker.charging:  # all the rest
            return Worker(At.CLEAR, worker.outbox)
        return self._next_message(worker, Seen(failing=worker.result.failing))
