"""What is wrong with a node, as far as it can be known before it runs: one sentence each."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracles.node.description import Application, Kernel, Node, Step
from tests.oracles.node.streams import names

PATTERNS = ("slice", "halo", "shared", "gather", "stride")


def wrong(node: Node) -> list[str]:
    """Return what is wrong, a sentence each."""
    of_programs = [f for k, one in enumerate(node.applications) for f in _application(node, k, one)]
    return [*of_programs, *_couplings(node)]


def _application(node: Node, number: int, one: Application) -> Iterator[str]:
    where = f"applications[{number}]"
    if not 0 <= one.home < len(node.machine.cards):
        yield f"{where}.home must be a card from 0 to {len(node.machine.cards) - 1}. Got {one.home}."
        return
    if not 1 <= one.priority <= node.machine.cards[one.home].dispatch.priorities:
        yield f"{where}.priority must be a priority of its home card. Got {one.priority}."
    steps = [
        (f"{where}.streams[{s}][{k}]", step) for s, steps in enumerate(one.streams) for k, step in enumerate(steps)
    ]
    for at, step in steps:
        yield from _step(node, one, at, step)
    yield from _tensors(one, where, [step for _, step in steps])
    yield from _order(one, where)
    yield from _waits(one, where)


def _step(node: Node, one: Application, at: str, step: Step) -> Iterator[str]:
    set_fields = [step.allocate is not None, step.free is not None, step.wait is not None, step.kernel is not None]
    if sum(set_fields) != 1:
        yield f"{at} must be one of allocate, free, kernel and wait."
    if step.allocate is not None and not 0 < step.bytes <= _capacity(node):
        most = f"{_capacity(node)} bytes, what the largest card has"
        yield f"{at}: tensor {step.allocate} must have 1 to {most}. Got {step.bytes}."
    if step.wait is not None and not 0 <= step.wait < len(one.streams):
        yield f"{at} must wait for a stream of its application. Got {step.wait}."
    if step.kernel is not None:
        yield from _kernel(node, one, at, step.kernel)


def _capacity(node: Node) -> int:
    return max(card.memory_bytes for card in node.machine.cards)


def _kernel(node: Node, one: Application, at: str, kernel: Kernel) -> Iterator[str]:
    if not kernel.phases:
        yield f"{at}: a kernel must have at least one phase."
    if kernel.groups < 1 or kernel.waves < 1:
        yield f"{at}: a kernel must have at least one group of one wave."
    for touch in (touch for phase in kernel.phases for touch in phase.touches):
        if touch.pattern not in PATTERNS:
            yield f"{at}: a pattern must be one of {', '.join(PATTERNS)}. Got {touch.pattern}."
    cards = [one.home] if node.couplings.kernel_card == "home" else range(len(node.machine.cards))
    for card in cards:
        yield from _room(node, at, kernel, card)


def _room(node: Node, at: str, kernel: Kernel, card: int) -> Iterator[str]:
    """Say what of a group no empty module of a card holds."""
    machine = node.machine.cards[card].dispatch
    waves = -(-kernel.waves // machine.units)
    needs = {
        "wave slots of a unit": (waves, machine.wave_slots),
        "vgpr blocks of a unit": (waves * kernel.vgpr_blocks, machine.vgpr_blocks),
        "sgpr blocks of a unit": (waves * kernel.sgpr_blocks, machine.sgpr_blocks),
        "shared segments": (kernel.shared_segments, machine.shared_segments),
    }
    for name, (needed, there) in needs.items():
        if needed > there:
            yield f"{at}: a group needs {needed} {name}; card {card} has {there}."


def _tensors(one: Application, where: str, steps: list[Step]) -> Iterator[str]:
    allocated = [step.allocate for step in steps if step.allocate is not None]
    freed = [step.free for step in steps if step.free is not None]
    named = {name for step in steps for name in names(step.kernel)}
    for name in sorted({*named, *freed} - set(allocated)):
        yield f"{where}: tensor {name} is never allocated."
    for name in sorted({name for name in allocated if allocated.count(name) > 1}):
        yield f"{where}: tensor {name} is allocated more than once; give each life a name of its own."
    for name in sorted({name for name in freed if freed.count(name) > 1}):
        yield f"{where}: tensor {name} is freed more than once."


def _order(one: Application, where: str) -> Iterator[str]:
    """Say what a stream uses behind its own free, or frees before its own allocation."""
    for number, steps in enumerate(one.streams):
        for at, step in enumerate(steps):
            later = {name for other in steps[at + 1 :] for name in names(other.kernel)}
            if step.free in later:
                place = f"{where}.streams[{number}][{at}]"
                yield f"{place} frees tensor {step.free}, which a later kernel of the stream names."
            if any(
                name == other.allocate for other in steps[at + 1 :] for name in [*names(step.kernel), step.free] if name
            ):
                yield f"{where}.streams[{number}][{at}] uses a tensor that its own stream allocates later."


def _waits(one: Application, where: str) -> Iterator[str]:
    """Say which streams wait for each other in a circle, by what can end when nothing else holds it back."""
    done = [0] * len(one.streams)
    moved = True
    while moved:
        moved = False
        for number, steps in enumerate(one.streams):
            while done[number] < len(steps) and _can_end(one, steps[done[number]], done):
                done[number], moved = done[number] + 1, True
    stuck = [str(number) for number, steps in enumerate(one.streams) if done[number] < len(steps)]
    if stuck:
        yield f"{where}: streams {', '.join(stuck)} wait for each other or for what never comes."


def _can_end(one: Application, step: Step, done: list[int]) -> bool:
    past = [other for steps, count in zip(one.streams, done) for other in steps[:count]]
    if step.wait is not None and 0 <= step.wait < len(one.streams):
        steps = len(one.streams[step.wait])
        return done[step.wait] >= (steps if step.upto is None else step.upto)
    allocated = {other.allocate for other in past}
    if step.free is not None:
        kernels = [other.kernel for steps in one.streams for other in steps if step.free in names(other.kernel)]
        ended = [other.kernel for other in past]
        return step.free in allocated and all(any(kernel is k for k in ended) for kernel in kernels)
    return all(name in allocated for name in names(step.kernel))


def _couplings(node: Node) -> Iterator[str]:
    couplings, policies = node.couplings, node.policies
    if couplings.pages != "neutral" and couplings.memory == "at_once":
        yield "couplings.pages needs couplings.memory: wait, as pages come from the frames that the pool grants."
    if couplings.shootdown_to == "directory" and policies.locate == "no_directory":
        yield "couplings.shootdown_to: directory needs a directory. Got policies.locate: no_directory."
