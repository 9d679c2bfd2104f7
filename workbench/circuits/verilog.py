"""Verilog of a circuit that a person can read: a header on the policy, named vectors, slices, registers with resets."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.gates import AND, NAND, NOT, OR, XOR, Row

WIDE = 116
SIGNS = {AND: "&", OR: "|", XOR: "^", NAND: "&"}
NAMES = {AND: "and", OR: "or", XOR: "xor", NAND: "nand", NOT: "not"}


def verilog(circuit: Circuit) -> str:
    """Return the module of a circuit as text.

    Examples
    --------
    >>> circuit = Circuit("both", source="an example", parameters={"WIDTH": 4})
    >>> a = circuit.input("a", 4)
    >>> circuit.output("pairs", circuit.signal("pair", circuit.and_(a[:3], a[1:])))
    >>> print(verilog(circuit))
    // both: an example
    // Generated from the policy; two-input gates, vectors with bit 0 lowest.
    module both (
        input wire [3:0] a,
        output wire [2:0] pairs
    );
        localparam WIDTH = 4;
    <BLANKLINE>
        wire [2:0] pair = a[2:0] & a[3:1];
    <BLANKLINE>
        assign pairs = pair;
    endmodule
    <BLANKLINE>
    """
    return "\n".join(_Writer(circuit).lines()) + "\n"


class _Writer:
    """Where each wire is found by name, as far as it is written."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.vector = np.full(circuit.wires, -1)
        """The number of the vector that holds a wire, by its place in `names`."""
        self.place = np.zeros(circuit.wires, np.int64)
        self.names: list[tuple[str, int]] = []
        self.waiting = dict(circuit.signals)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the module."""
        circuit = self.circuit
        yield from self._header()
        yield from _indented([f"localparam {name} = {value};" for name, value in circuit.parameters.items()], True)
        for name, wires in circuit.ports.items():
            self._put(name, wires)
        for name, one in circuit.registers.items():
            self._put(name, one.wires)
        registers = [f"reg {self._range(one.wires.size)}{name};" for name, one in circuit.registers.items()]
        yield from _indented(registers, bool(registers))
        yield from self._body()
        yield from self._clocked()
        yield from _indented([f"assign {name} = {self._expression(wires)};" for name, wires in circuit.outputs.items()])
        yield "endmodule"

    def _header(self) -> Iterator[str]:
        circuit = self.circuit
        yield from textwrap.wrap(f"// {circuit.name}: {circuit.source}", WIDE, subsequent_indent="// ")
        if circuit.levers:
            levers = ", ".join(f"{name}={value}" for name, value in circuit.levers.items())
            yield from textwrap.wrap(f"// levers: {levers}", WIDE, subsequent_indent="// ")
        if circuit.latency:
            yield f"// The outputs belong to the inputs of {circuit.latency} steps before, which stay."
        yield "// Generated from the policy; two-input gates, vectors with bit 0 lowest."
        clocked = ["input wire clk", "input wire rst"] if circuit.registers else []
        inputs = [f"input wire {_range(wires.size)}{name}" for name, wires in circuit.ports.items()]
        outputs = [f"output wire {_range(wires.size)}{name}" for name, wires in circuit.outputs.items()]
        yield f"module {circuit.name} ("
        yield ",\n".join(f"    {port}" for port in (*clocked, *inputs, *outputs))
        yield ");"

    def _body(self) -> Iterator[str]:
        yield from _indented(self._aliases())
        for number, row in enumerate(row for row in self.circuit.rows if row.out.size):
            yield from _indented([self._row(number, row)])
            yield from _indented(self._aliases(int(row.out[-1])))
        if self.circuit.rows:
            yield ""

    def _row(self, number: int, row: Row) -> str:
        """Return the line of a row of gates, named by the signal that is exactly this row."""
        exact = [name for name, wires in self.waiting.items() if np.array_equal(wires, row.out)]
        name = exact[0] if exact else f"{NAMES[row.kind]}_{number}"
        if exact:
            del self.waiting[name]
        text = self._gates(row)
        self._put(name, row.out)
        return f"wire {self._range(row.out.size)}{name} = {text};"

    def _gates(self, row: Row) -> str:
        first = self._expression(row.first)
        if row.kind == NOT:
            return f"~{first}"
        joined = f"{first} {SIGNS[row.kind]} {self._expression(row.second)}"
        return f"~({joined})" if row.kind == NAND else joined

    def _aliases(self, newest: int = -1) -> list[str]:
        """Return the lines of the signals whose wires are all written by now."""
        ready = [name for name, wires in self.waiting.items() if self._written(wires, newest)]
        return [self._alias(name, self.waiting.pop(name)) for name in ready]

    def _written(self, wires: np.ndarray, newest: int) -> bool:
        real = wires[wires > 1]
        return (newest < 0 or newest in real) and bool((self.vector[real] >= 0).all())

    def _alias(self, name: str, wires: np.ndarray) -> str:
        line = f"wire {self._range(wires.size)}{name} = {self._expression(wires)};"
        self._put(name, wires)
        return line

    def _clocked(self) -> Iterator[str]:
        registers = self.circuit.registers
        if not registers:
            return
        cleared = [f"{name} <= {one.wires.size}'d{one.reset};" for name, one in registers.items()]
        moved = [f"{name} <= {self._expression(one.following)};" for name, one in registers.items()]
        yield "    always @(posedge clk)"
        yield "        if (rst) begin"
        yield from _indented(cleared, depth=3)
        yield "        end else begin"
        yield from _indented(moved, depth=3)
        yield "        end"
        yield ""

    def _put(self, name: str, wires: np.ndarray) -> None:
        real = wires > 1
        self.vector[wires[real]] = len(self.names)
        self.place[wires[real]] = np.flatnonzero(real)
        self.names.append((name, wires.size))

    def _range(self, bits: int) -> str:
        named = [name for name, value in self.circuit.parameters.items() if value == bits > 1]
        return f"[{named[0]}-1:0] " if named else _range(bits)

    def _expression(self, wires: np.ndarray) -> str:
        """Return a vector as slices of what is named, joined in braces."""
        pieces = [self._piece(wires[first:end]) for first, end in self._runs(wires)]
        return pieces[0] if len(pieces) == 1 else "{" + ", ".join(pieces[::-1]) + "}"

    def _runs(self, wires: np.ndarray) -> list[tuple[int, int]]:
        """Return the cuts of a vector: each run is a slice of one vector, or one wire again and again."""
        vector, place = self.vector[wires], self.place[wires]
        same = wires[1:] == wires[:-1]
        follows = (wires[1:] > 1) & (vector[1:] == vector[:-1]) & (place[1:] == place[:-1] + 1)
        joins = np.where(same, 1, np.where(follows, 2, 0))
        cuts, kind = [0], 0
        for k, join in enumerate(joins.tolist(), 1):
            if join == 0 or (kind and join != kind):
                cuts.append(k)
                kind = 0
            else:
                kind = join
        return list(zip(cuts, [*cuts[1:], wires.size]))

    def _piece(self, wires: np.ndarray) -> str:
        first, count = int(wires[0]), wires.size
        if first <= 1:
            return f"{count}'d0" if first == 0 else "1'b1" if count == 1 else f"{{{count}{{1'b1}}}}"
        name, bits = self.names[self.vector[first]]
        low = int(self.place[first])
        one = name if bits == 1 else f"{name}[{low}]"
        if count == 1:
            return one
        if wires[1] == first:
            return f"{{{count}{{{one}}}}}"
        return name if count == bits else f"{name}[{low + count - 1}:{low}]"


def _range(bits: int) -> str:
    return f"[{bits - 1}:0] " if bits > 1 else ""


def _indented(lines: list[str], blank: bool = False, depth: int = 1) -> Iterator[str]:
    """Yield lines four columns further in, broken where they are wide."""
    before = "    " * depth
    for line in lines:
        yield from textwrap.wrap(line, WIDE, initial_indent=before, subsequent_indent=before + "    ")
    if blank and lines:
        yield ""
