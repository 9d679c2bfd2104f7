"""Netlists of circuits: gates whose inputs, outputs, signals and registers have names; arithmetic on vectors of wires.

Registers are stepped. Numbers are vectors with the lowest bit first: sums, comparisons, choices.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.gates import ONE, XOR, ZERO, Netlist, constant, exceeds, widened

RESERVED = frozenset(
    """
    clk rst always and assign automatic begin bit buf case cell config default do edge else end endcase endfunction
    endmodule endtask enum event final for force forever fork function if initial inout input int integer join large
    local logic loop medium module nand negedge new nor not null or output parameter posedge priority pull0 pull1
    realtime reg release repeat return scalared signed small static strong0 strong1 struct supply0 supply1 table
    task this time tran type unique unsigned use var vectored void wait wand weak0 weak1 while wire with wor xnor
    xor
    """.split()  # noqa: SIM905
)
"""Names that a signal cannot have: of the clock, the reset, and the words of Verilog and SystemVerilog."""


class Register(NamedTuple):
    """Flip-flops of one name: what they hold, what they hold after a reset, and in the next step."""

    wires: np.ndarray
    reset: int
    following: np.ndarray
    """int32[bits], the wires of the next state."""


class Circuit(Netlist):
    """A gate list with names and registers; vectors are arrays of wires, the lowest bit first.

    Everything that builds on a `Netlist` builds on a circuit: `and_`, `or_`, `not_`, `all_of`, `any_of`, `select`,
    `held`, and the numbers of `workbench.circuits.netlist`.

    Parameters
    ----------
    name : str
        The name of the module; letters, digits and `_`.
    source : str
        What the circuit is made after, for the header.
    levers : mapping
        The levers of its policy, for the header.
    parameters : mapping of int
        What its size is, written as localparams.
    latency : int
        Steps from the inputs until the outputs say what belongs to them; 0 without registers between.
    started_by : str
        The input that is 1 in the first of these steps and 0 in the others; none if empty.

    Examples
    --------
    >>> counter = Circuit("counter", parameters={"WIDTH": 2})
    >>> go = counter.input("go")
    >>> count = counter.register("count", 2)
    >>> low = counter.xor(count[:1], go)
    >>> high = counter.xor(count[1:], counter.and_(count[:1], go))
    >>> counter.follow("count", np.concatenate([low, high]))
    >>> counter.output("value", count)
    >>> counter.flip_flops
    2
    """

    def __init__(
        self,
        name: str,
        source: str = "",
        levers: Mapping[str, object] | None = None,
        parameters: Mapping[str, int] | None = None,
        latency: int = 0,
        started_by: str = "",
    ) -> None:
        super().__init__(0)
        self.name, self.source, self.latency, self.started_by = name, source, latency, started_by
        self.levers, self.parameters = dict(levers or {}), dict(parameters or {})
        self.ports: dict[str, np.ndarray] = {}
        """The wires of each input."""
        self.outputs: dict[str, np.ndarray] = {}
        self.signals: dict[str, np.ndarray] = {}
        """Wires between that a reader should know by name."""
        self.registers: dict[str, Register] = {}

    def input(self, name: str, bits: int = 1) -> np.ndarray:
        """Add an input of so many bits, and return its wires."""
        self._fresh(name)
        self.ports[name] = self._new(bits, 0)
        self.inputs = np.concatenate([self.inputs, self.ports[name]])
        return self.ports[name]

    def output(self, name: str, wires: Any) -> None:
        """Name wires as an output; constants are allowed."""
        self._fresh(name)
        self.outputs[name] = np.atleast_1d(np.asarray(wires, np.int32))

    def signal(self, name: str, wires: Any) -> np.ndarray:
        """Name wires for a reader of the Verilog, and return them; what is constant or has a name keeps its own."""
        self._fresh(name)
        self.signals[name] = np.atleast_1d(np.asarray(wires, np.int32))
        return self.signals[name]

    def register(self, name: str, bits: int = 1, reset: int = 0) -> np.ndarray:
        """Add flip-flops of so many bits and return their wires; `follow` says what they hold in the next step."""
        self._fresh(name)
        wires = self._new(bits, 0)
        self.registers[name] = Register(wires, reset, wires)
        return wires

    def follow(self, name: str, wires: Any) -> None:
        """Say what a register holds in the next step."""
        before = self.registers[name]
        following = np.broadcast_to(np.asarray(wires, np.int32), before.wires.shape).copy()
        self.registers[name] = before._replace(following=following)

    def held(self, wires: Any) -> np.ndarray:
        """Return a vector behind registers that begin with zeros; constants need none."""
        wires = np.asarray(wires, np.int32).copy()
        real = wires > ZERO + 1
        if real.any():
            name = f"held_{len(self.registers)}"
            following = wires[real]
            wires[real] = self.register(name, int(real.sum()))
            self.follow(name, following)
        return wires

    def xor(self, a: Any, b: Any) -> np.ndarray:
        """Return the exclusive OR of two vectors."""
        a, b = np.broadcast_arrays(np.asarray(a, np.int32), np.asarray(b, np.int32))
        made = np.where(b == ZERO, a, b)
        made[a == b] = ZERO
        for fixed, other in ((a, b), (b, a)):
            inverted = (fixed == 1) & (other > 1)
            made[inverted] = self.not_(other[inverted])
        real = (a > 1) & (b > 1) & (a != b)
        made[real] = self._made(XOR, a[real], b[real])
        return made

    def table(self, inputs: Any, numbers: list[int], bits: int) -> np.ndarray:
        """Return a table read by a thermometer code as gates: the last 1 of the code selects its number."""
        code = np.asarray(inputs, np.int32)
        last = self.and_(code, self.not_(np.append(code[1:], np.int32(ZERO))))
        zero = [int(bool(numbers[0] >> j & 1)) for j in range(bits)]
        if any(zero):
            last, numbers = np.concatenate([self.not_(code[:1]), last]), list(numbers)
        else:
            numbers = list(numbers[1:])
        chosen = [last[[n >> j & 1 == 1 for n in numbers]] for j in range(bits)]
        return np.concatenate([self.any_of(ones) for ones in chosen])

    @property
    def gates(self) -> int:
        """Return the gates as they are written, inverters included."""
        return sum(row.out.size for row in self.rows)

    @property
    def levels(self) -> int:
        """Return the gates on the longest way between registers, inputs and outputs, as they are written."""
        return max(self.depths)

    def digest(self) -> str:
        """Return a digest of what the circuit is: its gates, ports and registers, not its header."""
        held = hashlib.sha256(repr([self.name, self.latency, self.started_by]).encode())
        heads = dict[tuple[Any, int], bytes]()
        for kind, _, _, first, second, out in self.rows:
            named = (kind, out.size)
            head = heads.get(named) or heads.setdefault(named, repr(named).encode())
            held.update(head + first.tobytes() + second.tobytes() + out.tobytes() if named[1] else head)
        for name, wires in (*self.ports.items(), *self.outputs.items()):
            held.update(name.encode() + wires.tobytes())
        for name, one in self.registers.items():
            held.update(f"{name} {one.reset}".encode() + one.wires.tobytes() + one.following.tobytes())
        return held.hexdigest()

    @property
    def wires(self) -> int:
        """Return the number of wires, the two constants included."""
        return self._wires

    @property
    def flip_flops(self) -> int:
        """Return the bits of all registers."""
        return sum(one.wires.size for one in self.registers.values())

    def named(self) -> dict[str, np.ndarray]:
        """Return the wires of every name that reads as a vector: inputs, registers, signals, outputs."""
        registers = {name: one.wires for name, one in self.registers.items()}
        return {**self.ports, **registers, **self.signals, **self.outputs}

    def _fresh(self, name: str) -> None:
        if not name.isidentifier() or name in self.named() or name in RESERVED:
            raise InputError(
                f"circuit {self.name}: {name!r} cannot name another signal; it is taken, a word of Verilog or no "
                "identifier."
            )


def circuit_after(policy: Any, latency: int = 0, **parameters: int) -> Circuit:
    """Return an empty circuit with the name and the levers of a policy, and for its source the policy's first sentence
    and the first of its references."""
    text = policy.__doc__ or policy.name
    lines = [line.strip(" -") for line in text.split("References")[-1].splitlines() if line.strip(" -")]
    source = f"{text.split('.')[0].strip()}. After {lines[0] if lines else policy.name}"
    levers = {name: getattr(policy, name) for name in policy.levers}
    return Circuit(policy.name, source, levers, parameters, latency)


def added(net: Circuit, a: Any, b: Any, bits: int, carry: Any = ZERO) -> np.ndarray:
    """Add a + b and a carry in so many bits, by a carry that ripples from the lowest one."""
    moved, total = np.asarray(carry, np.int32).reshape(1), []
    for one, other in zip(widened(a, bits)[:, None], widened(b, bits)[:, None], strict=True):
        half = net.xor(one, other)
        total.append(net.xor(half, moved))
        moved = net.or_(net.and_(one, other), net.and_(half, moved))
    return np.concatenate(total) if total else np.zeros(0, np.int32)


def subtracted(net: Circuit, a: Any, b: Any, bits: int) -> np.ndarray:
    """Subtract a - b in so many bits; below zero it wraps around."""
    return added(net, a, net.not_(widened(b, bits)), bits, ONE)


def at_least(net: Circuit, a: Any, b: Any) -> np.ndarray:
    """Compare a >= b of unsigned numbers: one wire."""
    return net.not_(exceeds(net, b, a))


def equal(net: Circuit, a: Any, b: Any) -> np.ndarray:
    """Compare a = b: one wire."""
    width = max(len(a), len(b))
    return net.all_of(net.not_(net.xor(widened(a, width), widened(b, width))))


def chosen(net: Circuit, which: Any, numbers: Sequence[Any]) -> np.ndarray:
    """Return the number whose wire of a one-hot vector is 1, 0 where none is."""
    bits = max(map(len, numbers))
    passed = [net.and_(wire, widened(number, bits)) for wire, number in zip(which, numbers, strict=True)]
    return np.concatenate([net.any_of(column) for column in np.stack(passed).T])


def first_one(net: Circuit, wires: Any) -> np.ndarray:
    """Return the vector with only its lowest 1 kept; the prefix is formed in a logarithmic number of levels."""
    before = from_first_one(net, wires)
    return net.and_(wires, net.not_(np.concatenate([[np.int32(ZERO)], before[:-1]])))


def from_first_one(net: Circuit, wires: Any) -> np.ndarray:
    """Return ones from the lowest 1 of a vector on."""
    before, step = np.asarray(wires, np.int32), 1
    while step < before.size:
        before = np.concatenate([before[:step], net.or_(before[step:], before[:-step])])
        step *= 2
    return before


def binary(net: Circuit, wires: Any) -> np.ndarray:
    """Return the position of the 1 of a one-hot vector as a number, 0 where there is none."""
    hot = np.asarray(wires, np.int32)
    places = np.arange(hot.size)
    bits = max((hot.size - 1).bit_length(), 1)
    return np.concatenate([net.any_of(hot[places >> j & 1 == 1]) for j in range(bits)])


def one_hot(net: Circuit, number: Any, size: int) -> np.ndarray:
    """Return so many wires of which the one at the number's position is 1."""
    number = np.asarray(number, np.int32)
    lines = np.array([ONE], np.int32)
    for bit in number[::-1, None]:
        off, on = net.and_(lines, net.not_(bit)), net.and_(lines, bit)
        lines = np.stack([off, on], 1).reshape(-1)
    return np.concatenate([lines, np.full(max(size - lines.size, 0), ZERO, np.int32)])[:size]


