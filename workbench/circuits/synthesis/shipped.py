"""The figures that come with the package: circuits of comparisons, synthesised once, by the digest of the netlist."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from workbench.circuits.netlist import Circuit
from workbench.circuits.synthesis.counts import Counts
from workbench.circuits.synthesis.liberty import liberty

TABLE = Path(__file__).with_name("gates.csv")
"""Written by `python -m benchmarks.circuits`."""

DIGITS = 16

SCRIPT = """read_verilog circuit.v
synth -flatten -top {name}
abc -g AND,NAND,OR,NOR,XOR,XNOR,ANDNOT,ORNOT
opt_clean
tee -q -o gates.json stat -json
tee -q -o levels.txt ltp -noff
tee -q -o timing.txt abc -liberty cells.lib -script +strash;dch;map;topo;buffer,-c;topo;stime
"""
"""Two-input gates first, counted; then the same mapped to the project's own cells."""


def key_of(circuit: Circuit) -> str:
    """Return the name of a circuit's figures: what is synthesised, how, and into which cells.

    >>> circuit = Circuit("both")
    >>> circuit.output("out", circuit.and_(circuit.input("a"), circuit.input("b")))
    >>> len(key_of(circuit))
    16
    """
    return hashlib.sha256(f"{circuit.digest()} {SCRIPT} {liberty()}".encode()).hexdigest()[:DIGITS]


def shipped(circuit: Circuit, by: str | None) -> Counts | None:
    """Return the figures of a circuit that come with the package, None where there are none.

    Parameters
    ----------
    by : str, optional
        The synthesiser that is installed, whose figures alone may stand beside its own; None = any will do.
    """
    counts = _table().get(key_of(circuit))
    return counts if counts is not None and by in (None, counts.by) else None


@lru_cache(1)
def _table() -> Mapping[str, Counts]:
    with TABLE.open(newline="", encoding="utf-8") as file:
        return {row["key"]: _counts(row) for row in csv.DictReader(file) if row["area_gates"]}


def _counts(row: Mapping[str, str]) -> Counts:
    whole = {name: int(row[name]) for name in ("area_gates", "inverters", "levels", "registers")}
    return Counts(
        **whole, relative_area=float(row["relative_area"]), relative_delay=float(row["relative_delay"]), by=row["by"]
    )
