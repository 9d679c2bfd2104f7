"""The sampled probe: Embodiment 6."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from workbench.compiled import kernel
from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.policies.probes.circuit.vectors import LENGTHS
from workbench.policies.probes.run_lengths import (
    MOST_BLOCKS,
    powers_and_halfway,
    remaining,
    stepped,
    wrong_lengths,
)
from workbench.policies.probes.shift_probe import ShiftProbe
from workbench.policies.probes.view import ProbeView
from workbench.policies.probes.word_parallel import longest_free_run


@kernel
def largest_sampled(run: int, params: Any) -> int:
    """Return the largest of the sampled lengths among the parameters that is at most so long, 0 for none."""
    row = LENGTHS
    while row < params.size and params[row] <= run:
        row += 1
    return int(params[row - 1]) if row > LENGTHS else 0


class SampledRun(ShiftProbe):
    """Report the largest of some run lengths that the longest free run reaches; there are no ties to break.

    Run lengths, that is k + 1: dense for small demands and sparse for large ones, so that the under-report is a share
    of the demand. Lengths above the blocks of a resource are not built for it. What is excluded is taken out first, and
    of the rest those lengths are sampled that keep the step rule, from the shortest up.

    References
    ----------
    spec 3, R44-R49 (Em. 6), E13, E14; V16 for the default lengths.

    Examples
    --------
    >>> SampledRun(run_lengths=(1, 2, 3, 4, 6, 8, 12, 16)).longest("0111100111111100")
    6
    >>> SampledRun().lengths(128)
    (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
    >>> SampledRun().cost(128).and_gates
    1234
    >>> SampledRun(run_lengths=(2, 4, 8))
    Traceback (most recent call last):
    workbench.errors.InputError: sampled_run.run_lengths must begin with 1. Got (2, 4, 8). Nearest: (1, 2, 4, 8).
    """

    timing: Literal["comb_1cycle", "pipe_3cycle"] = lever(
        "comb_1cycle", description="shift, chain and reduction in one cycle, or in one cycle each"
    )
    chain: Literal["running", "doubling"] = lever(
        "doubling", description="how ANDs are formed: one shift after another, or each length from one of half of it"
    )
    run_lengths: tuple[int, ...] = lever(
        powers_and_halfway(MOST_BLOCKS),
        least=1,
        most=MOST_BLOCKS,
        unit="blocks",
        description="the run lengths that are told apart; from 1, in steps that never shrink",
    )
    exclude: tuple[int, ...] = lever(
        (), least=0, most=MOST_BLOCKS, description="lengths, or values of k, that are seldom asked for and left out"
    )
    exclude_on: Literal["size", "k"] = lever(
        "size", description="whether a length is excluded, or, literally, a k = length - 1"
    )

    @staticmethod
    def answer(see: ProbeView) -> int:
        return largest_sampled(longest_free_run(see.free), see.levers)

    def check(self) -> None:
        """Refuse lists without 1, out of order or with shrinking steps, and exclusions that take 1 away."""
        wrong = wrong_lengths(self.run_lengths)
        if wrong:
            nearest = stepped((1, *self.run_lengths))
            raise wrong_value("", f"{self.name}.run_lengths", wrong, self.run_lengths, nearest)
        if 1 not in remaining(self.run_lengths, self.exclude, self.exclude_on):
            kept = tuple(n for n in self.exclude if n != (1 if self.exclude_on == "size" else 0))
            raise wrong_value("", f"{self.name}.exclude", "must leave the run length 1", self.exclude, kept)

    def lengths(self, blocks: int) -> tuple[int, ...]:
        """Return the run lengths that are sampled in a resource of so many blocks."""
        return tuple(n for n in self._sampled() if n <= blocks)

    def exact(self, blocks: int) -> bool:
        """Return True only where every length is sampled."""
        return self.lengths(blocks) == tuple(range(1, blocks + 1))

    def _told_apart(self, blocks: int) -> Sequence[int]:
        return self.lengths(blocks)

    def _sampled(self) -> tuple[int, ...]:
        left = remaining(self.run_lengths, self.exclude, self.exclude_on)
        return stepped(left) if self.exclude else left
