"""Gates, levels, flip-flops, relative area and delay of every circuit of a comparison, as written and synthesised.

Writes `data/circuits/gates.csv`; a row that is there already is not made again, and what takes longer than ten minutes
is a row that says so. Run as `python -m benchmarks.circuits` where the extra `circuits` is installed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.circuits import circuit_of
from workbench.circuits.synthesis import synthesised
from workbench.errors import WorkbenchError
from workbench.policies.dispatch.choice import MostResidual
from workbench.policies.dispatch.priority import PriorityWindows
from workbench.policies.malloc.serve import WarpAggregated
from workbench.policies.placement import BestFit, FirstFit, LastFit, NearestBoundary
from workbench.policies.probes import (
    BitSerial,
    ExactRun,
    GroupedRun,
    GroupedSampledRun,
    PrefixSuffixTree,
    SampledRun,
    ShiftDoubling,
)

PLACE = Path(__file__).parent.parent / "data" / "circuits" / "gates.csv"
SIZES = (16, 64, 128)
COLUMNS = (
    "policy", "size", "gates_as_written", "levels_as_written", "area_gates", "levels", "registers", "relative_area",
    "relative_delay", "by",
)  # fmt: skip


def compared() -> Iterator[tuple[Any, Any]]:
    """Yield policies and sizes: what is small first, the exact probes and the placements of 128 last."""
    yield from ((WarpAggregated(), lanes) for lanes in (8, 16, 32))
    yield from ((PriorityWindows(), levels) for levels in (4, 16))
    yield from ((MostResidual(), (modules, 128, 128, 10, 64, 16)) for modules in (4, 16))
    for size in SIZES:
        yield from ((policy, size) for policy in (*probes(size), *placements()))


def probes(size: int) -> Iterator[Any]:
    """Yield the probes of a size: grouped and sampled ones, then those that are exact."""
    yield from (GroupedRun(groups=groups) for groups in (4, 8, 16, 32) if groups < size)
    yield SampledRun(run_lengths=(1, 2, 4, 8, 16)[: size.bit_length() - 2])
    yield GroupedSampledRun(groups=size // 4, run_lengths=(1, 2, 4))
    yield from (BitSerial(), PrefixSuffixTree(), ShiftDoubling(), ExactRun(chain="doubling"), ExactRun())


def placements() -> Iterator[Any]:
    """Yield nearest boundary in its forms, and its rivals."""
    yield from (FirstFit(), LastFit(), BestFit(), NearestBoundary(), NearestBoundary(tie="alternate"))
    yield from (NearestBoundary(probe="window_and"), NearestBoundary(probe="mask_or_and"))


def row_of(policy: Any, size: Any) -> dict[str, Any]:
    """Return a row; what a synthesiser does not finish has no figures and says why."""
    circuit = circuit_of(policy, size)
    row = {
        "policy": repr(policy), "size": str(size), "gates_as_written": circuit.gates,
        "levels_as_written": circuit.levels,
    }  # fmt: skip
    try:
        found = synthesised(circuit)._asdict()
    except WorkbenchError as problem:
        found = {"by": str(problem)}
    return {**row, **{name: found[name] for name in COLUMNS if name in found}}


def main() -> None:
    """Add the rows that are missing, one after another."""
    PLACE.parent.mkdir(parents=True, exist_ok=True)
    rows = list(csv.DictReader(PLACE.open())) if PLACE.exists() else []
    there = {(row["policy"], row["size"]) for row in rows}
    for policy, size in compared():
        if (repr(policy), str(size)) not in there:
            rows.append(row_of(policy, size))
            _write(rows)
            print(rows[-1], flush=True)


def _write(rows: list[dict[str, Any]]) -> None:
    with PLACE.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
