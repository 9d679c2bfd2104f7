"""Drawings of placement and dispatch: free maps as rows of boxes, and the dispatcher's mechanisms.

What is free, where a request could start, where a policy puts it; probes, windows of priorities, waves over units, the
choice of a module; and who decides what: every engine, and the slots that it leaves to policies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.docs.drawings.svg import Svg, first_run, policy_of
from workbench.errors import WorkbenchError
from workbench.mechanisms.mechanism import is_built_in, mechanism, mechanisms

MAP = "0111100111111100"
"""The free map of specification 1's worked examples; 1 is a free segment."""
HIGH_END_NEARER = "0001111001111110"
"""A free map on which the end that is nearer is the high one, so that first fit answers otherwise."""
CELL, LEFT, ROW = 26.0, 150.0, 34.0


def rows_of(title: str, rows: Sequence[tuple[str, Sequence[tuple[str, str]]]], numbered: bool = True) -> str:
    """Return rows of boxes below each other: a label, and for each box its class and its word."""
    most = max(len(cells) for _, cells in rows)
    picture = Svg(title, LEFT + most * CELL + 10, 26 + len(rows) * ROW)
    if numbered:
        for k in range(most):
            picture.words(LEFT + (k + 0.5) * CELL, 14, k, "small", "middle")
    for row, (label, cells) in enumerate(rows):
        top = 20 + row * ROW
        picture.words(LEFT - 10, top + 17, label, "label", "end")
        for k, (kind, word) in enumerate(cells):
            picture.box(LEFT + k * CELL + 1, top, CELL - 2, CELL - 2, kind)
            picture.words(LEFT + (k + 0.5) * CELL, top + 17, word, "inside", "middle")
    return picture.text()


def free_row(free: str) -> list[tuple[str, str]]:
    """Return a free map as boxes."""
    return [("free" if bit == "1" else "taken", bit) for bit in free]


def placed_row(free: str, start: int | None, length: int) -> list[tuple[str, str]]:
    """Return a free map with a request in it."""
    cells = free_row(free)
    if start is None:
        return cells
    return [("chosen", "") if start <= k < start + length else cell for k, cell in enumerate(cells)]


def placement(policy: Any, length: int = 4, free: str = MAP) -> str:
    """Return what a placement policy does with one request: the map, every feasible start, its choice."""
    starts = policy.start_map(free, length)
    start = policy.place(free, length)
    where = "does not fit" if start is None else f"starts at {start}"
    rows = [
        ("free map", free_row(free)),
        (f"starts of {length} free", [("start" if bit == "1" else "blank", bit) for bit in starts]),
        (where, placed_row(free, start, length)),
    ]
    return rows_of(f"{policy.name}: a request of {length} segments in the free map {free} {where}", rows)


def run_lengths(free: str = MAP) -> str:
    """Return the steps of the exact probe: a map ANDed with its own shift, again and again, until nothing is left."""
    rows, bits, steps = [], [bit == "1" for bit in free], 0
    while any(bits):
        steps += 1
        rows.append((f"runs of {steps} begin", [("start" if bit else "blank", str(int(bit))) for bit in bits]))
        bits = [bit and (k + steps < len(free) and free[k + steps] == "1") for k, bit in enumerate(bits)]
    longest = policy_of("probe", "exact_run", direction="right", encoding="free1").longest(free)
    return rows_of(f"the longest free run of {free} is {longest}", [("free map", free_row(free)), *rows])


def placement_steps(policy: Any) -> str:
    """Return a memory of sixteen segments as a policy hands it out; empty where its grants are no single range."""
    if policy.layout != "contiguous" or not policy.addressed:
        return ""
    memory = policy.allocator(segments=len(MAP))
    live: dict[str, tuple[int | None, int]] = {}
    rows = []
    for name, length in (("A", 3), ("B", 5), ("C", 2), ("-B", 0), ("D", 2), ("E", 4)):
        label = _step(memory, live, name, length)
        rows.append((label, _owned(memory.segments, memory.free_map, live)))
    return rows_of(f"{policy.name}: six requests and releases in a memory of {memory.segments} segments", rows)


def _step(memory: Any, live: dict[str, tuple[int | None, int]], name: str, length: int) -> str:
    """Take or give back once; return what happened."""
    if name.startswith("-"):
        start, length = live.pop(name[1:], (None, 0))
        if start is None:
            return f"{name[1:]} was refused"
        memory.give_back(start, length)
        return f"{name[1:]} ends"
    start = memory.take(length)
    if start is None:
        return f"{name} asks {length}: no"
    live[name] = (start, length)
    return f"{name} takes {length} at {start}"


