"""Circuits of probes: by shifting, shared by several resources, bit-serial, by doubling, by a tree (spec 3, Em. 4-7).

All take sizes that fit, and golden vectors from their probe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.circuits.netlist import Circuit, circuit_after
from workbench.circuits.registry import Maker
from workbench.circuits.vectors import Case, Step, asked
from workbench.errors import InputError, wrong_value
from workbench.gates import ONE, ZERO
from workbench.policies.arguments import whole
from workbench.policies.placement.free_map import MOST_SEGMENTS
from workbench.policies.probes.question import Probe
from workbench.policies.probes.rival_gates import reported, root_of, step
from workbench.policies.probes.shared_gates import fields, mask, shifted
from workbench.policies.probes.shared_netlist import following, loaded
from workbench.policies.probes.shift_gates import Form, Vectors, any_left, chained, decoded, gate_of, grouped
from workbench.streams import Streams
from workbench.structures.bitmaps import packed

NAMES = ("exact_run", "grouped_run", "sampled_run", "grouped_sampled_run")

MOST_GATES = 20_000_000
"""More than these take more memory than a laptop has."""


def build_shifting(probe: Any, blocks: int) -> Circuit:
    """Build the circuit of a probe by shifting, in any of its forms.

    Its parts: groups, shifted states, chain, reductions, decoding (spec 3, R31-R50).
    """
    net, state = begun(probe, blocks)
    form = probe._form()
    lengths, groups = probe._told_apart(blocks), probe._groups()
    gates = 2 * max(lengths) * (groups or blocks)
    if gates > MOST_GATES:
        expected = f"must be at most 4096 for a circuit of {probe.name} (its gates would be {gates:,})"
        raise wrong_value("", "blocks", expected, blocks, 4096)
    size = blocks // groups if groups else 1
    if form.timing == "pipe_3cycle_shared_hw":
        kept = _on_one_hardware(net, state, lengths, form, size)
    else:
        looked_at = net.signal("f0", grouped(net, state, size, form)) if groups else state
        kept = chained(net, looked_at, lengths, form)
    sar = net.signal("sar", any_left(net, kept, lengths, form))
    net.output("report", decoded(net, sar, [n * size for n in lengths], form.decode))
    return net


def _on_one_hardware(net: Circuit, state: np.ndarray, lengths: Sequence[int], form: Form, size: int) -> Vectors:
    """Return the rows of the lengths from gates and registers that serve the groups first and then the chain."""
    one = form._replace(timing="comb_1cycle")
    flat = dict[int, slice]()

    def chain(part: Circuit, groups: np.ndarray) -> np.ndarray:
        kept = chained(part, groups, lengths, one)
        ends = np.cumsum([0, *(kept[length - 1].size for length in lengths)])
        flat.update({length - 1: slice(a, b) for length, a, b in zip(lengths, ends, ends[1:], strict=False)})
        return np.concatenate([kept[length - 1] for length in lengths])

    joined = stage(state.size, lambda part, given: grouped(part, given, size, one))
    rows = stage(joined.made.size, chain)
    held = served(net, state, (joined, rows), gate_of(net, form))
    return {k: np.where(rows.made[which] > ONE, held[which], rows.made[which]) for k, which in flat.items()}


CYCLES = 3


class Stage(NamedTuple):
    """The gates of one cycle, all of one kind, in topological order; wires are those of its own netlist."""

    net: Circuit
    given: np.ndarray
    made: np.ndarray

    def gates(self) -> list[tuple[int, int, int]]:
        """Return the two inputs and the output of each gate."""
        rows = [(row.first, row.second, row.out) for row in self.net.rows]
        return [tuple(map(int, gate)) for row in rows for gate in zip(*row, strict=True)]  # type: ignore[misc]


def stage(inputs: int, build: Callable[[Circuit, np.ndarray], np.ndarray]) -> Stage:
    """Return the gates that a function makes of so many inputs, each wire that it returns once."""
    net = Circuit("stage")
    given = net.input("given", inputs)
    return Stage(net, given, build(net, given))


def served(
    net: Circuit, state: np.ndarray, stages: Sequence[Stage], gate: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> np.ndarray:
    """Build two stages on one set of gates, and return what the registers hold of the second one.

    It is for a probe in three cycles whose gates and registers serve all of them (spec 3, R43, ¶138): the first cycle
    forms the groups, the second the chain, the third reduces and decodes. The gates of the first two are of one kind:
    the k-th of the one and the k-th of the other are the same gate, whose inputs a selector takes from the state or
    from the registers. As gates are in topological order in both, an input comes from a gate of a lower number: nothing
    goes round. One bank of registers holds the groups, then the chain.

    Parameters
    ----------
    net : Circuit
        Gets a register `phase`, one-hot and turning from a reset on, and a register `held`.
    state : array
        The inputs of the first stage; those of the second are what the first one left in the registers.
    gate : callable
        The kind of all of their gates.
    """
    first, second = stages
    phase = net.register("phase", CYCLES, reset=1)
    net.follow("phase", np.roll(phase, 1))
    held = net.register("held", max(first.made.size, second.made.size))
    wires = [_known(one, given) for one, given in zip(stages, (state, held), strict=True)]
    _shared(net, [one.gates() for one in stages], wires, phase[:1], gate)
    grouped, chained = (known[one.made] for one, known in zip(stages, wires, strict=True))
    again = [np.concatenate([one, held[one.size :]]) for one in (grouped, chained)]
    net.follow("held", net.select(phase[:1], again[0], np.where(np.arange(held.size) < chained.size, again[1], held)))
    return held[: chained.size]


def _known(one: Stage, given: np.ndarray) -> np.ndarray:
    """Return the wires of the whole circuit that stand for those of a stage, its gates not yet among them."""
    known = np.arange(one.net.wires, dtype=np.int32)
    known[one.given] = given[: one.given.size]
    return known


def _shared(
    net: Circuit,
    gates: Sequence[Sequence[tuple[int, int, int]]],
    wires: Sequence[np.ndarray],
    begins: np.ndarray,
    gate: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> None:
    """Make one gate of the k-th of either stage, with a selector before each input that differs."""
    for k in range(max(map(len, gates))):
        serve = [(known, one[k]) for known, one in zip(wires, gates, strict=True) if k < len(one)]
        inputs = [[known[[wire]] for known, given in serve for wire in [given[side]]] for side in (0, 1)]
        chosen = [one[0] if len(one) == 1 else net.select(begins, one[0], one[1]) for one in inputs]
        made = gate(*chosen)
        for known, (_, _, out) in serve:
            known[out] = made[0]


def begun(probe: Probe, blocks: int) -> tuple[Circuit, np.ndarray]:
    """Return an empty circuit for a probe, and the wires of the state that it looks at."""
    blocks = whole("blocks", blocks, 1, MOST_SEGMENTS)
    probe.check_blocks(blocks)
    circuit = circuit_after(probe, probe.round_cycles([blocks]) - 1, BLOCKS=blocks)
    return circuit, circuit.input("state", blocks)


def cases_of_probe(probe: Probe, blocks: int, count: int, seed: int = 0) -> Iterator[Case]:
    """Yield random states and what the probe's own plain answer is."""
    latency = probe.round_cycles([blocks]) - 1
    inverted = getattr(probe, "encoding", "free1") == "free0"
    for free in states(blocks, count, seed):
        report = probe.ask(packed(free), blocks)
        yield asked({"state": number_of(free != inverted)}, {"report": report}, latency)


