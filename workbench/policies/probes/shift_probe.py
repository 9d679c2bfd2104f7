"""The probes by shifting: exact (Embodiment 4), grouped (5), sampled (6), and grouped and sampled (spec 3, R50).

They share the forms of one circuit, its trace and its gates. Groups must divide the blocks of a resource; the run
lengths that are sampled keep a step rule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from workbench.compiled import kernel
from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.policies.placement.free_map import Bits
from workbench.policies.probes.exact_probes import longest_free_run
from workbench.policies.probes.gate_list import GateList
from workbench.policies.probes.question import Probe, ProbeView
from workbench.policies.probes.shift_gates import Form, ProbeTrace, build, trace
from workbench.structures.bitmaps import NOWHERE, first_start, next_taken, unpacked

GROUPS, LENGTHS = 3, 4
"""Places in the parameters of a probe by shifting: the groups (0 = none), and from where the sampled lengths stand."""


class ShiftProbe(Probe, abstract=True):
    """A probe that ANDs the state with shifted copies of itself; the forms below never change what it reports.

    In every form the report is computed on whole words. The forms are those of the gates, which are counted, traced and
    held against the report; the encoding is that of the bits in `longest`, in `trace` and at the gates. `timing` also
    decides how many cycles a report takes.
    """

    direction: Literal["right", "left"] = lever("right", description="which way the state is shifted; right is upwards")
    encoding: Literal["free1", "free0"] = lever("free1", description="whether a 1 in the state is free or occupied")
    decode: Literal["lut", "scan"] = lever("lut", description="how the longest run is read: from a table, or by a scan")
    chain: Literal["running", "doubling"] = lever(
        "running", description="how ANDs are formed: one shift after another, or each length from one of half of it"
    )
    timing: str
    """How many cycles a report takes; the forms that there are differ between the probes."""

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
        words, blocks = self._words(free)
        state = unpacked(words, blocks) != (self.encoding == "free0")
        return trace(state, self._told_apart(blocks), self._form(), self._groups())

    def gate_list(self, blocks: int) -> GateList:
        """Return the circuit for a resource as gates."""
        self.check_blocks(blocks)
        return build(blocks, self._told_apart(blocks), self._form(), self._groups())

    def _form(self) -> Form:
        return Form(self.direction, self.encoding, self.decode, self.timing, self.chain)

    def check_blocks(self, blocks: int, path: str = "", where: str = "", resource: str = "") -> None:
        """Refuse a resource that the groups do not divide, where there are any."""
        self.check_each({resource: blocks}, path, where)

    def check_each(self, blocks: Mapping[str, int], path: str = "", where: str = "") -> None:
        """Refuse resources that the groups do not divide, with the nearest number that divides all of them."""
        for label, count in blocks.items() if self._groups() else ():
            check_groups(self._groups(), count, f"{path or self.name}.groups", label, where, tuple(blocks.values()))

    def round_cycles(self, blocks: Sequence[int] = ()) -> int:
        """Return 1 in one cycle, else 3."""
        return 1 if self.timing == "comb_1cycle" else 3

    def _told_apart(self, blocks: int) -> Sequence[int]:
        """Return the run lengths that the circuit for a resource tells apart, in groups where there are any."""
        return range(1, blocks + 1)

    def _groups(self) -> int:
        return getattr(self, "groups", 0)

    def _sampled(self) -> Sequence[int]:
        return ()


class ExactRun(ShiftProbe):
    """Report the longest run of free blocks; of equal runs it does not matter which, there are no ties to break.

    Every shift of the state is ANDed with those before: a 1 that is left after i + 1 of them is the end of a free run
    of i + 1 blocks. The circuit grows with the square of the number of blocks; `chain="doubling"` has as many gates in
    far fewer levels.

    References
    ----------
    spec 3, R30-R38 (Em. 4).

    Examples
    --------
    >>> ExactRun(direction="right", encoding="free1", decode="scan").longest("01101110")
    3
    >>> ExactRun(encoding="free0").longest("10010001")
    3
    >>> cost = ExactRun().cost(128)
    >>> cost.and_gates, cost.or_gates, cost.cycles
    (8128, 8128, 1)
    """

    timing: Literal["comb_1cycle", "pipe_3cycle"] = lever(
        "comb_1cycle", description="shift, chain and reduction in one cycle, or in one cycle each"
    )

    @staticmethod
    def answer(see: ProbeView) -> int:
        return longest_free_run(see.free)


class GroupedRun(ShiftProbe):
    """Report the longest run of wholly free groups of blocks, in blocks; there are no ties to break.

    The state is cut into equal groups, each of which counts as free if all of its blocks are, and the probe looks at
    groups alone. So it costs a fraction of the exact one and reports a multiple of the group size that is short of the
    longest run by up to 2 N/Z - 2 blocks: a demand just above a multiple is often refused where it would have fitted.

    References
    ----------
    spec 3, R39-R43 (Em. 5), E27.

    Examples
    --------
    >>> GroupedRun(groups=4).longest("0111100111111100")
    4
    >>> cost = GroupedRun(groups=32).cost(128)
    >>> cost.and_gates, cost.or_gates
    (592, 496)
    """

    timing: Literal["comb_1cycle", "pipe_3cycle", "pipe_3cycle_shared_hw"] = lever(
        "comb_1cycle",
        description="in one cycle, in three with hardware for each, or in three that use the same hardware",
    )
    groups: int = lever(
        32, least=1, most=2048, unit="groups", description="groups of a resource; must divide its blocks"
    )

    @staticmethod
    def answer(see: ProbeView) -> int:
        size = see.blocks // int(see.levers[GROUPS])
        return size * longest_run_of_groups(see.free, size)

    def exact(self, blocks: int) -> bool:
        """Return False: a run counts for the whole groups that it holds."""
        return blocks == 1

    def _told_apart(self, blocks: int) -> Sequence[int]:
        return range(1, self.groups + 1)


@kernel
def longest_run_of_groups(free: np.ndarray, size: int) -> int:
    """Return the most consecutive groups of `size` blocks that are wholly free; groups begin at multiples of their
    size."""
    most = 0
    start = first_start(free, size, 0)
    while start != NOWHERE:
        end = next_taken(free, start)
        most = max(most, end // size - (start + size - 1) // size)
        start = first_start(free, (most + 1) * size, end)
    return most


@kernel
def largest_sampled(run: int, params: Any) -> int:
    """Return the largest of the sampled lengths among the parameters that is at most so long, 0 for none."""
    row = LENGTHS
    while row < params.size and params[row] <= run:
        row += 1
    return int(params[row - 1]) if row > LENGTHS else 0


MOST_BLOCKS = 4096
"""Blocks of the largest resource."""


def powers_and_halfway(most: int) -> tuple[int, ...]:
    """Return 1, 2, 3, 4, 6, 8, 12, ...: the powers of two and the numbers halfway between them; the steps never shrink.

    >>> powers_and_halfway(128)
    (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
    """
    powers = [1 << k for k in range(most.bit_length())]
    return tuple(sorted(n for n in {*powers, *(3 * p // 2 for p in powers[1:])} if n <= most))


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


def stepped(lengths: Iterable[int]) -> tuple[int, ...]:
    """Return, from the shortest up, each length that makes no smaller step than the one before: legal run lengths
    (R47).

    >>> stepped([1, 4, 6, 8, 9, 10, 12, 14, 15, 16])
    (1, 4, 8, 12, 16)
    """
    kept: list[int] = []
    for length in sorted(set(lengths)):
        if len(kept) < 2 or length - kept[-1] >= kept[-1] - kept[-2]:
            kept.append(length)
    return tuple(kept)


def remaining(lengths: Iterable[int], exclude: Collection[int], exclude_on: Literal["size", "k"]) -> tuple[int, ...]:
    """Return the lengths that are left: without the excluded ones, or, read literally, without those of an excluded k
    (E13).

    >>> remaining(range(1, 17), primes(16), "size")
    (1, 4, 6, 8, 9, 10, 12, 14, 15, 16)
    >>> remaining(range(1, 17), primes(16), "k")
    (1, 2, 5, 7, 9, 10, 11, 13, 15, 16)
    """
    less = 1 if exclude_on == "k" else 0
    return tuple(n for n in lengths if n - less not in exclude)


def wrong_lengths(lengths: Sequence[int]) -> str:
    """Return the fault of a list of run lengths, in words that follow its name; empty for a legal one (E14, R47)."""
    if 1 not in lengths:
        return "must begin with 1"
    if list(lengths) != sorted(set(lengths)):
        return "must increase from 1"
    return (
        "" if stepped(lengths) == tuple(lengths) else "must not have a step smaller than the one before (spec 3, R47)"
    )


class GroupedSampledRun(SampledRun):
    """Report the largest of some numbers of consecutive free groups, in blocks; there are no ties to break.

    The state is cut into groups as `GroupedRun` does, and only some runs of groups are told apart as `SampledRun` does.
    The cheapest of the probes by shifting, and the least exact.

    References
    ----------
    spec 3, R50 (Em. 5 with Em. 6).

    Examples
    --------
    >>> probe = GroupedSampledRun(groups=8, run_lengths=(1, 2, 4, 8))
    >>> probe.longest("0011111111000000"), probe.longest("1111111100111111")
    (8, 8)
    >>> GroupedSampledRun(groups=32).cost(128).and_gates
    286
    """

    run_lengths: tuple[int, ...] = lever(
        powers_and_halfway(MOST_BLOCKS // 2),
        least=1,
        most=MOST_BLOCKS // 2,
        unit="groups",
        description="the runs of groups that are told apart; from 1, in steps that never shrink",
    )
    groups: int = lever(
        32, least=1, most=2048, unit="groups", description="groups of a resource; must divide its blocks"
    )

    @staticmethod
    def answer(see: ProbeView) -> int:
        size = see.blocks // int(see.levers[GROUPS])
        return size * largest_sampled(longest_run_of_groups(see.free, size), see.levers)

    def exact(self, blocks: int) -> bool:
        """Return False: a run counts for the whole groups that it holds."""
        return blocks == 1

    def _told_apart(self, blocks: int) -> Sequence[int]:
        return self.lengths(self.groups)


def check_groups(groups: int, blocks: int, name: str, resource: str, where: str, together: Sequence[int] = ()) -> None:
    """Refuse a number of groups that does not divide the blocks, or is not smaller (spec 3, Z in section 2).

    The nearest number also divides the blocks of all resources that are probed together with this one.

    >>> check_groups(33, 128, "policy.probe.groups", "vgpr", "")
    Traceback (most recent call last):
    workbench.errors.InputError: policy.probe.groups must divide vgpr (128 blocks). Got 33. Nearest: 32.
    """
    valid = dividing(blocks)
    if groups in valid:
        return
    common = [z for z in valid if all(z in dividing(others) for others in together)]
    nearest = min(common, key=lambda z: (abs(z - groups), z))
    what = f"{resource} ({blocks} blocks)" if resource else f"the {blocks} blocks"
    rule = "be smaller than" if blocks % groups == 0 else "divide"
    raise wrong_value(where, name, f"must {rule} {what}", groups, nearest)


def dividing(blocks: int) -> list[int]:
    """Return the numbers of groups of at least two blocks each; one group for a single block.

    >>> dividing(12), dividing(1)
    ([1, 2, 3, 4, 6], [1])
    """
    return [z for z in range(1, blocks // 2 + 1) if blocks % z == 0] or [1]


def primes(most: int) -> tuple[int, ...]:
    """Return the primes up to a number: the source document's example of what is seldom asked for (R48).

    >>> primes(16)
    (2, 3, 5, 7, 11, 13)
    """
    return tuple(n for n in range(2, most + 1) if all(n % d for d in range(2, int(n**0.5) + 1)))


def seldom(demands: Mapping[int, float], most: int, threshold: float) -> tuple[int, ...]:
    """Return the lengths from 2 to a number whose share of all demands is at most a threshold (R48).

    >>> seldom({4: 90, 6: 9, 16: 1}, most=8, threshold=0.05)
    (2, 3, 5, 7, 8)
    """
    total = sum(demands.values()) or 1
    return tuple(n for n in range(2, most + 1) if demands.get(n, 0) / total <= threshold)