def _owned(segments: int, free: str, live: dict[str, tuple[int | None, int]]) -> list[tuple[str, str]]:
    cells = free_row(free)
    cells = [(kind, "") for kind, _ in cells]
    for name, (start, length) in live.items():
        for k in range(start or 0, min((start or 0) + length, segments)):
            cells[k] = (f"owner{ord(name) - ord('A')}", name)
    return cells


def nearest_boundary() -> str:
    """Return one decision of nearest boundary: the map, every start, the choice."""
    return placement(policy_of("placement", "nearest_boundary"), free=HIGH_END_NEARER)


def first_fit() -> str:
    """Return the same decision of first fit."""
    return placement(policy_of("placement", "first_fit"), free=HIGH_END_NEARER)


SEGMENTS, REQUESTS, HORIZON = 64, 60, 1050


def drain() -> str:
    """Return who sat where and when, in two runs of the engine on the same queue of requests."""
    picture = Svg("The same queue of 60 requests placed by first fit and by nearest boundary", 660, 352)
    for panel, policy in enumerate((policy_of("placement", "first_fit"), policy_of("placement", "nearest_boundary"))):
        _timeline(picture, policy, 50 + panel * 310)
    picture.words(330, 344, "time runs to the right, segments upwards", "small", "middle")
    return picture.text()


def _timeline(picture: Svg, policy: Any, left: float) -> None:
    record = _shared_memory_run(policy)
    across, up = 290 / HORIZON, 280 / SEGMENTS
    picture.words(left, 16, f"{policy.name}: drained after {int(record.release.max())} cycles", "label")
    picture.box(left, 24, 290, 280, "ground")
    for k in range(record.grant.size):
        base, length = int(record.base[k]), int(record.length[k])
        x, y = left + record.grant[k] * across, 304 - (base + length) * up
        width = min((record.release[k] - record.grant[k]) * across, left + 290 - x)
        title = f"workgroup {k}: segments {base} to {base + length - 1}"
        picture.box(x, y, max(width, 0), length * up, f"owner{k % 6} thin", title)
    picture.words(left, 322, "0", "small", "middle")
    picture.words(left + 290, 322, f"{HORIZON} cycles", "small", "end")


def _shared_memory_run(policy: Any) -> Any:
    laws = {"count": REQUESTS, "size": {"uniform": [1, 24]}, "duration": {"uniform": [20, 100]}}
    sweep = {
        "engine": "shared_memory",
        "machine": {"segments": SEGMENTS},
        "workload": {"synthetic": "random_workgroups", **laws},
        "policy": {"placement": policy},
        "seeds": 1,
    }
    return first_run(sweep)[1]


def probe(policy: Any) -> str:
    """Return what a probe reports of a map beside the longest run; empty where it is not made for so few blocks."""
    try:
        reported = policy.longest(MAP)
    except WorkbenchError:
        return ""
    longest = policy_of("probe", "exact_run").longest(MAP)
    first = MAP.find("1" * longest)
    truth = [("chosen" if first <= k < first + longest else "blank", "") for k in range(len(MAP))]
    answer = [("start" if first <= k < first + reported else "blank", "") for k in range(len(MAP))]
    rows = [("free map", free_row(MAP)), (f"longest run: {longest}", truth), (f"reported: {reported}", answer)]
    return rows_of(f"{policy.name} reports {reported} of a map whose longest free run is {longest}", rows)


