"""The project's own cells, and the Liberty file that a synthesizer maps to.

The cells follow logical effort [1]: each has its input capacitance g (logical effort, in those of an inverter), its
parasitic delay p, and its transistors. Delay = p + load in units of tau; an inverter that drives four takes 5 tau, so
that delays are written in FO4 = 5 tau. Area is transistors / 4: a NAND of two inputs is 1.

References
----------
.. [1] I. Sutherland, B. Sproull, D. Harris, "Logical Effort", 1999.
"""

from __future__ import annotations

from typing import NamedTuple

FO4 = 5.0
"""Delay of an inverter that drives four, in tau."""

FLIP_FLOP_AREA = 6.0
"""A flip-flop in NAND gates: 24 transistors."""


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
