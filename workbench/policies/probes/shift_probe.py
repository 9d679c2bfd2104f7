"""What the probes by shifting share: the forms of the circuit, its trace and its gates (spec 3, Em. 4-6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from workbench.compiled import creates_arrays
from workbench.levers import lever
from workbench.policies.placement.free_map_text import Bits
from workbench.policies.probes.circuit.vectors import report
from workbench.policies.probes.question import Probe
from workbench.policies.probes.view import ProbeView

if TYPE_CHECKING:
    from workbench.policies.probes.circuit.gate_list import GateList
    from workbench.policies.probes.circuit.trace import ProbeTrace


class ShiftProbe(Probe, abstract=True):
    """A probe that ANDs the state with shifted copies of itself; the forms below never change what it reports.

    At the defaults of `direction`, `encoding` and `decode` the report is computed on whole words; any other choice runs
    the readable reference of `circuit/`, in a time that grows with the square of the number of blocks. The encoding is
    that of the bits in `longest`, in `trace` and in the reference. `timing` and `chain` decide what the hardware costs
    and, for `timing`, how many cycles a report takes.
    """

    direction: Literal["right", "left"] = lever("right", description="which way the state is shifted; right is upwards")
    encoding: Literal["free1", "free0"] = lever("free1", description="whether a 1 in the state is free or occupied")
    decode: Literal["lut", "scan"] = lever("lut", description="how the longest run is read: from a table, or by a scan")
    chain: Literal["running", "doubling"] = lever(
        "running", description="how ANDs are formed: one shift after another, or each length from one of half of it"
    )
    timing: str
    """How many cycles a report takes; the forms that there are differ between the probes."""

    @staticmethod
    @creates_arrays
    def circuit(see: ProbeView) -> int:
        return report(see.free, see.blocks, see.levers)

    def function(self) -> Callable[..., int]:
        """Return the word-parallel answer, or the circuit where a lever asks for one of its forms."""
        forms = ("direction", "encoding", "decode")
        plain = all(getattr(self, name) == self.levers[name].default for name in forms)
        return super().function() if plain else type(self).circuit

    def parameters(self) -> np.ndarray:
        """Return direction, encoding, decoding, groups (0 = none), then the sampled lengths (none = all): float64[4 +
        W]."""
        forms = [self.levers[name].number(getattr(self, name)) for name in ("direction", "encoding", "decode")]
        return np.array([*forms, self._groups(), *self._sampled()], np.float64)

    def trace(self, free: Bits) -> ProbeTrace:
        """Return every vector of the circuit for one state: F0, S, SA and SAR.

        >>> from workbench.policies.probes import ExactRun
        >>> wires = ExactRun().trace("0110_1110")
        >>> wires.sa[:3], wires.sar, wires.longest
        (('01101110', '00100110', '00000010'), '11100000', 3)
        """
        from workbench.policies.probes.circuit.trace import trace

        return trace(*self._words(free), self.parameters())

    def gate_list(self, blocks: int) -> GateList:
        """Return the circuit for a resource as gates."""
        from workbench.policies.probes.circuit.shift_and import Form, build

        self.check_blocks(blocks)
        form = Form(self.direction, self.encoding, self.decode, self.timing, self.chain)
        return build(blocks, self._told_apart(blocks), form, self._groups())

    def round_cycles(self, blocks: Sequence[int] = ()) -> int:
        """Return 1 in one cycle, else 3."""
        return 1 if self.timing == "comb_1cycle" else 3

    def _told_apart(self, blocks: int) -> Sequence[int]:
        """Return the run lengths that the circuit for a resource tells apart, in groups where there are any."""
        return range(1, blocks + 1)

    def _groups(self) -> int:
        return 0

    def _sampled(self) -> Sequence[int]:
        return ()
