"""Synthesises a circuit once, and keeps the figures by the digest of its netlist in the user's cache."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path

from workbench.circuits.netlist import Circuit
from workbench.circuits.synthesis.counts import Counts, read_counts
from workbench.circuits.synthesis.liberty import FLIP_FLOP_AREA, liberty
from workbench.circuits.synthesis.yosys import run_script, synthesiser
from workbench.circuits.verilog import verilog
from workbench.folders import cache_home

SCRIPT = """read_verilog circuit.v
synth -flatten -top {name}
abc -g AND,NAND,OR,NOR,XOR,XNOR,ANDNOT,ORNOT
opt_clean
tee -q -o gates.json stat -json
tee -q -o levels.txt ltp -noff
tee -q -o timing.txt abc -liberty cells.lib -script +strash;dch;map;topo;buffer,-c;topo;stime
"""
"""Two-input gates first, counted; then the same mapped to the project's own cells."""

SECONDS = 600.0
"""How long one synthesis may take, unless said otherwise."""


def synthesised(circuit: Circuit, seconds: float = SECONDS) -> Counts:
    """Return what a synthesiser makes of a circuit; from the cache where it has been asked before.

    Raises
    ------
    WorkbenchError
        No synthesiser is installed, or it took longer.
    """
    by = synthesiser().name
    kept = cache_home() / "circuits" / f"{_key(circuit, by)}.json"
    if kept.is_file():
        return Counts(**json.loads(kept.read_text("utf-8")))
    counts = _synthesise(circuit, by, seconds)
    _keep(kept, counts)
    return counts


def _keep(kept: Path, counts: Counts) -> None:
    """Write the figures beside their place and move them there, so that no reader meets half a file."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    beside = kept.with_suffix(f".{os.getpid()}")
    beside.write_text(json.dumps(counts._asdict()), "utf-8")
    beside.replace(kept)


def _synthesise(circuit: Circuit, by: str, seconds: float) -> Counts:
    with tempfile.TemporaryDirectory(prefix="workbench-circuit-") as place:
        folder = Path(place)
        (folder / "circuit.v").write_text(verilog(circuit), "utf-8")
        (folder / "cells.lib").write_text(liberty(), "utf-8")
        run_script(SCRIPT.format(name=circuit.name), folder, seconds)
        counts = read_counts(folder, by)
    area = round(counts.relative_area + FLIP_FLOP_AREA * counts.registers, 2)
    return counts._replace(relative_area=area)


def _key(circuit: Circuit, by: str) -> str:
    return hashlib.sha256(f"{circuit.digest()} {by} {SCRIPT} {liberty()}".encode()).hexdigest()
