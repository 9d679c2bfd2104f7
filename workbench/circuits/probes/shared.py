"""The shared probe as a whole: states by turns, one probe with masks, a register for every report (R51-R59)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.probes.asking import number_of, sources, states
from workbench.circuits.registry import Maker
from workbench.circuits.vectors import Case, Step
from workbench.errors import InputError, wrong_value
from workbench.gates.netlist import ONE, ZERO
from workbench.policies.probes.shared.masks import FORMS, fields, mask
from workbench.structures.bitmaps import packed


def build(probe: Any, blocks: Any) -> Circuit:
    """Build the probe of several resources: a period a step, each report renewed in its resource's period."""
    sizes = _sizes(blocks)
    schedule = _scheduled(probe, sizes)
    net = Circuit(probe.name, *sources(probe), {"WIDTH": probe.width, "PERIODS": schedule.periods}, schedule.periods)
    given = [net.input(f"state_{k}", size) for k, size in enumerate(sizes)]
    now = net.register("period", schedule.periods, reset=1)
    net.follow("period", np.roll(now, 1))
    members = [np.flatnonzero(schedule.period == p) for p in range(schedule.periods)]
    word = _loaded(net, probe, [np.concatenate([given[k] for k in inside]) for inside in members], now)
    starts = [fields([sizes[k] for k in inside], probe.width) for inside in members]
    rows = _rows(net, probe, word, starts, now)
    for period, inside in enumerate(members):
        for place, k in enumerate(inside):
            first, end = int(starts[period][place]), int(starts[period][place + 1])
            result = _longest(net, probe, rows, first, end, sizes[k])
            _report(net, int(k), now[period : period + 1], result)
    return net


def cases(probe: Any, blocks: Any, count: int, seed: int = 0) -> Iterator[Case]:
    """Yield random states of all resources, and each resource's report once every period has passed."""
    sizes = _sizes(blocks)
    periods = _scheduled(probe, sizes).periods
    inverted = probe.encoding == "free0"
    for maps in zip(*(states(size, count, seed + k) for k, size in enumerate(sizes)), strict=True):
        given = {f"state_{k}": number_of(free != inverted) for k, free in enumerate(maps)}
        reported = {f"report_{k}": probe.ask(packed(free), free.size) for k, free in enumerate(maps)}
        yield [*[Step(given, {})] * periods, Step(given, reported)]


def _sizes(blocks: Any) -> tuple[int, ...]:
    return (int(blocks),) if isinstance(blocks, (int, np.integer)) else tuple(map(int, blocks))


def _scheduled(probe: Any, sizes: tuple[int, ...]) -> Any:
    """Return the schedule, and refuse levers that this circuit cannot have."""
    if probe.padding == "occupied":
        raise wrong_value("", "shared_run.padding", "must be zero for a circuit", probe.padding, "zero")
    if probe.cycles_a_period != 1:
        raise wrong_value("", "shared_run.cycles_a_period", "must be 1 for a circuit", probe.cycles_a_period, 1)
    if probe.alone.name != "exact_run" or probe.alone.round_cycles() != 1:
        raise InputError("shared_run.alone must be exact_run in one cycle for a circuit: the shared probe itself.")
    return probe.schedule(sizes)


def _loaded(net: Circuit, probe: Any, words: list[np.ndarray], now: np.ndarray) -> np.ndarray:
    """Return what each period has at a bit, 1 for free, filled up with "occupied"."""
    turns, word = now if len(words) > 1 else np.array([ONE], np.int32), np.full(probe.width, ZERO, np.int32)
    for joined, turn in zip(words, turns, strict=True):
        free = net.not_(joined) if probe.encoding == "free0" else joined
        filled = np.concatenate([free, np.full(probe.width - free.size, ZERO, np.int32)])
        word = net.or_(word, net.and_(filled, turn))
    return net.signal("word", word)


def _rows(net: Circuit, probe: Any, word: np.ndarray, starts: list[np.ndarray], now: np.ndarray) -> list[np.ndarray]:
    """Return SA of every shift, each bit kept within its resource by the mask of the period."""
    left, form, rows = probe.direction == "left", FORMS.index(probe.masks), [word]
    for by in range(1, max(int(np.diff(one).max()) for one in starts)):
        passing = np.stack([mask(one, by, left, form) for one in starts])
        coming = np.full(by, ZERO, np.int32)
        moved = np.concatenate([coming, word[:-by]] if left else [word[by:], coming])
        inside = net.and_(moved, _passes(net, passing, now))
        rows.append(net.signal(f"sa_{by}", net.and_(rows[-1], inside)))
    return rows


def _passes(net: Circuit, passing: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Return the mask as wires: each bit is 1 in the periods in which it may pass."""
    wires = np.full(passing.shape[1], ONE, np.int32)
    for column in np.unique(passing, axis=1).T:
        if not column.all():
            wires[(passing == column[:, None]).all(0)] = net.any_of(now[column])[0]
    return wires


def _longest(net: Circuit, probe: Any, rows: list[np.ndarray], first: int, end: int, size: int) -> np.ndarray:
    """Return a resource's longest run, read from the rows of its field by a table or a scan."""
    sar = np.concatenate([net.any_of(row[first:end]) for row in rows[:size]])
    width = size.bit_length()
    if probe.decode == "lut":
        return net.table(sar, list(range(size + 1)), width)
    above, last = np.array([ZERO], np.int32), []
    for bit in sar[::-1, None]:
        last.append(net.and_(bit, net.not_(above)))
        above = net.or_(bit, above)
    hot = np.concatenate(last[::-1])
    lengths = np.arange(1, size + 1)
    return np.concatenate([net.any_of(hot[lengths >> j & 1 == 1]) for j in range(width)])


def _report(net: Circuit, k: int, turn: np.ndarray, result: np.ndarray) -> None:
    """Keep a resource's report from its period to its next."""
    held = net.register(f"held_report_{k}", result.size)
    net.follow(f"held_report_{k}", net.select(turn, result, held))
    net.output(f"report_{k}", held)


MAKERS = [Maker("probe.shared_run", build, cases, "blocks of each resource")]
