"""How far a solver gets: forms of one function, from 8 to 128 blocks or segments, ten minutes a proof.

Writes `data/circuits/proofs.csv`: a row a pair and a size, with what the solver said and how long it took on this
machine. A row that is there is not made again; where a pair stays undecided, its larger sizes are not tried. Run as
`python -m benchmarks.proofs` where the extra `circuits` is installed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.circuits import circuit_of
from workbench.circuits.proof import prove
from workbench.policies.placement import NearestBoundary
from workbench.policies.probes import BitSerial, ExactRun, PrefixSuffixTree, ShiftDoubling

PLACE = Path(__file__).parent.parent / "data" / "circuits" / "proofs.csv"
SIZES = (8, 16, 32, 64, 128)
SECONDS = 600.0
PAIRS = (
    (ExactRun(), ExactRun(chain="doubling")),
    (ExactRun(), PrefixSuffixTree()),
    (ExactRun(), ShiftDoubling()),
    (PrefixSuffixTree(), ShiftDoubling()),
    (ExactRun(), ExactRun(decode="scan")),
    (PrefixSuffixTree(), PrefixSuffixTree(timing="step_a_cycle")),
    (ExactRun(), BitSerial()),
    (NearestBoundary(), NearestBoundary(probe="window_and")),
    (NearestBoundary(), NearestBoundary(probe="mask_or_and")),
    (NearestBoundary(), NearestBoundary(leading_one="linear")),
)
"""What computes one function: one-cycle probes in one step, those with registers step by step or by induction."""
COLUMNS = ("first", "second", "size", "verdict", "way", "seconds")

Row = dict[str, Any]


def asked(sizes: tuple[int, ...] = SIZES) -> Iterator[tuple[Any, Any, int]]:
    """Yield the small sizes of all pairs first."""
    yield from ((first, second, size) for size in sizes for first, second in PAIRS)


def row_of(first: Any, second: Any, size: int, seconds: float = SECONDS) -> Row:
    """Return what a solver says of two policies' circuits."""
    proof = prove(circuit_of(first, size), circuit_of(second, size), seconds)
    return {**name_of(first, second, size), "verdict": proof.verdict, "way": proof.way, "seconds": proof.seconds}


def name_of(first: Any, second: Any, size: int) -> Row:
    """Return the columns that name a row."""
    return {"first": first.short(), "second": second.short(), "size": str(size)}


def main() -> None:
    """Prove what is missing, one after another, and write after each."""
    rows = list(csv.DictReader(PLACE.open())) if PLACE.exists() else []
    for first, second, size in asked():
        name = name_of(first, second, size)
        same = [row for row in rows if (row["first"], row["second"]) == (name["first"], name["second"])]
        if any(row["size"] == name["size"] or row["verdict"] == "undecided" for row in same):
            continue
        rows.append(row_of(first, second, size))
        print(rows[-1], flush=True)
        _write(rows)


def _write(rows: list[Row]) -> None:
    with PLACE.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
