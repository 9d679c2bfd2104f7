"""Seeded random cases for the slow twin of specification 7: more groups than free space, and several levers each.

`python -m tests.oracles.between_cases 1000 1` plays cases and prints how many hang and how many use each lever.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.oracles.between_mig import PROFILES
from tests.oracles.between_queue_and_unit import play
from tests.oracles.between_state import Case, Group, Item, Levers, Machine, Resource, empty_module, fits, refusals

MECHANISMS = (
    "dies",
    "clusters",
    "barriers",
    "endless",
    "barriers_a_module",
    "admission",
    "concurrency",
    "pending_depth",
    "progress",
    "split",
)
COUNTS = (4, 2, 2, 1, 1, 3, 2, 2, 2, 2)
"""How often each mechanism is drawn, against the others."""


def cases(count: int, seed: int) -> Iterator[Case]:
    """Yield valid cases. Each has up to four mechanisms of specification 7 besides the levers of specification 3."""
    draw = random.Random(seed)
    for _ in range(count):
        yield _valid(draw, draw.choices((0, 1, 2, 3, 4), (1, 3, 6, 6, 4))[0])


def kernel_sets(count: int, seed: int) -> Iterator[Case]:
    """Yield sets of two or three small kernels for `coresident`, most of which need nearly the whole machine."""
    draw = random.Random(seed)
    made = 0
    while made < count:
        slots = draw.randint(2, 4)
        machine = Machine(draw.choice([[3], [4], [5], [2, 2], [3, 2]]), [Resource("slots", slots)])
        together = draw.random() < 0.7
        sizes = draw.choices(range(1, slots + 1), k=draw.randint(2, 3))
        sizes = sizes if draw.random() < 0.2 else sorted(sizes)
        groups = [
            Group({"slots": demand}, draw.randint(1, 9), kernel=kernel, channel=kernel, barrier=0 if together else -1)
            for kernel, demand in enumerate(sizes)
            for _ in range(draw.randint(1, 5))
        ]
        amount = sum(group.demand["slots"] for group in groups)
        if 0.8 <= amount / (slots * machine.modules()) <= 1 or draw.random() < 0.1:
            made += 1
            levers = Levers(choice_resource="slots", dispatches_a_round=draw.choice([1, None]))
            yield Case(machine, groups, levers)


def mig_requests(count: int, seed: int) -> Iterator[list[str]]:
    """Yield lists of profiles that one card may be asked for."""
    draw = random.Random(seed)
    for _ in range(count):
        yield draw.choices(list(PROFILES), (4, 2, 3, 2, 1, 0.3), k=draw.randint(1, 9))


def uses(case: Case) -> set[str]:
    """Return the names of the levers and mechanisms that a case sets, with their values."""
    levers, groups = case.levers, case.groups
    chosen = {f"choice {levers.choice}", f"selection {levers.selection}", f"concurrency {levers.concurrency}"}
    die, admission, progress = levers.die, levers.admission, levers.progress
    chosen.add(" ".join(["die", die["name"], *(str(die[key]) for key in ("by", "binding") if key in die)]))
    chosen.add(" ".join(["admission", admission["name"], *(admission[key] for key in ("others",) if key in admission)]))
    chosen.add(" ".join(["progress", *(progress[key] for key in ("name", "law", "of") if key in progress)]))
    chosen.add(f"dispatches {levers.dispatches_a_round}")
    flags = {
        "dies above 1": len(case.machine.dies) > 1,
        "clusters": any(size > 1 for size in case.clusters.values()),
        "spread": levers.spread,
        "barriers": any(group.barrier != -1 for group in groups),
        "endless": any(group.endless for group in groups),
        "barriers_a_module": bool(case.machine.barriers_a_module),
        "pending_depth": bool(levers.pending_depth),
        "split": levers.split_threshold is not None,
        "round_cycles above 1": levers.round_cycles > 1,
        "contiguous": any(each.kind == "contiguous" for each in case.machine.resources),
        "units above 1": case.machine.units > 1,
    }
    return chosen | {name for name, flag in flags.items() if flag}


def _valid(draw: random.Random, mechanisms: int) -> Case:
    """Return a case that no requirement refuses, and whose groups each fit an empty module."""
    while True:
        picked = set(draw.sample(MECHANISMS, mechanisms, counts=COUNTS))
        if {"clusters", "pending_depth"} <= picked:
            continue
        case = _case(draw, picked)
        if not refusals(case) and _each_fits_alone(case):
            return case


def _each_fits_alone(case: Case) -> bool:
    module = empty_module(case.machine)
    items = [Item(row, -1, group.waves, 1, group.demand, 0) for row, group in enumerate(case.groups)]
    return all(fits(case, item, module) for item in items)


def _case(draw: random.Random, picked: set[str]) -> Case:
    machine = _machine(draw, picked)
    groups, clusters = _groups(draw, picked, machine)
    return Case(machine, groups, _levers(draw, picked, machine, groups), clusters)


def _machine(draw: random.Random, picked: set[str]) -> Machine:
    alike = [[2, 2], [3, 3], [4, 4], [2, 2, 2]]
    skewed = [[1, 2], [3, 1], [4, 2], [1, 1, 3], [3, 2, 1], [2, 4, 2], [1, 1]]
    dies = draw.choice(alike + skewed) if "dies" in picked or draw.random() < 0.3 else [draw.randint(2, 5)]
    resources = [Resource("slots", draw.randint(1, 3))]
    units = draw.choice([1, 1, 2])
    if draw.random() < 0.4:
        level = draw.choice(["module", "unit"])
        resources.append(Resource("registers", draw.choice([6, 8]), level, "contiguous"))
    if draw.random() < 0.3:
        resources.append(Resource("wave_slots", draw.randint(2, 4), "unit"))
    return Machine(dies, resources, units, draw.randint(1, 2) if "barriers_a_module" in picked else 0)


def _groups(draw: random.Random, picked: set[str], machine: Machine) -> tuple[list[Group], dict[int, int]]:
    """Return the rows in the order of their arrival, and the clusters."""
    kernels, channels = draw.randint(1, 4), draw.randint(1, 3)
    equal = draw.random() < 0.3
    burst = draw.random() < 0.4
    rows: list[Group] = []
    clusters: dict[int, int] = {}
    plain = _shape(draw, picked, machine)
    for kernel in range(kernels):
        size = 1
        if "clusters" in picked and (kernel == 0 or draw.random() < 0.5):
            size = clusters[kernel] = draw.randint(2, 3)
        shape = plain if equal else _shape(draw, picked, machine)
        channel, priority, arrival = draw.randrange(channels), draw.randint(1, 3), 0 if burst else draw.randrange(20)
        for _ in range(draw.randint(3, max(3, 30 // kernels // size))):
            arrival += 0 if burst else draw.choice([0, 0, 1, 2, 7])
            member = replace(shape, kernel=kernel, channel=channel, priority=priority, arrival=arrival)
            varied = {} if equal or draw.random() < 0.5 else {"duration": draw.randint(1, 40)}
            rows += [replace(member, **varied)] * size
    rows = sorted((replace(row, demand=dict(row.demand)) for row in rows), key=lambda row: row.arrival)
    if "barriers" in picked:
        _name_barriers(draw, rows)
    if "endless" in picked:
        for row in draw.sample(rows, draw.randint(1, 2)):
            row.endless = True
    return rows, clusters


def _shape(draw: random.Random, picked: set[str], machine: Machine) -> Group:
    """Return one group with a demand, some waves and a duration."""
    waves = draw.choice([1, 2, 2, 3]) if picked & {"barriers_a_module", "split", "progress"} else draw.choice([1, 1, 2])
    demand = {}
    for resource in machine.resources:
        most = max(1, resource.total // -(-waves // machine.units)) if resource.level == "unit" else resource.total
        demand[resource.name] = 1 if resource.name == "wave_slots" else draw.randint(1, most)
    return Group(
        demand,
        draw.randint(1, 30),
        waves=waves,
        independent="split" in picked and draw.random() < 0.7,
        instructions=draw.choice([0, 0, 100]),
    )


def _name_barriers(draw: random.Random, rows: list[Group]) -> None:
    """Let some rows name a barrier: few rows near each other, or a whole small kernel."""
    for barrier in range(draw.randint(1, 3)):
        first = draw.randrange(len(rows))
        if draw.random() < 0.6:
            members = rows[first : first + draw.randint(1, 4)]
        else:
            members = [row for row in rows if row.kernel == rows[first].kernel][:6]
        for row in members:
            row.barrier = barrier


def _levers(draw: random.Random, picked: set[str], machine: Machine, groups: list[Group]) -> Levers:
    names = [resource.name for resource in machine.resources]
    levers = Levers(
        choice=draw.choice(["first_module", "round_robin", "most_free", "best_fit"]),
        choice_resource=draw.choice(names),
        selection=draw.choice(["in_turn", "strict_priority", "strict_blocking", "served_marks"]),
        dispatches_a_round=draw.choice([1, 2, 3, None, None]),
        round_cycles=draw.choice([1, 1, 1, 1, 2, 3]),
        rotation=draw.choice(["none", "tail", "head"]) if machine.units > 1 else "none",
        spread=draw.random() < 0.4 if "clusters" in picked else False,
    )
    if "split" in picked:
        levers.split_threshold = draw.choice([1, 2, 4, 16])
        levers.split_priority = draw.choice(["inherit", "lowest"])
    if "dies" in picked:
        levers.die = _die(draw, names)
    if "admission" in picked:
        levers.admission = _admission(draw, machine, groups)
    if "concurrency" in picked:
        levers.concurrency = draw.choice(["leftover", "serialise"])
    if "pending_depth" in picked:
        levers.pending_depth = draw.randint(1, 3)
    if "progress" in picked:
        levers.progress = _progress(draw)
    return levers


def _die(draw: random.Random, names: list[str]) -> dict[str, Any]:
    name = draw.choice(["round_robin_dies"] * 3 + ["contiguous_dies", "most_free_die", "first_die"])
    if name == "round_robin_dies":
        by, binding = draw.choice(["kernel", "channel", "all"]), draw.choice(["bound", "skip"])
        return {"name": name, "by": by, "chunk": draw.randint(1, 3), "binding": binding}
    return {"name": name, "resource": draw.choice(names)} if name == "most_free_die" else {"name": name}


def _admission(draw: random.Random, machine: Machine, groups: list[Group]) -> dict[str, Any]:
    name = draw.choice(["partition_by_channel", "partition_by_kernel", "share_by_channel", "exclusive"])
    if name == "exclusive":
        return {"name": name}
    if name == "share_by_channel":
        share = draw.choice(["0.07", "0.25", "0.3", "0.5", "0.75", "1"])
        return {"name": name, "share": share, "round": draw.choice(["down", "up"])}
    keys = {group.channel if name == "partition_by_channel" else group.kernel for group in groups}
    modules = range(machine.modules())
    lists = {
        key: sorted(draw.sample(modules, draw.randint(1, len(modules)))) for key in sorted(keys) if draw.random() < 0.7
    }
    others = "nowhere" if draw.random() < 0.15 else "everywhere"
    return {"name": name, "modules": lists, "others": others}


def _progress(draw: random.Random) -> dict[str, Any]:
    law = draw.choice(["linear", "capacity", "table"])
    values = {
        "linear": draw.choice(["0.1", "0.5", "1", "2"]),
        "capacity": draw.choice(["1", "1.5", "2", "4"]),
        "table": draw.choice([["1", "0.7", "0.5"], ["1"], ["1", "0.9", "0.45", "0.3"]]),
    }
    return {"name": "shared_rate", "law": law, "value": values[law], "of": draw.choice(["groups", "waves"])}


def main(count: int, seed: int) -> None:
    """Play cases, and print how many end in which way and how many use each lever, of these how many hang."""
    outcomes: Counter[str] = Counter()
    used: Counter[str] = Counter()
    hanging: Counter[str] = Counter()
    happened: Counter[str] = Counter()
    most, groups, waited = 0, 0, 0
    for case in cases(count, seed):
        result = play(case)
        most = max(most, len(case.groups))
        outcomes[result.outcome] += 1
        groups += len(case.groups)
        waited += sum(row.start != group.arrival for row, group in zip(result.groups, case.groups))
        happened.update({lack.why for lack in result.lacks})
        happened["split"] += bool(result.parts)
        happened["waited in a module's queue"] += any(row.dispatched != row.start for row in result.groups)
        happened["failed rounds"] += result.failed_rounds > 0
        used.update(uses(case))
        hanging.update(uses(case) if result.outcome == "hung" else ())
    print(dict(outcomes))
    print(f"at most {most} groups, {groups / count:.1f} in the mean, {100 * waited / groups:.0f} % wait")
    print("cases in which it happened:", dict(happened))
    for name, number in sorted(used.items()):
        print(f"{name:45} {number:5} {hanging[name]:5} hung")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
