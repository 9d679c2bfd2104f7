"""The time-multiplexed shared probe: one probe a unit looks at one or several resources a period (spec 3, Em. 7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from workbench.compiled import creates_arrays
from workbench.errors import InputError, wrong_value
from workbench.levers import lever
from workbench.policies.placement.circuit.masks import bitmap
from workbench.policies.placement.free_map_text import Bits, as_bits
from workbench.policies.probes.question import Probe, Schedule
from workbench.policies.probes.shared.chain import prefixes
from workbench.policies.probes.shared.cost import SharedCost, shared_cost
from workbench.policies.probes.shared.decode import looked_up, padded, scanned
from workbench.policies.probes.shared.layout import loaded
from workbench.policies.probes.shared.masks import EVERY_SHIFT
from workbench.policies.probes.shared.packing import loads, pack
from workbench.policies.probes.shared.reduction import sequence
from workbench.policies.probes.shared.trace import SharedTrace, check_together, trace
from workbench.structures.free_map import longest_run, packed

WIDTH, DIRECTION, ENCODING, DECODE, PADDING = 0, 3, 4, 5, 6
MOST_PERIODS = 62


class SharedRun(Probe):
    """Report the longest run of every resource of the period, exactly; the other resources keep what they last had.

    A round has periods; each resource is looked at in one of them, together with the others of that period, side by
    side in one word. Resources are packed first-fit decreasing unless `periods` says otherwise; of equal resources the
    earlier one chooses first. A report that is a length has no ties.

    A report is good until the resource's next period. `stale` says what it counts for after an allocation has taken of
    the resource: `keep` may promise what is gone, which the allocation then finds out; `forget` promises nothing.

    The levers from `direction` on choose between forms of the same circuit; the default runs on whole words, every
    other choice runs the readable reference of `shared/`, in a time that grows with the square of the width.
    `padding="occupied"` is the document's wrong one (E16): with `encoding="free0"` and `decode="lut"` a resource
    narrower than the probe then counts as wholly free.

    References
    ----------
    spec 3, R51-R59, E16, E18; V17-V24.

    Examples
    --------
    >>> SharedRun(width=128).longest_each(["0" * 60 + "1111", "111" + "0" * 45])
    [4, 3]
    >>> SharedRun().schedule([128, 64, 48]).period.tolist()
    [0, 1, 1]
    """

    width: int = lever(128, least=2, most=4096, unit="blocks", says="how many blocks the probe looks at in a period")
    periods: tuple[int, ...] = lever(
        (), least=0, most=MOST_PERIODS, says="the period of each resource, from 0; empty = packed first-fit decreasing"
    )
    cycles_a_period: int = lever(1, least=1, most=1024, unit="cycles", says="how long a period lasts")
    stale: Literal["keep", "forget"] = lever(
        "keep", says="what an old report counts for after an allocation from the resource: itself, or nothing"
    )
    alone: Probe = lever("exact_run", says="the probe that this one is used as in a period with one resource")
    direction: Literal["right", "left"] = lever("right", says="where the word is shifted, written with bit 0 right")
    encoding: Literal["free1", "free0"] = lever("free1", says="whether a 1 within the probe is free or taken")
    decode: Literal["scan", "lut"] = lever("scan", says="how a sequence becomes a length")
    padding: Literal["zero", "occupied"] = lever("zero", says="what fills a sequence up to the width of the look-up")
    masks: Literal["every_shift", "first_crossing"] = lever(
        "every_shift", says="whether all masks are built, or only where a bit comes over a border for the first time"
    )

    def answer(free: Any, blocks: int, params: Any) -> int:
        return longest_run(free)

    @creates_arrays
    def circuit(free: Any, blocks: int, params: Any) -> int:
        width, left, taken_is_one = int(params[WIDTH]), params[DIRECTION] == 1, params[ENCODING] == 1
        word = loaded(bitmap(free, blocks, False), width, taken_is_one)
        rows = prefixes(word, np.array([0, width]), left, taken_is_one, EVERY_SHIFT)
        found = sequence(rows, 0, blocks, taken_is_one)
        if params[DECODE] == 0:
            return scanned(found)
        return min(looked_up(padded(found, width, taken_is_one and params[PADDING] == 1)), blocks)

    def function(self) -> Callable[..., int]:
        """The word-parallel answer, or the circuit where a lever asks for one of its forms."""
        forms = ("direction", "encoding", "decode", "padding")
        return type(self).circuit if self._differs(*forms) else type(self).answer

    def check(self) -> None:
        """The probe of a single resource looks at it in every round: it is not shared itself."""
        if self.alone.schedule([self.width]) is not None:
            raise wrong_value("", "shared_run.alone", "must be a probe of one resource", self.alone, "exact_run")

    def check_blocks(self, blocks: int, path: str = "", where: str = "") -> None:
        """Refuse a resource that is wider than the probe (R51)."""
        if blocks > self.width:
            name = f"{path}.width" if path else "shared_run.width"
            raise wrong_value(where, name, f"must be at least the {blocks} blocks of a resource", self.width, blocks)

    def schedule(self, blocks: Sequence[int]) -> Schedule:
        """When each resource is looked at.

        Raises
        ------
        InputError
            A resource or a period is wider than the probe, `periods` names another number of resources, or leaves a
            period empty.
        """
        for size in blocks:
            self.check_blocks(size)
        period = np.array(self.periods, np.int64) if self.periods else pack(blocks, self.width)
        if self.periods:
            self._check_periods(blocks)
        return Schedule(period, int(period.max(initial=0)) + 1, self.cycles_a_period, self.stale == "forget")

    def serving(self, blocks: Sequence[int]) -> tuple[Probe, ...]:
        """The probe that reports each resource: `alone` for one that has a period for itself (R55)."""
        period = self.schedule(blocks).period
        return tuple(self.alone if np.count_nonzero(period == p) == 1 else self for p in period)

    def longest_each(self, free: Sequence[Bits]) -> list[int]:
        """The longest run of several resources, all looked at in one period.

        Parameters
        ----------
        free : sequence of str or bool arrays
            A free map a resource, segment 0 first; `1` is a free segment.

        Raises
        ------
        InputError
            There is no free map, one cannot be read, or all of them together are wider than the probe.

        Examples
        --------
        >>> SharedRun(width=16, direction="left").longest_each(["0111", "1100_0111"])
        [3, 3]
        """
        states = [as_bits(one) for one in free]
        check_together([len(state) for state in states], self.width)
        if len(states) == 1:
            return [self.alone.longest(states[0])]
        if not self._differs("direction", "encoding", "decode", "padding", "masks"):
            return [int(longest_run(packed(state))) for state in states]
        wires = self.trace(states)
        return list(wires.scanned if self.decode == "scan" else wires.looked_up)

    def trace(self, free: Sequence[Bits]) -> SharedTrace:
        """Every wire of one period; parameters and errors as in `longest_each`."""
        forms = {name: getattr(self, name) for name in ("direction", "encoding", "masks", "padding")}
        return trace(free, self.width, **forms)

    def sharing_cost(self, blocks: Sequence[int]) -> SharedCost:
        """The gates of this probe and of those that it replaces, for the resources of a unit.

        >>> found = SharedRun().sharing_cost([128, 64, 48])
        >>> round(100 * found.saved, 1), round(100 * found.saved_with_masks, 1)
        (27.9, -8.4)
        """
        return shared_cost(self.schedule(blocks).period.tolist(), blocks, self.width, self.masks)

    def never_more(self) -> bool:
        """Whether a report never exceeds the run; not with the wrong padding, where that shows."""
        return (self.encoding, self.decode, self.padding) != ("free0", "lut", "occupied")

    def _differs(self, *levers: str) -> bool:
        return any(getattr(self, name) != self.levers[name].default for name in levers)

    def _check_periods(self, blocks: Sequence[int]) -> None:
        if len(self.periods) != len(blocks):
            expected = f"must name a period for each of the {len(blocks)} resources"
            raise wrong_value("", "shared_run.periods", expected, list(self.periods))
        missing = set(range(max(self.periods))) - set(self.periods)
        if missing:
            raise InputError(
                f"shared_run.periods must give every period a resource. Got {list(self.periods)}; "
                f"period {min(missing)} has none."
            )
        for when, together in enumerate(loads(self.periods, blocks)):
            if together > self.width:
                expected = f"must put at most {self.width} blocks into a period; period {when} has {together}"
                nearest = pack(blocks, self.width).tolist()
                raise wrong_value("", "shared_run.periods", expected, list(self.periods), nearest)
