"""Drawings of the dispatcher's mechanisms, and of who decides what in every engine.

Windows of priorities, waves over units, the choice of a module, dies and admission; every engine with the slots that
it leaves to policies.
"""

from __future__ import annotations

from typing import Any

from workbench.docs.drawings._free_maps import rows_of
from workbench.docs.drawings._svg import Svg, policy_of
from workbench.mechanisms.mechanism import is_built_in, mechanism, mechanisms
from workbench.policies.dispatch.die import ALL

SLOTS_LEFT, WIDE, BOX = 130, 640, 26


def windows() -> str:
    """Return the priority on top at each cycle of a period of the windows."""
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
    """Return the assignment of waves of three groups to four units, as it is meant."""
    return units(policy_of("units", "rotated_split"))


def units(policy: Any) -> str:
    """Return the assignment of the waves of six groups to the four units of a module."""
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
    """Return the free blocks of four modules, and the one that some policies take for the next group."""
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


def dies() -> str:
    """Return on which of three dies ten groups of a kernel start, by some policies."""
    chosen = (
        ("in chunks of 2", policy_of("die", "round_robin_dies", chunk=2)),
        ("in turn, skip", policy_of("die", "round_robin_dies", binding="skip")),
        ("contiguous_dies", policy_of("die", "contiguous_dies")),
        ("first_die", policy_of("die", "first_die")),
    )
    title = "The die of each of ten groups, where three dies have room for 4, 2 and 4; a gray one waits for its die"
    return rows_of(title, [(label, _dies_of(policy)) for label, policy in chosen])


def dies_of(policy: Any) -> str:
    """Return on which of three dies ten groups of a kernel start."""
    title = f"{policy.name}: the die of each of ten groups, where three dies have room for 4, 2 and 4"
    return rows_of(title, [(policy.name, _dies_of(policy))])


def _dies_of(policy: Any) -> list[tuple[str, str]]:
    room, cells = [4, 2, 4], []
    for group in range(10):
        free = [(0, 0, left, 0, 0) for left in room]
        die = policy.die_of(room, group=group, groups=10, of_channel=group, of_all=group, free=free)
        if die < 0:
            cells.append(("blank", "any" if die == ALL else "-"))
            continue
        cells.append((f"owner{die}" if room[die] else "taken", str(die)))
        room[die] -= room[die] > 0
    return cells


def admission() -> str:
    """Return the modules, of eight, that the groups of two channels take, by some policies."""
    chosen = (
        policy_of("admission", "open_to_all"),
        policy_of("admission", "partition_by_channel", parts="0-3 | 4-7"),
        policy_of("admission", "share_by_channel", share=0.5),
        policy_of("admission", "exclusive"),
    )
    rows = [row for policy in chosen for row in _admitted_rows(policy)]
    return rows_of("Modules 0 to 7 of two groups each, and the channels whose groups they hold", rows)


def admitted(policy: Any) -> str:
    """Return the modules, of eight, that the groups of two channels take."""
    return rows_of(
        f"{policy.name}: modules 0 to 7 of two groups each, and the channels of these", _admitted_rows(policy)
    )


def _admitted_rows(policy: Any) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return two rows of the modules: groups of both channels in turn take the first module that admits them."""
    held: list[list[tuple[int, int]]] = [[] for _ in range(8)]
    for channel in (0, 1) * 8:
        group = {"channel": channel, "kernel": channel}
        open_to_it = [m for m in range(8) if len(held[m]) < 2 and policy.admits(held, m, **group)]
        if open_to_it:
            held[open_to_it[0]].append((channel, channel))
    cells = [[(f"owner{of[k][0]}", str(of[k][0])) if k < len(of) else ("free", "") for of in held] for k in (0, 1)]
    return [(policy.name, cells[0]), ("", cells[1])]


def decisions() -> str:
    """Return every engine with its slots; those of the same question have the same color."""
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
