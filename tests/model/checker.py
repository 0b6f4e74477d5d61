"""Goes through every state that a model can reach, breadth first, and says what it found there."""

from array import array
from typing import NamedTuple

from tests.model.box import Rules
from tests.model.steps import Model
from tests.model.world import At, Bounds, ImpossibleError, World


class Found(NamedTuple):
    """What there is in a model's space."""

    states: int
    steps: int
    doubled: int
    """States in which a message has arrived twice."""
    buried: int
    """States in which a message is dead that was told, and nobody is about to find out."""
    settled: int


class BrokenError(Exception):
    """An impossible state is reached; the message tells the shortest way there."""


AS_IT_IS = Rules()


def check(bounds: Bounds, rules: Rules = AS_IT_IS) -> Found:
    """Raises BrokenError when anything is reached that must not be."""
    model = Model(bounds, rules)
    start = model.start()
    number: dict[World, int] = {start: 0}
    order = [start]
    came_from, sources, targets = array("q", [-1]), array("q"), array("q")
    doubled = buried = 0
    settled: list[int] = []

    def way_to(index: int, end: str) -> str:
        names = [end]
        while came_from[index] >= 0:
            before = came_from[index]
            names += [name for name, after in model.steps(order[before]) if after == order[index]][:1]
            index = before
        return "\n".join(reversed(names))

    for index, world in enumerate(order):  # grows while it is read
        doubled += any(message.arrived > 1 for message in world.messages)
        buried += is_buried(world)
        if is_settled(world):
            settled.append(index)
        try:
            examine(world)
            for _, after in model.steps(world):
                known = number.setdefault(after, len(order))
                if known == len(order):
                    order.append(after)
                    came_from.append(index)
                sources.append(index)
                targets.append(known)
        except ImpossibleError as error:
            raise BrokenError(way_to(index, f"=> {error}")) from error
    stuck = _cannot_reach(settled, sources, targets, len(order))
    if stuck is not None:
        raise BrokenError(way_to(stuck, f"=> stuck: {order[stuck]}"))
    return Found(len(order), len(sources), doubled, buried, len(settled))


def is_settled(world: World) -> bool:
    """Nothing is to be done any more."""
    idle = all(worker.at is At.IDLE for worker in world.workers)
    return idle and not world.outbox and not world.unfound and not world.box.waiting()


def is_buried(world: World) -> bool:
    """A message is dead although it was told: its worker died before it said so, or its outbox brought it again."""
    told = [message.logged for message in world.messages]
    dead = any(row is not None and row.dead and told[row.number] for row in world.box.rows)
    return dead and all(worker.at is At.IDLE for worker in world.workers)


def examine(world: World) -> None:
    """What must hold in every state. Raises ImpossibleError."""
    box = world.box
    if box.head.waiting != len(box.waiting()) or box.pending != box.head.waiting:
        raise ImpossibleError("the number that waits is not the number of rows that wait")
    if box.dead != sum(row is not None and row.dead for row in box.rows):
        raise ImpossibleError("the number of the dead is not the number of dead rows")
    if sum(worker.at is At.SENDING and worker.lease > 0 for worker in world.workers) > 1:
        raise ImpossibleError("two workers send at once under valid leases")
    found = len(world.messages) - world.unfound
    for index, message in enumerate(world.messages[:found]):
        row = box.rows[index]
        if row is None and index not in world.outbox and not message.arrived:
            raise ImpossibleError("a message is lost")
        if row is not None and row.dead and message.acknowledged and not message.requeued:
            raise ImpossibleError("a message is dead whose delivery was acknowledged")


def _cannot_reach(goals: list[int], sources: "array[int]", targets: "array[int]", count: int) -> int | None:
    """The first state from which no goal can be reached."""
    before: list[list[int]] = [[] for _ in range(count)]
    for source, target in zip(sources, targets, strict=True):
        before[target].append(source)
    reaches = bytearray(count)
    todo = list(goals)
    for index in todo:
        reaches[index] = 1
    while todo:
        for index in before[todo.pop()]:
            if not reaches[index]:
                reaches[index] = 1
                todo.append(index)
    missing = reaches.find(0)
    return None if missing < 0 else missing