def states(blocks: int, count: int, seed: int = 0) -> Iterator[np.ndarray]:
    """Yield free maps as booleans: none free, all, then densities from sparse to full with whole ranges set."""
    draw = Streams(seed)["states"]
    yield from (np.zeros(blocks, bool), np.ones(blocks, bool))[:count]
    for k in range(count - 2):
        bits = draw.random(blocks) < (0.1, 0.5, 0.9, 0.99)[k % 4]
        for _ in range(k % 5):
            start = int(draw.integers(blocks))
            bits[start : start + int(draw.integers(1, blocks + 1))] = draw.random() < 0.7
        yield bits


def number_of(bits: np.ndarray) -> int:
    """Return bits as a number, the first the lowest.

    >>> number_of(np.array([True, False, True]))
    5
    """
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def build_shared(probe: Any, blocks: Any) -> Circuit:
    """Build the probe of several resources: a period a step, each report renewed in its resource's period.

    States come by turns to one probe with masks; a register holds every report (spec 3, R51-R59).
    """
    sizes = _sizes(blocks)
    schedule = _scheduled(probe, sizes)
    net = circuit_after(probe, schedule.periods, WIDTH=probe.width, PERIODS=schedule.periods)
    given = [net.input(f"state_{k}", size) for k, size in enumerate(sizes)]
    now = net.register("period", schedule.periods, reset=1)
    net.follow("period", np.roll(now, 1))
    members = [np.flatnonzero(schedule.period == p) for p in range(schedule.periods)]
    states = (np.concatenate([given[k] for k in inside]) for inside in members)
    free = (net.not_(state) for state in states) if probe.encoding == "free0" else states
    word = net.signal("word", loaded(net, free, now, probe.width))
    starts = [fields([sizes[k] for k in inside], probe.width) for inside in members]
    rows = _rows(net, probe, word, starts, now)
    for period, inside in enumerate(members):
        for place, k in enumerate(inside):
            first, end = int(starts[period][place]), int(starts[period][place + 1])
            sar = np.concatenate([net.any_of(row[first:end]) for row in rows[: sizes[k]]])
            result = decoded(net, sar, range(1, sizes[k] + 1), probe.decode)
            _report(net, int(k), now[period : period + 1], result)
    return net


