"""Gates, levels, flip-flops, relative area and delay of every circuit of a comparison, as written and synthesised.

Writes the table that comes with the package, `workbench/circuits/gates.csv`, each row under the digest of its
netlist: a row that is there already is not made again, and what takes longer than ten minutes is a row that says so.
Run as `python -m benchmarks.circuits` where the extra `circuits` is installed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from workbench.circuits import Circuit, circuit_of
from workbench.circuits.synthesis import TABLE, key_of, synthesised
from workbench.claims import translation
from workbench.claims.dispatch_probes import DENSITIES, capped
from workbench.errors import WorkbenchError
from workbench.explain.probe_success import octave_lengths
from workbench.figures.probe_accuracy import probe_kinds
from workbench.policies.dispatch.choice import MostResidual
from workbench.policies.dispatch.priority_rules import PriorityWindows
from workbench.policies.malloc.aggregation import WarpAggregated
from workbench.policies.placement import BestFit, FirstFit, LastFit, NearestBoundary
from workbench.policies.probes import (
    BitSerial,
    ExactRun,
    GroupedRun,
    GroupedSampledRun,
    PrefixSuffixTree,
    Probe,
    SampledRun,
    SharedRun,
    ShiftDoubling,
)
from workbench.policies.translation.eviction import LRU
from workbench.policies.translation.locate import FRAME_BITS
from workbench.policies.translation.peer import FirstBit

SIZES = (16, 32, 64, 128)
LARGER = (512, 1824)
"""Blocks of the cheap probes alone: the exact ones have as many gates as the square of this."""
RESOURCES = (128, 64, 48)
"""The document's three; its first two are the vector and scalar registers of a unit."""
HALVES = (64, 32, 24)
"""Half as large; the first two are those of `sweeps/tune/probes.yaml`."""
COLUMNS = (
    "policy", "size", "gates_as_written", "levels_as_written", "area_gates", "inverters", "levels", "registers",
    "relative_area", "relative_delay", "by", "key",
)  # fmt: skip


def compared() -> Iterator[tuple[Any, Any]]:
    """Yield policies and sizes: what is small first, the exact and the shared probes of 128 last."""
    yield from ((WarpAggregated(), lanes) for lanes in (8, 16, 32))
    yield from ((PriorityWindows(), levels) for levels in (4, 16))
    yield from private_tlbs()
    yield from ((MostResidual(), (modules, 128, 128, 10, 64, 16)) for modules in (4, 16))
    for size in SIZES[:-1]:
        yield from ((policy, size) for policy in (*probes(size), *exact(size)))
    kinds = probe_kinds(SIZES[0])
    yield from ((Probe.read(probe), SIZES[0]) for name in ("grouped", "sampled", "exact_run") for probe in kinds[name])
    for size in (SIZES[0], *SIZES[2:]):
        yield from ((policy, size) for policy in placements())
    masks = ("every_shift", "first_crossing")
    yield from ((SharedRun(width=64, masks=which), sizes) for sizes in (HALVES[:2], HALVES) for which in masks)
    yield from ((policy, HALVES[2]) for policy in exact(HALVES[2]))
    yield from ((policy, size) for size in (*SIZES[3:], *LARGER) for policy in probes(size))
    ranges = (GroupedSampledRun(**capped(groups)) for groups in (32, 64))
    budgets = (*ranges, GroupedRun(groups=64), *(SampledRun(run_lengths=octave_lengths(16, n)) for n in DENSITIES))
    yield from ((policy, SIZES[3]) for policy in (*budgets, *exact(SIZES[3])))
    yield from ((policy, RESOURCES[2]) for policy in (PrefixSuffixTree(), ExactRun()))
    yield from ((SharedRun(width=128, masks=which), sizes) for sizes in (RESOURCES[:2], RESOURCES) for which in masks)


def private_tlbs() -> Iterator[tuple[Any, Any]]:
    """Yield the directory of the pilot's cores, and private TLBs: their own, twice as large, and of equal area."""
    machine = translation.machine()
    entries, pages = machine.private_entries, machine.pages.bit_length() - 1
    yield FirstBit(), (machine.cores, 2 * entries, pages)
    yield from ((LRU(), (count, pages, FRAME_BITS)) for count in (entries, 2 * entries))
    yield LRU(), (translation.in_area().more, pages, FRAME_BITS)


def probes(size: int) -> Iterator[Any]:
    """Yield the grouped and the sampled probes of a size."""
    yield from (GroupedRun(groups=groups) for groups in (4, 8, 16, 32) if groups < size)
    for longest in (4, 8, 16):
        yield SampledRun(run_lengths=tuple(1 << k for k in range(longest.bit_length())))
    yield SampledRun(run_lengths=(1, 2, 4, 8, 16, 24) if size > 16 else (1, 2, 3, 4, 6, 8))
    yield from (GroupedSampledRun(groups=groups, run_lengths=(1, 2, 4)) for groups in (8, 16) if groups < size)
    if size in (32, 64):
        yield from (GroupedRun(groups=size // 4, timing=timing) for timing in ("pipe_3cycle", "pipe_3cycle_shared_hw"))


def exact(size: int) -> Iterator[Any]:
    """Yield the exact probes, the smallest ones first, and those in three cycles."""
    yield from (BitSerial(), PrefixSuffixTree(), ShiftDoubling(), ExactRun(chain="doubling"), ExactRun())
    yield from (ExactRun(timing="pipe_3cycle", chain=chain) for chain in ("doubling", "running"))


def placements() -> Iterator[Any]:
    """Yield nearest boundary in its forms, and its rivals."""
    yield from (FirstFit(), LastFit(), BestFit(), NearestBoundary(), NearestBoundary(tie="alternate"))
    yield from (NearestBoundary(probe="window_and"), NearestBoundary(probe="mask_or_and"))
    yield NearestBoundary(leading_one="linear")


def row_of(policy: Any, size: Any, circuit: Circuit) -> dict[str, Any]:
    """Return a row; what a synthesiser does not finish has no figures and says why."""
    row = {
        "policy": repr(policy), "size": str(size), "gates_as_written": circuit.gates,
        "levels_as_written": circuit.levels, "key": key_of(circuit),
    }  # fmt: skip
    try:
        counts = synthesised(circuit)._asdict()
    except WorkbenchError as problem:
        counts = {"by": str(problem)}
    return {**row, **{name: counts[name] for name in COLUMNS if name in counts}}


def main() -> None:
    """Keep the rows of circuits that are as they were, and make the others, one after another."""
    kept = {row["key"]: row for row in csv.DictReader(TABLE.open())} if TABLE.exists() else {}
    rows = []
    for policy, size in compared():
        circuit = circuit_of(policy, size)
        if key_of(circuit) not in kept:
            kept[key_of(circuit)] = row_of(policy, size, circuit)
            print(kept[key_of(circuit)], flush=True)
            _write([*kept.values()])
        rows.append(kept[key_of(circuit)])
    _write(rows)


def _write(rows: list[dict[str, Any]]) -> None:
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