def shifted_up(net: Circuit, wires: Any, by: Any) -> np.ndarray:
    """Return a vector moved towards higher bits by a number, zeros coming in: a level of selectors a bit."""
    moved = np.asarray(wires, np.int32)
    for j, bit in enumerate(np.asarray(by, np.int32)):
        step = min(1 << j, moved.size)
        further = np.concatenate([np.full(step, ZERO, np.int32), moved[: moved.size - step]])
        moved = net.select(np.array([bit]), further, moved)
    return moved


def ones(net: Circuit, wires: Any) -> np.ndarray:
    """Count the ones of a vector, by a tree of adders."""
    numbers = [np.array([wire], np.int32) for wire in np.asarray(wires, np.int32)]
    while len(numbers) > 1:
        pairs = [(numbers[k], numbers[k + 1]) for k in range(0, len(numbers) - 1, 2)]
        rest = numbers[2 * len(pairs) :]
        numbers = [added(net, a, b, max(len(a), len(b)) + 1) for a, b in pairs] + rest
    return numbers[0] if numbers else np.array([ZERO], np.int32)


def larger_of(net: Circuit, numbers: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest number and the position of the first of those, by a tree of comparators."""
    bits, places = max(map(len, numbers)), max((len(numbers) - 1).bit_length(), 1)
    left = [(widened(np.asarray(n, np.int32), bits), constant(k, places)) for k, n in enumerate(numbers)]
    while len(left) > 1:
        joined = [_better(net, left[k], left[k + 1]) for k in range(0, len(left) - 1, 2)]
        left = joined + left[2 * len(joined) :]
    return left[0]


def output_largest(net: Circuit, name: str, numbers: Sequence[Any], candidates: Any) -> None:
    """Name as outputs `any`, whether there is a candidate, and the place of the first with the largest number, else 0.

    The highest bit says who is one: whoever is none loses against all that are.
    """
    numbers = [np.append(number, wire) for number, wire in zip(numbers, candidates, strict=True)]
    best, place = larger_of(net, numbers)
    net.output("any", best[-1:])
    net.output(name, net.and_(best[-1:], place))


def prefix_sums(net: Circuit, numbers: Sequence[Any], bits: int) -> list[np.ndarray]:
    """Return the sum of all numbers before each one and of all, in a logarithmic number of adders one after another."""
    sums = [widened(np.asarray(n, np.int32), bits) for n in numbers]
    step = 1
    while step < len(sums):
        sums = [added(net, n, sums[k - step], bits) if k >= step else n for k, n in enumerate(sums)]
        step *= 2
    return [constant(0, bits), *sums]


def _better(net: Circuit, low: tuple[np.ndarray, np.ndarray], high: tuple[np.ndarray, np.ndarray]) -> Any:
    higher = exceeds(net, high[0], low[0])
    return net.select(higher, high[0], low[0]), net.select(higher, high[1], low[1])