def cases_of_shared(probe: Any, blocks: Any, count: int, seed: int = 0) -> Iterator[Case]:
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


def _rows(net: Circuit, probe: Any, word: np.ndarray, starts: list[np.ndarray], now: np.ndarray) -> list[np.ndarray]:
    """Return SA of every shift, each bit kept within its resource by the mask of the period."""
    left, rows = probe.direction == "left", [word]
    for by in range(1, max(int(np.diff(one).max()) for one in starts)):
        passing = _passes(net, np.stack([mask(one, by, left, probe.masks) for one in starts]), now)
        rows.append(net.signal(f"sa_{by}", following(net, rows[-1], shifted(word, by, left), passing)))
    return rows


def _passes(net: Circuit, passing: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Return the mask as wires: each bit is 1 in the periods in which it may pass."""
    wires = np.full(passing.shape[1], ONE, np.int32)
    for column in np.unique(passing, axis=1).T:
        if not column.all():
            wires[(passing == column[:, None]).all(0)] = net.any_of(now[column])[0]
    return wires


def _report(net: Circuit, k: int, turn: np.ndarray, result: np.ndarray) -> None:
    """Keep a resource's report from its period to its next."""
    held = net.register(f"held_report_{k}", result.size)
    net.follow(f"held_report_{k}", net.select(turn, result, held))
    net.output(f"report_{k}", held)


def build_serial(probe: Any, blocks: int) -> Circuit:
    """Build the hardware of one cycle, which serves all: with `load` the state is copied and the scan begins again.

    It is a shift register of the state, a counter of the run so far, and the longest so far.
    """
    net, state = begun(probe, blocks)
    net.latency, net.started_by = int(blocks), "load"
    width, load = int(blocks).bit_length(), net.input("load")
    waiting = net.register("waiting", blocks)
    run, longest = net.register("run", width), net.register("longest", width)
    new_run, new_longest = step(net, waiting[:1], run, longest)
    idle = net.not_(load)
    net.follow("waiting", net.select(load, state, np.append(waiting[1:], np.int32(ZERO))))
    net.follow("run", net.and_(idle, new_run))
    net.follow("longest", net.and_(idle, new_longest))
    net.output("report", new_longest)
    return net


def cases_of_serial(probe: Any, blocks: int, count: int, seed: int = 0) -> Iterator[Case]:
    """Yield random states: loaded in the first step, the report after as many steps as there are blocks."""
    for free in states(blocks, count, seed):
        given = {"state": number_of(free), "load": 0}
        loaded = Step({**given, "load": 1}, {})
        report = Step(given, {"report": probe.ask(packed(free), blocks)})
        yield [loaded, *[Step(given, {})] * (blocks - 1), report]


def build_doubling(probe: Any, blocks: int) -> Circuit:
    """Build the gates that the probe counts, with names and registers.

    They form the windows of 1, 2, 4, ... blocks, then the longest window bit by bit.
    """
    net, state = begun(probe, blocks)
    net.output("report", reported(net, state, probe.timing == "step_a_cycle"))
    return net


def build_tree(probe: Any, blocks: int) -> Circuit:
    """Build the gates that the probe counts, with names and registers.

    The tree of (prefix, suffix, best) has N - 1 nodes, each joining two neighboring ranges of blocks.
    """
    net, state = begun(probe, blocks)
    net.output("report", root_of(net, state, probe.timing == "step_a_cycle")[0].best[:, 0])
    return net


MAKERS = [
    *(Maker(f"probe.{name}", build_shifting, cases_of_probe) for name in NAMES),
    Maker("probe.shared_run", build_shared, cases_of_shared, "blocks of each resource"),
    Maker("probe.bit_serial", build_serial, cases_of_serial),
    Maker("probe.shift_doubling", build_doubling, cases_of_probe),
    Maker("probe.prefix_suffix_tree", build_tree, cases_of_probe),
]