def grouped_run() -> str:
    """Return what the grouped probe sees: whole groups that are free, and the run of those."""
    groups = 4
    size = len(MAP) // groups
    whole = [MAP[k * size : (k + 1) * size] == "1" * size for k in range(groups)]
    cells = [("start" if whole[k // size] else "blank", str(int(whole[k // size]))) for k in range(len(MAP))]
    reported = policy_of("probe", "grouped_run", groups=groups).longest(MAP)
    rows = [("free map", free_row(MAP)), ("whole group free", cells)]
    return rows_of(f"with {groups} groups the probe reports {reported} blocks of {MAP}", rows)


def windows() -> str:
    """Return which priority is on top at each cycle of a period of the windows."""
    return _priorities(policy_of("priority", "priority_windows", lengths=[8, 4, 2, 1]), 15)


def priorities(policy: Any) -> str:
    """Return in which order a policy takes four priorities that arrive at a cycle, for some cycles."""
    return _priorities(policy, 16)


def _priorities(policy: Any, cycles: int) -> str:
    orders = [policy.order(cycle=cycle) for cycle in range(cycles)]
    labels = ("first", "second", "third", "last")
    rows = [
        (labels[place], [(f"owner{order[place] - 1}", str(order[place])) for order in orders]) for place in range(4)
    ]
    return rows_of(f"{policy.name}: priorities in the order in which they are served, cycle by cycle", rows)


def rotated_split() -> str:
    """Return how waves of three groups go to four units, as it is meant."""
    return units(policy_of("units", "rotated_split"))


def units(policy: Any) -> str:
    """Return how the waves of six groups are shared out over the four units of a module."""
    count, groups = 4, (3, 2, 5, 1, 3, 2)
    picture = Svg(f"{policy.name}: waves of groups of {', '.join(map(str, groups))} over {count} units", 560, 190)
    taken, pointer = [0] * count, policy.first_pointer(0, 0)
    for unit in range(count):
        picture.words(60, 40 + unit * 36, f"unit {unit}", "label", "end")
    for number, waves in enumerate(groups):
        counts, pointer = policy.split(waves=waves, units=count, at=pointer, taken=tuple(taken))
        for unit, more in enumerate(counts):
            for k in range(more):
                x = 70 + (taken[unit] + k) * 24
                picture.box(x, 22 + unit * 36, 22, 26, f"owner{number}", f"group {number + 1}")
                picture.words(x + 11, 40 + unit * 36, number + 1, "inside", "middle")
        taken = [before + more for before, more in zip(taken, counts, strict=True)]
    spread = max(taken) - min(taken)
    picture.words(70, 178, f"waves of group 1, 2, ... : {', '.join(map(str, taken))} a unit, spread {spread}", "small")
    return picture.text()


def module_choice() -> str:
    """Return what four modules have left, and which one some policies take for the next group."""
    rows, names = [(10, 20, 8, 4), (12, 10, 16, 3), (18, 24, 20, 8), (9, 9, 9, 9)], ("vgpr", "sgpr", "slots", "LDS")
    picture = Svg("Free amounts of four modules, and which module takes the next group", 620, 240)
    most = max(max(row) for row in rows)
    for module, row in enumerate(rows):
        left = 30 + module * 150
        for k, amount in enumerate(row):
            height = 110 * amount / most
            picture.box(left + k * 28, 130 - height, 22, height, f"owner{k}", f"{names[k]}: {amount} free")
            picture.words(left + k * 28 + 11, 144, names[k], "tiny", "middle")
        picture.words(left + 54, 162, f"module {module}", "label", "middle")
    for line, policy in enumerate(
        (
            policy_of("choice", "most_residual", weights=[3, 1, 0.5, 2]),
            policy_of("choice", "first_module"),
            policy_of("choice", "round_robin"),
        )
    ):
        module = policy.choose(rows, after=(0,))
        picture.words(
            30,
            190 + line * 18,
            f"{policy.short()} takes module {module}, module 0 having taken the last group",
            "small",
        )
    return picture.text()


SLOTS_LEFT, WIDE, BOX = 130, 640, 26


def decisions() -> str:
    """Return every engine with its slots; those of the same question have the same colour."""
    engines = [name for name in mechanisms() if is_built_in(name)]
    rows = {name: _lines_of_slots(list(mechanism(name).engine.slots)) for name in engines}
    questions = sorted({mechanism(name).engine.question_of(slot) for name in engines for slot in _slots(name)})
    height = sum(max(len(lines), 1) * (BOX + 6) + 10 for lines in rows.values())
    picture = Svg("Every engine, and the decisions that it leaves to policies", WIDE + 10, height + 8)
    top = 8.0
    for name, lines in rows.items():
        picture.words(SLOTS_LEFT - 10, top + 18, name, "label", "end")
        if not lines:
            picture.words(SLOTS_LEFT, top + 18, "no slots: its settings are options", "small")
        for line in lines:
            _draw_slots(picture, name, line, top, questions)
            top += BOX + 6
        top += 10 if lines else BOX + 16
    return picture.text()


def _slots(name: str) -> list[str]:
    return list(mechanism(name).engine.slots)


def _width(slot: str) -> float:
    return 7.2 * len(slot) + 14


def _lines_of_slots(slots: list[str]) -> list[list[str]]:
    """Return slots as lines that fit."""
    lines: list[list[str]] = []
    for slot in slots:
        if not lines or SLOTS_LEFT + sum(_width(s) + 6 for s in [*lines[-1], slot]) > WIDE:
            lines.append([])
        lines[-1].append(slot)
    return lines


def _draw_slots(picture: Svg, engine: str, slots: list[str], top: float, questions: list[str]) -> None:
    x = float(SLOTS_LEFT)
    for slot in slots:
        question = mechanism(engine).engine.question_of(slot)
        kind = f"owner{questions.index(question) % 6}"
        picture.box(x, top, _width(slot), BOX, kind, f"{slot}: the question {question}")
        picture.words(x + _width(slot) / 2, top + 17, slot, "inside", "middle")
        x += _width(slot) + 6
