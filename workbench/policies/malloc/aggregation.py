"""A warp's requests served thread by thread, as one request of the warp, or as one of the block (spec 2, R1-R20)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from workbench.compiled import kernel
from workbench.errors import InputError
from workbench.levers import lever
from workbench.policies.malloc.serve import FreePolicy, OnFailure, PrefixWhen, Serve, ServeView, tree_steps
from workbench.structures.rng import below

THREAD_MIN_ALLOC, THREAD_ALIGN, THREAD_ZERO = range(3)
NULL = 1

MOST_ALIGN = 1 << 16


class PerThread(Serve):
    """Every active lane makes a heap request of its own; between lanes of one warp the lower one asks first in a tie.

    References
    ----------
    spec 2, R21 and Fig. 1: each thread loops on the try-lock, allocates for itself and releases.

    Examples
    --------
    >>> PerThread().offsets([2, 9])
    [(4, [0]), (12, [0])]
    >>> PerThread(min_alloc=1).offsets([2, 9])
    [(2, [0]), (9, [0])]
    """

    min_alloc: int = lever(4, least=1, most=1 << 20, unit="bytes", description="smaller requests are raised to this")
    align: int = lever(
        0,
        least=0,
        most=MOST_ALIGN,
        scale="power_of_two",
        unit="bytes",
        description="sizes are rounded up to this power of two; 0: to min_alloc's",
    )
    zero_policy: Literal["expand", "null"] = lever("expand", description="what 0 bytes get: the minimum, or nothing")
    header_bytes: int = lever(
        0, least=0, most=4096, unit="bytes", description="what every allocation holds in front of it"
    )

    @staticmethod
    def answer(see: ServeView) -> int:
        parts = 0
        for k in range(see.lanes.size):
            see.offset[k] = see.size[k] = 0
            if see.levers[THREAD_ZERO] == NULL and see.asked[k] == 0:
                see.part[k] = -1
                continue
            see.part[k], see.leader[parts] = parts, k
            see.size[k] = adjusted(see.asked[k], int(see.levers[THREAD_MIN_ALLOC]), int(see.levers[THREAD_ALIGN]))
            parts += 1
        return parts

    def parameters(self) -> np.ndarray:
        """Return the levers of the answer: min_alloc, the alignment in bytes, zero_policy."""
        zero = self.levers["zero_policy"].number(self.zero_policy)
        return np.array([self.min_alloc, self.align or next_power(self.min_alloc), zero], float)

    def block_header(self) -> int:
        return self.header_bytes


MIN_ALLOC, ALIGN, PREFIX, ZERO, LEADER = range(5)
AS_WRITTEN, INCLUSIVE = 1, 2
FIRST_LANE, FIRST_ACTIVE = 1, 0


class WarpAggregated(Serve):
    """Ask once for the whole warp: one leader, the sum of the sizes, a block that a prefix sum cuts up.

    Each active request is raised to `min_alloc` and rounded up to `align`; the first active lane asks, so there is no
    tie to break. Lane k's piece begins where the pieces of the active lanes before it end (`exclusive`). The two other
    prefix rules are the document's slips, kept to be shown wrong: `as_written` adds the current lane's size instead of
    the one before it, and is safe exactly where all sizes of a warp are equal; `inclusive` never is.

    With `leader_rule: first` a warp whose lane 0 does not call asks for nothing. `any` draws an active lane. With
    `pad` the last warp's padding lanes are listed by `offsets`, with the total as offset and no bytes of their own.

    References
    ----------
    spec 2, R1-R20 (aspects 1-9 of the source document), E1-E8; V1-V14.

    Examples
    --------
    >>> WarpAggregated(min_alloc=4, align=1).offsets([2] * 60)[1][0]
    112
    >>> rules = [WarpAggregated(prefix=rule, min_alloc=1) for rule in ("exclusive", "inclusive", "as_written")]
    >>> [rule.offsets([5, 8, 9, 2])[0][1] for rule in rules]
    [[0, 5, 13, 22], [5, 13, 22, 24], [0, 8, 17, 19]]
    >>> WarpAggregated(align=3)
    Traceback (most recent call last):
    workbench.errors.InputError: warp_aggregated.align must be a power of two from 1 to 65536, or 0. Got 3. Nearest: 4.
    """

    warp_size: int = lever(32, least=1, most=1024, unit="threads", description="threads of a warp")
    min_alloc: int = lever(4, least=1, most=1 << 20, unit="bytes", description="smaller requests are raised to this")
    align: int = lever(
        0,
        least=0,
        most=MOST_ALIGN,
        scale="power_of_two",
        unit="bytes",
        description="pieces are rounded up to this power of two; 0: to min_alloc's",
    )
    prefix: Literal["exclusive", "as_written", "inclusive"] = lever(
        "exclusive", description="how offsets follow from sizes; all but exclusive are wrong"
    )
    zero_policy: Literal["expand", "null"] = lever("expand", description="what 0 bytes get: the minimum, or nothing")
    leader_rule: Literal["first_active", "first", "any"] = lever("first_active", description="which lane asks")
    prefix_when: PrefixWhen = lever("before_request", description="when the prefix sum is computed")
    split_overlap: bool = lever(True, description="whether a block is divided outside of the critical section")
    failure_policy: OnFailure = lever("all_null", description="what becomes of a request that does not fit")
    free_policy: FreePolicy = lever("refcount", description="how pieces are given back")
    header_bytes: int = lever(
        0, least=0, most=4096, unit="bytes", description="what every block holds in front of its pieces"
    )
    pad: bool = lever(False, description="whether padding lanes are listed with the last warp")

    @staticmethod
    def answer(see: ServeView) -> int:
        least, align, rule = int(see.levers[MIN_ALLOC]), int(see.levers[ALIGN]), int(see.levers[PREFIX])
        total = first = served = 0
        for k in range(see.lanes.size):
            if see.levers[ZERO] == NULL and see.asked[k] == 0:
                see.part[k] = -1
                see.offset[k] = see.size[k] = 0
                continue
            bytes_here = adjusted(see.asked[k], least, align)
            if served == 0:
                first, see.leader[0] = bytes_here, k
            see.part[k], see.size[k], see.offset[k] = 0, bytes_here, total
            if rule == INCLUSIVE:
                see.offset[k] = total + bytes_here
            elif rule == AS_WRITTEN:
                # R11 taken literally: the sizes of the served lanes up to this one, without that of the first one.
                see.offset[k] = total + bytes_here - first
            total += bytes_here
            served += 1
        if served == 0:
            return 0
        if see.levers[LEADER] == FIRST_LANE and (see.lanes[0] != 0 or see.part[0] < 0):
            see.leader[0] = -1
        elif see.levers[LEADER] > FIRST_LANE:
            nth = below(see.memory, 0, served)
            for k in range(see.lanes.size):
                if see.part[k] == 0:
                    see.leader[0] = k if nth == 0 else see.leader[0]
                    nth -= 1
        return 1

    @property
    def draws(self) -> bool:  # type: ignore[override]
        """Return whether a leader is drawn."""
        return self.leader_rule == "any"

    def check(self) -> None:
        if self.free_policy == "piecewise" and (self.prefix != "exclusive" or self.header_bytes):
            raise InputError(
                f"{self.name}.free_policy piecewise needs pieces that do not overlap and fill their block: prefix "
                f"exclusive and header_bytes 0. Got {self.prefix} and {self.header_bytes}. Nearest: refcount."
            )

    def parameters(self) -> np.ndarray:
        """Return the levers of the answer: min_alloc, the alignment in bytes, prefix, zero_policy and leader_rule."""
        levers = ("prefix", "zero_policy", "leader_rule")
        chosen = [self.levers[name].number(getattr(self, name)) for name in levers]
        return np.array([self.min_alloc, self.align or next_power(self.min_alloc), *chosen], float)

    def offsets(self, requests: Any) -> list[tuple[int, list[int]]]:
        """Return the total of every warp and the offsets of its lanes; see `Serve.offsets`."""
        result = super().offsets(requests)
        if self.pad and result and len(requests) % self.warp_size:
            total, last = result[-1]
            end = last[-1] if self.prefix == "as_written" else total
            result[-1] = total, last + [end] * (-len(requests) % self.warp_size)
        return result

    def unit(self) -> int:
        return self.warp_size

    def scan_steps(self) -> int:
        return tree_steps(self.warp_size)

    def divides(self) -> bool:
        return True

    def prefix_moment(self) -> PrefixWhen:
        return self.prefix_when

    def overlaps_split(self) -> bool:
        return self.split_overlap

    def on_failure(self) -> OnFailure:
        return self.failure_policy

    def frees(self) -> FreePolicy:
        return self.free_policy

    def block_header(self) -> int:
        return self.header_bytes

    def start_memory(self, seed: int) -> np.ndarray:
        """Return the generator that draws the leader, the same for every seed where none is drawn."""
        return np.array([max(seed, 1) if self.draws else 1], np.int64)


class BlockAggregated(Serve):
    """Ask once for all threads of a block; the first active one asks, so there is no tie to break.

    Offsets are those of `warp_aggregated` with the block in the place of the warp. Before it asks, the block meets at a
    barrier, whose steps are those of a tree over its warps.

    References
    ----------
    spec 2, section 7: one request per thread block, a larger unit that needs a barrier; R4: any group of threads that
    is scheduled together.

    Examples
    --------
    >>> BlockAggregated(block_size=4, min_alloc=1).offsets([5, 8, 9, 2, 7])
    [(24, [0, 5, 13, 22]), (7, [0])]
    """

    block_size: int = lever(256, least=1, most=1024, unit="threads", description="threads of a block")
    warp_size: int = lever(
        32, least=1, most=1024, unit="threads", description="threads of a warp, which barriers are over"
    )
    min_alloc: int = lever(4, least=1, most=1 << 20, unit="bytes", description="smaller requests are raised to this")
    align: int = lever(
        0,
        least=0,
        most=MOST_ALIGN,
        scale="power_of_two",
        unit="bytes",
        description="pieces are rounded up to this power of two; 0: to min_alloc's",
    )
    failure_policy: OnFailure = lever("all_null", description="what becomes of a request that does not fit")
    free_policy: FreePolicy = lever("refcount", description="how pieces are given back")

    def function(self) -> Any:
        return WarpAggregated.answer

    def parameters(self) -> np.ndarray:
        """Return the levers that the answer of `warp_aggregated` gets."""
        return np.array([self.min_alloc, self.align or next_power(self.min_alloc), 0, 0, 0], float)

    def unit(self) -> int:
        return self.block_size

    def scan_steps(self) -> int:
        return tree_steps(self.block_size)

    def barrier_steps(self) -> int:
        return 1 + tree_steps(-(-self.block_size // self.warp_size))

    def divides(self) -> bool:
        return True

    def on_failure(self) -> OnFailure:
        return self.failure_policy

    def frees(self) -> FreePolicy:
        return self.free_policy


@kernel
def adjusted(size: int, least: int, align: int) -> int:
    """Return the bytes of the piece that a request of so many bytes gets."""
    raised = max(size, least)
    return (raised + align - 1) // align * align


def next_power(number: int) -> int:
    """Return the least power of two that is not below a number.

    >>> [next_power(n) for n in (1, 3, 4, 5)]
    [1, 4, 4, 8]
    """
    return 1 << (number - 1).bit_length()
