"""SAT proofs that two circuits compute one function: in one step, through pipelines, or by induction over registers.

What a solver finds to differ is put in words: what either circuit says.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from workbench.circuits.netlist import Circuit
from workbench.circuits.vectors import Simulator
from workbench.errors import InputError, missing_extra
from workbench.gates import AND, NAND, NOT, OR, XOR

Way = Literal["combinational", "unrolled", "from reset", "inductive"]


FOLLOWED = 8
"""Steps after a reset in which a difference is looked for where induction fails."""


class Proof(NamedTuple):
    """What the solver said of two circuits."""

    verdict: Literal["equal", "different", "undecided"]
    """`undecided` where the solver did not end in time, or induction fails without a difference near the reset."""
    way: Way
    """One step; steps from any contents of the registers, or from a reset; or induction over registers of one name."""
    seconds: float
    counterexample: dict[str, int]
    """Where they differ: the inputs, in the step after a reset that is named with them (`go@2`); else empty."""


class _Miter(NamedTuple):
    """What is asked: is there a choice of the free terms for which some pair differs?"""

    free: Bits
    differs: list[Any]


def prove(first: Circuit, second: Circuit, seconds: float = 600.0) -> Proof:
    """Ask a solver whether two circuits say the same at all inputs.

    Circuits without registers are compared in one step. Those that answer after a latency are followed, each through
    its own, from any contents of their registers, while the inputs stay; where these matter, from a reset. Other
    circuits must have registers of the same names and widths, and are compared by induction: after a reset both hold
    the same, and from the same contents both say the same and go on to the same. Where that fails they are followed
    from the reset for eight steps.

    Parameters
    ----------
    seconds : float
        When the solver gives up.

    Raises
    ------
    InputError
        The circuits have other inputs, outputs or registers, so that there is nothing to compare.
    WorkbenchError
        No solver is installed.

    Examples
    --------
    >>> from workbench.circuits import circuit_of
    >>> from workbench.policies.probes import ExactRun, PrefixSuffixTree
    >>> prove(circuit_of(ExactRun(), 6), circuit_of(PrefixSuffixTree(), 6)).verdict
    'equal'
    """
    _check(first, second)
    began, using = time.monotonic(), solver()
    way = _way(first, second)
    if way == "inductive":
        verdict, result = _inductive(using, first, second, seconds)
    else:
        verdict, result = _solve(using, _unrolled(using, first, second), seconds)
    if verdict == "different" and way == "unrolled":
        way = "from reset"
        verdict, result = _solve(using, _unrolled(using, first, second, from_reset=True), seconds)
    return Proof(verdict, way, round(time.monotonic() - began, 2), result)


def _inductive(using: Solver, first: Circuit, second: Circuit, seconds: float) -> tuple[Any, dict[str, int]]:
    """Try induction, then look for a difference near the reset; contents that never occur prove nothing."""
    verdict, _ = _solve(using, _induction(using, first, second), seconds)
    if verdict != "different":
        return verdict, {}
    verdict, result = _solve(using, _from_reset(using, first, second), seconds)
    return ("different", result) if verdict == "different" else ("undecided", {})


def _check(first: Circuit, second: Circuit) -> None:
    """Refuse circuits that cannot be compared."""
    shared = [{name: w.size for name, w in one.ports.items() if name != one.started_by} for one in (first, second)]
    if shared[0] != shared[1] or set(first.outputs) != set(second.outputs):
        reply = " and ".join(
            f"{one.name}({', '.join(one.ports)}) -> {', '.join(one.outputs)}" for one in (first, second)
        )
        raise InputError(f"{reply} cannot be compared: their inputs or outputs are not the same.")


def _way(first: Circuit, second: Circuit) -> Way:
    if not first.registers and not second.registers:
        return "combinational"
    if all(one.latency or not one.registers for one in (first, second)):
        return "unrolled"
    widths = [{name: one.wires.size for name, one in circuit.registers.items()} for circuit in (first, second)]
    if widths[0] != widths[1]:
        raise InputError(f"{first.name} and {second.name} cannot be compared by induction: their registers differ.")
    return "inductive"


def _unrolled(using: Solver, first: Circuit, second: Circuit, from_reset: bool = False) -> _Miter:
    """Ask for inputs that stay, and make the outputs differ after each one's latency."""
    free = _inputs(using, first, (first.started_by,))
    held = [
        _reset(using, circuit) if from_reset else _contents(using, circuit, f"{which}_")
        for which, circuit in enumerate((first, second))
    ]
    reply = [_followed(using, circuit, free, contents) for circuit, contents in zip((first, second), held)]
    return _Miter(free, _differing(using, *reply))


