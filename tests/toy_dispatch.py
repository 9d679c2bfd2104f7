"""Records of a dispatcher that are valid by construction: a small random one, walked cycle by cycle."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.records.dispatch import DispatchRecord

RESOURCES = ("vgpr", "waves", "shared", "workgroups")
OF_UNIT = np.array([True, True, False, False])
CONTIGUOUS = np.array([True, False, True, False])
BLOCKS = np.array([8, 4, 8, 3])


class _Toy:
    def __init__(self, seed: int, modules: int, units: int, round_cycles: int, a_round: int) -> None:
        self.a_round = a_round
        self.draw = np.random.default_rng(seed)
        self.modules, self.units, self.round_cycles = modules, units, round_cycles
        self.free = {(m, u, r): np.ones(BLOCKS[r], bool) for m in range(modules) for r in range(4) for u in self._at(r)}
        self.dispatches: list[tuple[Any, ...]] = []
        self.takes: list[tuple[int, ...]] = []
        self.splits: list[tuple[int, int, int]] = []
        self.failures: list[list[int]] = []
        self.count = dict.fromkeys(("rounds", "failed", "heads", "fragmented", "searches"), 0)

    def _at(self, resource: int) -> list[int]:
        return [*range(self.units)] if OF_UNIT[resource] else [-1]

    def groups(self, count: int, channels: int, levels: int, horizon: int) -> None:
        draw, self.levels = self.draw, levels
        self.arrival = np.sort(draw.integers(0, horizon, count))
        self.channel = draw.integers(0, channels, count)
        self.priority = draw.integers(1, levels + 1, count)
        self.waves = draw.integers(1, 2 * self.units + 1, count)
        self.duration = draw.integers(1, 15, count)
        self.demand = np.stack([draw.integers(0, 4, count), np.ones(count, int), draw.integers(0, 9, count),
                                np.ones(count, int)], axis=1)  # fmt: skip
        self.instructions = draw.integers(0, 50, (count, 6))
        self.refused = np.zeros(count, np.int64)

    def asks(self, group: int, waves: int, shared: bool, spread: np.ndarray) -> list[tuple[int, int, int]]:
        """Unit, resource and blocks of everything that a dispatch takes."""
        need = self.demand[group]
        of_units = [(u, r, int(spread[u] * need[r])) for u in range(self.units) for r in (0, 1)]
        share = -(-need * waves // self.waves[group]) if shared else need
        return [ask for ask in [*of_units, (-1, 2, int(share[2])), (-1, 3, 1)] if ask[2]]

    def fit(self, module: int, asks: list[tuple[int, int, int]]) -> list[int] | None:
        """The start of everything, -1 where it is countable; None = no room."""
        starts = []
        for unit, resource, amount in asks:
            free = self.free[module, unit, resource]
            if CONTIGUOUS[resource]:
                places = [s for s in range(len(free) - amount + 1) if free[s : s + amount].all()]
                if not places:
                    return None
                starts.append(places[0])
            elif free.sum() < amount:
                return None
            else:
                starts.append(-1)
        return starts

    def enough(self, module: int, asks: list[tuple[int, int, int]]) -> bool:
        return all(self.free[module, unit, resource].sum() >= amount for unit, resource, amount in asks)

    def mark(self, module: int, unit: int, resource: int, start: int, amount: int, to: bool) -> None:
        free = self.free[module, unit, resource]
        where = np.arange(start, start + amount) if start >= 0 else np.flatnonzero(free != to)[:amount]
        assert (free[where] != to).all()
        free[where] = to

    def run(self) -> None:
        """Rounds until everything is dispatched and given back."""
        queues = [[(g, int(self.waves[g]), int(self.priority[g]), False) for g in np.flatnonzero(self.channel == c)]
                  for c in range(int(self.channel.max(initial=0)) + 1)]  # fmt: skip
        running: list[tuple[int, int]] = []
        cycle = in_a_row = 0
        while any(queues) or running:
            for end, dispatch in [one for one in running if one[0] == cycle]:
                running.remove((end, dispatch))
                for _, unit, resource, start, amount in [take for take in self.takes if take[0] == dispatch]:
                    self.mark(self.dispatches[dispatch][2], unit, resource, start, amount, True)
            waiting = [queue for queue in queues if queue and self.arrival[queue[0][0]] <= cycle]
            if waiting and cycle % self.round_cycles == 0:
                before = len(self.dispatches)
                self.round(cycle, waiting)
                for dispatch in range(before, len(self.dispatches)):
                    running.append((cycle + int(self.duration[self.dispatches[dispatch][0]]), dispatch))
                in_a_row = in_a_row + 1 if len(self.dispatches) == before else 0
                if in_a_row:
                    self.fail(cycle, waiting, in_a_row)
            cycle += 1

    def fail(self, cycle: int, waiting: list[list[tuple[int, int, int, bool]]], in_a_row: int) -> None:
        self.count["failed"] += 1
        if self.failures and in_a_row > 1 and self.draw.random() < 0.5:
            first, times = self.failures[-1]
            if first + times * self.round_cycles == cycle:
                self.failures[-1][1] += 1
            else:
                self.failures.append([cycle, 1])
        else:
            self.failures.append([cycle, 1])
        group, waves, level, _ = waiting[0][0]
        if in_a_row > 2 and waves > 1:
            halves = [waves - waves // 2, waves // 2]
            shared = bool(self.draw.integers(2))
            below = min(level + int(self.draw.integers(2)), self.levels + 1)
            waiting[0][:1] = [(group, half, below, shared) for half in halves]
            self.splits.append((cycle, group, 2))

    def round(self, cycle: int, waiting: list[list[tuple[int, int, int, bool]]]) -> None:
        """Dispatch until nothing fits, or as many as a round may have."""
        self.count["rounds"] += 1
        self.count["heads"] += len(waiting)
        for _ in range(self.a_round):
            here = [queue for queue in waiting if queue and self.arrival[queue[0][0]] <= cycle]
            if not self.dispatch(cycle, here):
                return

    def dispatch(self, cycle: int, waiting: list[list[tuple[int, int, int, bool]]]) -> bool:
        results: list[tuple[Any, ...]] = []
        for queue in waiting:
            group, waves, level, shared = queue[0]
            spread = np.roll(np.bincount(np.arange(waves) % self.units, minlength=self.units), self.draw.integers(9))
            asks = self.asks(group, waves, shared, spread)
            rooms = [(m, starts) for m in range(self.modules) if (starts := self.fit(m, asks)) is not None]
            self.refused[group] += not rooms
            self.count["fragmented"] += not rooms and any(self.enough(m, asks) for m in range(self.modules))
            results += [(queue, spread, asks, *room) for room in rooms]
        if not results:
            return False
        queue, spread, asks, module, starts = results[self.draw.integers(len(results))]
        group, _, level, shared = queue.pop(0)
        serial = len(self.dispatches)
        self.dispatches.append((group, cycle, module, spread, level, shared))
        for (unit, resource, amount), start in zip(asks, starts, strict=True):
            self.mark(module, unit, resource, start, amount, False)
            self.takes.append((serial, unit, resource, start, amount))
        self.count["searches"] += sum(bool(CONTIGUOUS[resource]) for _, resource, _ in asks)
        return True


def toy(
    seed: int = 0,
    groups: int = 30,
    modules: int = 2,
    units: int = 2,
    channels: int = 3,
    levels: int = 3,
    horizon: int = 40,
    round_cycles: int = 1,
    a_round: int = 1,
    **changed: Any,
) -> DispatchRecord:
    """A record of a dispatcher that chooses at random among what fits, and halves what has been stuck for three rounds.

    A unit has 8 vgpr blocks (contiguous) and 4 wave slots, a module 8 shared blocks (contiguous) and 3 group slots.
    """
    made = _Toy(seed, modules, units, round_cycles, a_round)
    made.groups(groups, channels, levels, horizon)
    made.run()
    group, cycle, module, sent, level, shared = zip(*made.dispatches, strict=True) if made.dispatches else [()] * 6
    columns: dict[str, Any] = {
        "modules": modules,
        "units": units,
        "levels": levels,
        "channels": channels,
        "resources": RESOURCES,
        "of_unit": OF_UNIT,
        "contiguous": CONTIGUOUS,
        "blocks": BLOCKS,
        "arrival": made.arrival,
        "channel": made.channel,
        "priority": made.priority,
        "waves": made.waves,
        "duration": made.duration,
        "demand": made.demand,
        "instructions": made.instructions,
        "group": np.array(group, np.int32),
        "cycle": np.array(cycle, np.int64),
        "module": np.array(module, np.int32),
        "sent": np.array(sent, np.int32).reshape(-1, units),
        "level": np.array(level, np.int32),
        "shared_out": np.array(shared, bool),
        "refused": made.refused,
        "round_cycles": round_cycles,
        "history_cycles": 4,
        "rounds": made.count["rounds"],
        "failed_rounds": made.count["failed"],
        "head_rounds": made.count["heads"],
        "over_promised": 0,
        "refused_by_fragmentation": made.count["fragmented"],
        "placement_searches": made.count["searches"],
        "pieces": made.count["searches"],
        "splits": np.array(made.splits, np.int64).reshape(-1, 3),
        "takes": np.array(made.takes, np.int64).reshape(-1, 5),
        "clock_mhz": 1000.0,
        "power": None,
        "heat": None,
        "failures": np.array(made.failures, np.int64).reshape(-1, 2),
    }
    return DispatchRecord(**{**columns, **changed})
