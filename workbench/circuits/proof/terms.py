"""A circuit as terms of a solver: one step, from inputs and register contents to outputs and the next contents."""

from __future__ import annotations

from typing import Any, NamedTuple

from workbench.circuits.netlist import XOR, Circuit
from workbench.errors import missing_extra
from workbench.gates.netlist import AND, NAND, NOT, OR


class Solver(NamedTuple):
    """The solver's module and its makers of terms."""

    module: Any
    manager: Any

    def bits(self, name: str, count: int) -> list[Any]:
        """Return free variables, one a bit."""
        one = self.manager.mk_bool_sort()
        return [self.manager.mk_const(one, f"{name}_{bit}") for bit in range(count)]

    def number(self, value: int, count: int) -> list[Any]:
        """Return a constant, one term a bit."""
        return [self.manager.mk_true() if value >> j & 1 else self.manager.mk_false() for j in range(count)]

    def any_of(self, terms: list[Any]) -> Any:
        """Return the OR of some terms."""
        kind = self.module.Kind.OR
        return self.manager.mk_term(kind, terms) if len(terms) > 1 else (terms or self.number(0, 1))[0]


Bits = dict[str, list[Any]]
"""The terms of each input, output or register."""


def solver() -> Solver:
    """Return a fresh solver.

    Raises
    ------
    WorkbenchError
        It is not installed.
    """
    try:
        import bitwuzla
    except ImportError:
        raise missing_extra("proving circuits equal", "circuits") from None
    return Solver(bitwuzla, bitwuzla.TermManager())


def step(solver: Solver, circuit: Circuit, inputs: Bits, contents: Bits) -> tuple[Bits, Bits]:
    """Return the outputs, and what the registers hold next."""
    wires: dict[int, Any] = {0: solver.manager.mk_false(), 1: solver.manager.mk_true()}
    for name, port in circuit.ports.items():
        wires.update(zip(port.tolist(), inputs[name], strict=True))
    for name, register in circuit.registers.items():
        wires.update(zip(register.wires.tolist(), contents[name], strict=True))
    _gates(solver, circuit, wires)
    outputs = {name: [wires[wire] for wire in port.tolist()] for name, port in circuit.outputs.items()}
    after = {name: [wires[wire] for wire in one.following.tolist()] for name, one in circuit.registers.items()}
    return outputs, after


def _gates(solver: Solver, circuit: Circuit, wires: dict[int, Any]) -> None:
    """Add the term of every gate."""
    kinds, make = solver.module.Kind, solver.manager.mk_term
    meant = {AND: kinds.AND, NAND: kinds.AND, OR: kinds.OR, XOR: kinds.XOR}
    for row in circuit.rows:
        for first, second, out in zip(row.first.tolist(), row.second.tolist(), row.out.tolist(), strict=True):
            one = [wires[first]] if row.kind == NOT else [wires[first], wires[second]]
            term = one[0] if row.kind == NOT else make(meant[row.kind], one)
            wires[out] = make(kinds.NOT, [term]) if row.kind in (NOT, NAND) else term