def _followed(using: Solver, circuit: Circuit, inputs: Bits, contents: Bits) -> Bits:
    """Return the outputs after as many steps as the latency."""
    outputs: Bits = {}
    for now in range(circuit.latency + 1):
        begins = {circuit.started_by: using.number(int(now == 0), 1)} if circuit.started_by else {}
        outputs, contents = step(using, circuit, {**inputs, **begins}, contents)
    return outputs


def _induction(using: Solver, first: Circuit, second: Circuit) -> _Miter:
    """Ask for one step that differs, from the same contents, and for registers that a reset leaves different."""
    inputs, contents = _inputs(using, first), _contents(using, first, "")
    outputs, after = zip(*(step(using, circuit, inputs, contents) for circuit in (first, second)), strict=True)
    pairs = (outputs, after, [_reset(using, circuit) for circuit in (first, second)])
    return _Miter({}, [term for pair in pairs for term in _differing(using, *pair)])


def _from_reset(using: Solver, first: Circuit, second: Circuit) -> _Miter:
    """Ask for inputs of some steps after a reset that make the outputs differ."""
    held, free, differs = [_reset(using, circuit) for circuit in (first, second)], dict[str, list[Any]](), list[Any]()
    for now in range(FOLLOWED):
        inputs = {name: using.bits(f"{name}@{now}", w.size) for name, w in first.ports.items()}
        steps = [step(using, circuit, inputs, contents) for circuit, contents in zip((first, second), held)]
        outputs, held = [reply for reply, _ in steps], [after for _, after in steps]
        free |= {f"{name}@{now}": bits for name, bits in inputs.items()}
        differs += _differing(using, *outputs)
    return _Miter(free, differs)


def _reset(using: Solver, circuit: Circuit) -> Bits:
    return {name: using.number(one.reset, one.wires.size) for name, one in circuit.registers.items()}


def _inputs(using: Solver, circuit: Circuit, without: tuple[str, ...] = ()) -> Bits:
    return {name: using.bits(name, w.size) for name, w in circuit.ports.items() if name not in without}


def _contents(using: Solver, circuit: Circuit, mark: str) -> Bits:
    return {name: using.bits(mark + name, one.wires.size) for name, one in circuit.registers.items()}


def _differing(using: Solver, first: Bits, second: Bits) -> list[Any]:
    """Return a term a pair of bits that may differ; a number that is shorter has zeros above."""
    pairs = []
    for name, one in first.items():
        width = max(len(one), len(second[name]))
        padded = [bits + using.number(0, width - len(bits)) for bits in (one, second[name])]
        pairs += list(zip(*padded, strict=True))
    return [using.manager.mk_term(using.module.Kind.XOR, list(pair)) for pair in pairs]


def _solve(using: Solver, miter: _Miter, seconds: float) -> tuple[Any, dict[str, int]]:
    module = using.module
    options = module.Options()
    options.set(module.Option.PRODUCE_MODELS, True)
    options.set(module.Option.TIME_LIMIT_PER, max(int(seconds * 1000), 1))
    question = module.Bitwuzla(using.manager, options)
    question.assert_formula(using.any_of(miter.differs))
    reply = question.check_sat()
    if reply == module.Result.UNSAT:
        return "equal", {}
    return ("undecided", {}) if reply != module.Result.SAT else ("different", _model(question, miter.free))


def _model(question: Any, free: Bits) -> dict[str, int]:
    """Return the numbers that make the circuits differ."""
    return {
        name: sum(bool(question.get_value(bit).value()) << j for j, bit in enumerate(bits))
        for name, bits in free.items()
    }


def answers(circuits: Sequence[Circuit], inputs: Mapping[str, int]) -> dict[str, list[int]]:
    """Return the outputs in which circuits differ from a reset on, with what each says; nothing where none does.

    Parameters
    ----------
    circuits : sequence of Circuit
    inputs : mapping
        A counterexample of `prove`, whose inputs stay; of one that names steps (`go@2`) nothing is returned.

    Examples
    --------
    >>> from workbench.circuits import circuit_of
    >>> from workbench.policies.probes import ExactRun, GroupedRun
    >>> pair = [circuit_of(ExactRun(), 8), circuit_of(GroupedRun(groups=2), 8)]
    >>> answers(pair, {"state": 0b00011110})
    {'report': [4, 0]}
    """
    if not inputs or any("@" in name for name in inputs):
        return {}
    each = [_outputs(circuit, inputs) for circuit in circuits]
    return {name: [one[name] for one in each] for name in each[0] if len({one[name] for one in each}) > 1}


def _outputs(circuit: Circuit, inputs: Mapping[str, int]) -> dict[str, int]:
    running = Simulator(circuit)
    for now in range(circuit.latency + 1):
        begins = {circuit.started_by: int(now == 0)} if circuit.started_by else {}
        outputs = running.step({name: [value] for name, value in {**inputs, **begins}.items()})
    return {name: values[0] for name, values in outputs.items()}


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
    """Return the outputs, and what the registers hold next: a circuit as terms of a solver."""
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
