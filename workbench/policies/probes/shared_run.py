"""The time-multiplexed shared probe: one probe a unit looks at one or several resources a period (spec 3, Em. 7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.policies.arguments import listed, wholes
from workbench.policies.placement.free_map import MOST_SEGMENTS, Bits, as_bits
from workbench.policies.probes.exact_probes import longest_free_run
from workbench.policies.probes.gate_list import GateList
from workbench.policies.probes.question import Probe, ProbeView, Schedule
from workbench.policies.probes.shared_gates import SharedTrace, check_together, given, pack, trace
from workbench.policies.probes.shared_netlist import SharedCost, shared_cost
from workbench.policies.probes.shift_probe import ExactRun
from workbench.structures.bitmaps import packed


class SharedRun(Probe):
    """Report the longest run of every resource of a period, exactly; resources of other periods keep their last report.

    A round has periods; each resource is looked at in one of them, side by side with the others of that period in one
    word. Resources are packed first-fit decreasing unless `periods` says otherwise; the earlier one of equals chooses
    first. A report is a length, so there are no ties to break.

    A report is good until the resource's next period. `stale` says what it counts for once an allocation has taken
    from the resource: `keep` may promise what is gone, which the allocation then finds out; `forget` promises nothing.

    The levers from `direction` on choose between forms of the same circuit. They change no report but with the padding
    of the document, `padding="occupied"`, which is wrong (E16): with `encoding="free0"` and `decode="lut"` a resource
    narrower than the probe then counts as wholly free. The encoding is that of the bits in `longest`, `longest_each`
    and `trace`, which follows every wire.

    References
    ----------
    spec 3, R51-R59 (Em. 7), E16, E18; V17-V24.

    Examples
    --------
    >>> SharedRun(width=128).longest_each(["0" * 60 + "1111", "111" + "0" * 45])
    [4, 3]
    >>> SharedRun().schedule([128, 64, 48]).period.tolist()
    [0, 1, 1]
    """

    width: int = lever(
        128, least=2, most=4096, unit="blocks", description="how many blocks the probe looks at in a period"
    )
    periods: tuple[int, ...] = lever(
        (), least=0, most=61, description="the period of each resource, from 0; empty = packed first-fit decreasing"
    )
    cycles_a_period: int = lever(1, least=1, most=1024, unit="cycles", description="how long a period lasts")
    stale: Literal["keep", "forget"] = lever(
        "keep",
        description="what an old report counts for once an allocation took from the resource: itself, or nothing",
    )
    alone: Probe = lever(
        Probe.read(ExactRun), description="the probe that this one is used as in a period with one resource"
    )
    direction: Literal["right", "left"] = lever(
        "right", description="where the word is shifted to; right is toward bit 0"
    )
    encoding: Literal["free1", "free0"] = lever("free1", description="whether a 1 in the state is free or occupied")
    decode: Literal["lut", "scan"] = lever("lut", description="how the longest run is read: from a table, or by a scan")
    padding: Literal["zero", "occupied"] = lever(
        "zero", description="what fills a sequence up to the width of the table"
    )
    masks: Literal["every_shift", "first_crossing"] = lever(
        "every_shift",
        description="whether all masks are built, or only where a bit comes over a border for the first time",
    )

    @staticmethod
    def answer(see: ProbeView) -> int:
        return longest_free_run(see.free)

    @staticmethod
    def padded_with_ones(see: ProbeView) -> int:
        return see.blocks if see.blocks < see.levers.width else longest_free_run(see.free)

    def function(self) -> Callable[..., int]:
        """Return the answer, or what a table reports of a sequence that ones fill up to its width (E16)."""
        return type(self).answer if self.never_more() else type(self).padded_with_ones

    def check(self) -> None:
        """Refuse a shared probe within: what is used alone looks at its resource in every round."""
        if self.alone.schedule([self.width]) is not None:
            raise wrong_value(
                "", "shared_run.alone", "must be a probe of one resource", self.alone.short(), "exact_run"
            )

    def check_blocks(self, blocks: int, path: str = "", where: str = "", resource: str = "") -> None:
        """Refuse a resource that is wider than the probe (R51)."""
        if blocks > self.width:
            expected = f"must be at least the {blocks} blocks of {resource or 'a resource'}"
            raise wrong_value(where, f"{path or self.name}.width", expected, self.width, blocks)

    def schedule(self, blocks: Sequence[int]) -> Schedule:
        """Return the rounds in which each resource is looked at.

        Raises
        ------
        InputError
            A resource or a period is wider than the probe, `periods` names another number of resources or leaves a
            period empty, or a resource has a period for itself and `alone` cannot be built for it or takes longer.
        """
        blocks = wholes("blocks", blocks, 1, MOST_SEGMENTS)
        for size in blocks:
            self.check_blocks(size)
        period = given(self.periods, blocks, self.width) if self.periods else pack(blocks, self.width)
        for size, together in zip(blocks, np.bincount(period)[period]):
            if together == 1:
                self._check_alone(size)
        return Schedule(period, int(period.max(initial=0)) + 1, self.cycles_a_period, self.stale == "forget")

    def serving(self, blocks: Sequence[int]) -> tuple[Probe, ...]:
        """Return the probe that reports each resource: `alone` for one that has a period for itself (R55).

        >>> from workbench.policies.probes import GroupedRun
        >>> [probe.name for probe in SharedRun(alone=GroupedRun(groups=32)).serving([128, 64, 48])]
        ['grouped_run', 'shared_run', 'shared_run']
        """
        period = self.schedule(blocks).period
        return tuple(self.alone if together == 1 else self for together in np.bincount(period)[period])

    def of_module(self) -> Probe:
        """Return the probe that this one is used as alone: a module's own memory is not shared out in periods."""
        return self.alone

    def longest_each(self, free: Sequence[Bits]) -> list[int]:
        """Return the longest run of several resources, all looked at in one period.

        Parameters
        ----------
        free : sequence of str or bool arrays
            A free map a resource, block 0 first; `1` is a free block, in the encoding `free0` an occupied one.

        Raises
        ------
        InputError
            There is no free map, one cannot be read, or all of them together are wider than the probe.

        Examples
        --------
        >>> SharedRun(width=16, direction="left").longest_each(["0111", "1100_0111"])
        [3, 3]
        """
        states = self._states(free)
        if len(states) == 1:
            return [self.alone.ask(packed(states[0]), len(states[0]))]
        if not self.never_more():
            return list(self.trace(free).looked_up)
        return [int(longest_free_run(packed(state))) for state in states]

    def trace(self, free: Sequence[Bits]) -> SharedTrace:
        """Return every wire of one period; parameters and errors as in `longest_each`."""
        forms = (self.direction, self.encoding, self.masks, self.padding)
        return trace(self._states(free), self.width, *forms)

    def gate_list(self, blocks: int) -> GateList | None:
        """Return the part of the probe that a resource uses, the whole is in `sharing_cost`; None with the wrong
        padding."""
        self.check_blocks(blocks)
        if not self.never_more():
            return None
        forms = {name: getattr(self, name) for name in ("direction", "encoding", "decode")}
        return Probe.read({ExactRun.name: forms}).gate_list(blocks)

    def sharing_cost(self, blocks: Sequence[int]) -> SharedCost:
        """Return the gates of this probe and of those that it replaces, for the resources of a unit.

        >>> cost = SharedRun().sharing_cost([128, 64, 48])
        >>> round(100 * cost.saved, 1), round(100 * cost.saved_with_masks, 1)
        (27.9, -8.4)
        """
        if not len(listed("blocks", blocks)):
            raise wrong_value("", "blocks", "must name at least one resource", blocks)
        period = self.schedule(blocks).period.tolist()
        return shared_cost(period, list(blocks), self.width, self.masks)

    def never_more(self) -> bool:
        """Return False with the wrong padding, where that shows."""
        return (self.encoding, self.decode, self.padding) != ("free0", "lut", "occupied")

    def exact(self, blocks: int) -> bool:
        """Return False with the wrong padding, where there is any."""
        return self.never_more() or blocks == self.width

    def _states(self, free: Sequence[Bits]) -> list[np.ndarray]:
        """Return the free maps as booleans, True = free."""
        maps = listed("free", free, "must be a list of free maps")
        states = [as_bits(one) != (self.encoding == "free0") for one in maps]
        check_together([len(state) for state in states], self.width)
        return states

    def _check_alone(self, blocks: int) -> None:
        self.alone.check_blocks(blocks, "shared_run.alone")
        cycles = self.alone.round_cycles([blocks])
        if cycles > self.cycles_a_period:
            expected = f"must be at least the {cycles} that {self.alone.name} takes for {blocks} blocks"
            raise wrong_value("", "shared_run.cycles_a_period", expected, self.cycles_a_period, cycles)
