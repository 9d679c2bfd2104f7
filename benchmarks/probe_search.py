"""Is there a smaller exact probe? Every composition of parts, synthesised; those on the Pareto front, proven.

Writes `data/circuits/probe_search.csv`: compositions and the documents' exact probes of one cycle, area against delay.
A circuit on the front of its size is compared with the tree of prefixes and suffixes by a solver; what
is there already is not done again. Run as `python -m benchmarks.probe_search` with the extra `circuits` installed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.circuits import Circuit, circuit_of
from workbench.circuits.composed_probes import composed, compositions
from workbench.circuits.proof import prove
from workbench.circuits.synthesis import synthesised
from workbench.policies.probes import ExactRun, PrefixSuffixTree, ShiftDoubling

PLACE = Path(__file__).parent.parent / "data" / "circuits" / "probe_search.csv"
SIZES = (16, 32, 64, 128)
PROVEN = 128
"""The most blocks for which equality is proven."""
SECONDS = 200.0
RIVALS = (ExactRun(), ExactRun(chain="doubling"), PrefixSuffixTree(), ShiftDoubling())
COLUMNS = (
    "probe", "blocks", "area_gates", "levels", "relative_area", "relative_delay", "front", "verdict", "against",
    "seconds",
)  # fmt: skip

Row = dict[str, Any]


def circuits(blocks: int) -> Iterator[tuple[str, Circuit]]:
    """Yield the documents' exact probes of a size, then every composition."""
    yield from ((policy.short(), circuit_of(policy, blocks)) for policy in RIVALS)
    for how in compositions(blocks):
        yield f"leaf {how.leaf}, {how.ends}, {how.best}", composed(how, blocks)


def row_of(name: str, blocks: int, circuit: Circuit) -> Row:
    """Return the figures of a circuit."""
    counts = synthesised(circuit)
    figures = {name: getattr(counts, name) for name in COLUMNS[2:6]}
    return {"probe": name, "blocks": blocks, **figures}


def front(rows: list[Row]) -> list[Row]:
    """Return the rows that no other one beats in area and delay."""
    values = {id(row): (float(row["relative_area"]), float(row["relative_delay"])) for row in rows}
    return [row for row in rows if not any(beaten(values[id(row)], one) for one in values.values())]


def beaten(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Return whether the other is no worse in both and better in one."""
    return other != one and other[0] <= one[0] and other[1] <= one[1]


def proven(name: str, blocks: int) -> Row:
    """Return what a solver says of a composition and the tree."""
    circuit = dict(circuits(blocks))[name]
    proof = prove(circuit, circuit_of(PrefixSuffixTree(), blocks), SECONDS)
    return {"verdict": proof.verdict, "against": "prefix_suffix_tree", "seconds": proof.seconds}


def main() -> None:
    """Do the sizes one after another, the proofs last."""
    kept = {(row["probe"], int(row["blocks"])): row for row in csv.DictReader(PLACE.open())} if PLACE.exists() else {}
    for blocks in SIZES:
        rows = []
        for name, circuit in circuits(blocks):
            if (name, blocks) not in kept:
                kept[name, blocks] = row_of(name, blocks, circuit)
                _write([*kept.values()])
            rows.append(kept[name, blocks])
        for row in rows:
            row["front"] = "yes" if row in front(rows) else ""
    for (name, blocks), row in kept.items():
        if row["front"] and blocks <= PROVEN and name.startswith("leaf") and not row.get("verdict"):
            row.update(proven(name, blocks))
            print(row, flush=True)
            _write([*kept.values()])
    _write([*kept.values()])


def _write(rows: list[Row]) -> None:
    with PLACE.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
