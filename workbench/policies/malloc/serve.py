"""How is a warp's set of requests served? (spec 2, R1-R20)

The lanes of one warp that reach `malloc` at one instruction make a call (spec 2, E8, E9). An answer takes a `ServeView`
and cuts the call into requests to the heap. A heap request asks for the sum of its pieces' sizes (spec 2, R14); one
without a leader is never made, and its lanes get nothing.

Who asks the heap is each thread (`PerThread`, the baseline of the source document), one lane of a warp for all
(`WarpAggregated`, its proposal), or one of a thread block, which meets at a barrier. Before it is summed, a request is
raised to the minimum and rounded up (spec 2, R5, E5, E6).

What every way to serve owes, in a test file, for policies of this package or not:

    class TestMyServe(ServeContract):
        policy = MyServe(min_alloc=16)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from workbench.compiled import MEMORY, PARAMS, Answer, Question, readable, view, writable
from workbench.errors import wrong_value
from workbench.policies.arguments import listed, truths
from workbench.policies.contract import Contract
from workbench.policies.policy import Policy
from workbench.policies.scenes import KEPT, Request, Scenes

MOST_BYTES = 1 << 40
NOT_SERVED = -1
"""The part of a lane that gets nothing, and the leader of a request that no lane makes."""


@view
class ServeView(NamedTuple):
    """One call: the lanes of a warp that reach `malloc` at one instruction."""

    lanes: np.ndarray = readable(
        "int64", "active", "the active lanes' numbers in their warp, increasing; padding lanes are not among them"
    )
    asked: np.ndarray = readable("int64", "active", "bytes that each asks for, at least 0")
    part: np.ndarray = writable(
        "int64", "active", "to be filled: the heap request that holds each lane's piece, from 0; -1 = it gets nothing"
    )
    offset: np.ndarray = writable("int64", "active", "to be filled: where each piece begins in its block, in bytes")
    size: np.ndarray = writable("int64", "active", "to be filled: bytes of each piece")
    leader: np.ndarray = writable(
        "int64",
        "active",
        "to be filled for each heap request: the position in `lanes` of the lane that asks, -1 = none",
    )
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


SERVE = Question(
    "serve",
    ServeView,
    answers="how many heap requests there are; it fills in the pieces of the lanes",
    wrong="answered {answer}: parts, offsets, sizes and leaders must be of the lanes that call, sizes and offsets at "
    "least 0",
)

PrefixWhen = Literal["before_request", "during_lock_wait", "after_grant"]
OnFailure = Literal["all_null", "per_thread_fallback", "halve_and_retry"]
FreePolicy = Literal["refcount", "piecewise", "arena"]


class Served(NamedTuple):
    """One heap request of a call, as a person reads it."""

    total: int
    """Bytes that the leader asks for."""
    leader: int | None
    """The lane that asks."""
    lanes: list[int]
    """The lanes that share the block."""
    offsets: list[int]
    """Where the piece of each begins in the block."""
    sizes: list[int]
    """Bytes of each piece."""


class ReadyServe(NamedTuple):
    """A policy as the engine receives it; the type is the same for every one."""

    answer: Answer
    params: np.ndarray
    memory: np.ndarray


class Serve(Policy, abstract=True):
    """The base of every way to serve a warp's requests.

    A new one needs an `answer`; everything else has a default that fits requests of one lane each.
    """

    question: ClassVar[str] = "serve"
    asks: ClassVar[Question] = SERVE

    def offsets(self, requests: Sequence[int]) -> list[tuple[int, list[int]]]:
        """Return the total of every heap request and the offsets of its pieces, for a batch of threads 0, 1, 2, ...

        Parameters
        ----------
        requests : sequence of int
            Bytes that each thread asks for, at least 0.

        Raises
        ------
        InputError
            A byte count is no whole number from 0 to 2^40.

        Examples
        --------
        >>> from workbench.policies.malloc import WarpAggregated
        >>> WarpAggregated(warp_size=4, min_alloc=1).offsets([5, 8, 9, 2, 7])
        [(24, [0, 5, 13, 22]), (7, [0])]
        """
        rows = self.served(requests)
        return [(one.total, one.offsets) for one in rows]

    def served(self, requests: Sequence[int], active: Sequence[bool] | None = None) -> list[Served]:
        """Return every heap request that a batch of threads makes, warp by warp; inactive threads make none.

        >>> from workbench.policies.malloc import PerThread
        >>> PerThread().served([2, 9], active=[False, True])
        [Served(total=12, leader=1, lanes=[1], offsets=[0], sizes=[12])]
        """
        requested = checked_bytes(requests)
        calling = np.array([True] * len(requested) if active is None else truths("active", active, len(requested)))
        unit, memory = self.unit(), self.start_memory(0)
        result: list[Served] = []
        for first in range(0, len(requested), unit):
            lanes = np.flatnonzero(calling[first : first + unit])
            result += self.cut(lanes, requested[first + lanes], memory)
        return result

    def cut(self, lanes: np.ndarray, sizes: np.ndarray, memory: np.ndarray) -> list[Served]:
        """Cut one call, asked in plain Python, into its heap requests."""
        if not len(lanes):
            return []
        part, offset, size, leader = (np.zeros(len(lanes), np.int64) for _ in range(4))
        parts = self.plain_answer()(ServeView(lanes, sizes, part, offset, size, leader, self.parameters(), memory))
        return [_request_of(p, lanes, part, offset, size, leader) for p in range(parts)]

    def unit(self) -> int:
        """Return the number of threads that are served together: threads k unit .. k unit + unit - 1 make a group (spec
        2, R2, R4)."""
        return 32

    def scan_steps(self) -> int:
        """Return the steps of the sum over the lanes and of the prefix sum, which one shuffle tree gives together."""
        return 0

    def divides(self) -> bool:
        """Return whether a granted block has to be divided among lanes."""
        return False

    def barrier_steps(self) -> int:
        """Return the steps of the barrier that gathers the group before it asks; a warp needs none."""
        return 0

    def prefix_moment(self) -> PrefixWhen:
        """Return the time at which the prefix sum is computed (spec 2, R9)."""
        return "before_request"

    def overlaps_split(self) -> bool:
        """Return whether a block is divided outside of the critical section (spec 2, R19)."""
        return True

    def on_failure(self) -> OnFailure:
        """Return the rule for a request that the heap cannot serve (spec 2, E4)."""
        return "all_null"

    def frees(self) -> FreePolicy:
        """Return the rule by which pieces are given back (spec 2, E3)."""
        return "refcount"

    def block_header(self) -> int:
        """Return the bytes in front of the pieces of every block (spec 2, E13)."""
        return 0

    def start_memory(self, seed: int) -> np.ndarray:
        """Return the memory of the policy at the start of a run: int64[memory_size]."""
        return np.zeros(1, np.int64)

    def ready(self, seed: int = 0, checked: bool = False) -> ReadyServe:
        """Return the policy for one run."""
        return ReadyServe(self.ready_answer(checked), self.parameters(), self.start_memory(seed))


def checked_bytes(requests: Sequence[int]) -> np.ndarray:
    """Return byte counts as an array, after refusing what is no whole number from 0 to 2^40."""
    requests = listed("requests", requests, "must be a list of byte counts")
    for k, requested in enumerate(requests):
        whole = isinstance(requested, (int, np.integer)) and not isinstance(requested, bool)
        if not whole or not 0 <= requested <= MOST_BYTES:
            nearest = min(max(int(requested), 0), MOST_BYTES) if whole else None
            raise wrong_value(
                "", f"requests[{k}]", "must be a whole number of bytes from 0 to 2^40", requested, nearest
            )
    return np.array(requests, np.int64).reshape(-1)


def tree_steps(lanes: int) -> int:
    """Return the steps of a sum or a prefix sum over so many lanes.

    >>> [tree_steps(lanes) for lanes in (1, 2, 32, 33)]
    [0, 1, 5, 6]
    """
    return math.ceil(math.log2(lanes)) if lanes > 1 else 0


def _request_of(
    p: int, lanes: np.ndarray, part: np.ndarray, offset: np.ndarray, size: np.ndarray, leader: np.ndarray
) -> Served:
    inside = part == p
    asks = None if leader[p] == NOT_SERVED else int(lanes[leader[p]])
    displayed = (column[inside].tolist() for column in (lanes, offset, size))
    return Served(int(size[inside].sum()), asks, *displayed)


class ServeContract(Contract):
    """Tests that every way to serve warps passes; a subclass names the policy."""

    policy: ClassVar[Serve]

    def start_memory(self, policy: Serve, size: int, seed: int) -> np.ndarray:
        """Return the memory of the policy at the start of a run."""
        return policy.start_memory(seed)

    def scenes(self, policy: Serve, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Put calls of all lanes, of one, of some, of equal and unequal sizes, zeros among them."""
        for lanes, requested in _calls(policy.unit(), draw):
            empty = (np.zeros(len(lanes), np.int64) for _ in range(4))
            yield ServeView._make((lanes, requested, *empty, *KEPT))

    def judge(self, request: Request) -> str:
        """Return a fault where a piece is too small or nowhere, or a request has a leader that is none of its lanes."""
        fault = _fault(request.answer, request.after)
        return f"answered {fault}, for {request.see}" if fault else ""

    def test_pieces_of_a_request_do_not_overlap(self) -> None:
        for requested in self.requests():
            for request in range(requested.answer):
                inside = requested.after.part == request
                starts, sizes = requested.after.offset[inside], requested.after.size[inside]
                order = np.argsort(starts, kind="stable")
                ends = (starts + sizes)[order]
                fine = (starts[order][1:] >= ends[:-1]).all() and ends.max(initial=0) <= sizes.sum()
                assert fine, f"pieces overlap or leave their block, for {requested.see}"

    def test_what_it_asks_of_the_engine(self) -> None:
        policy = self.policy
        assert policy.unit() >= 1
        assert min(policy.scan_steps(), policy.barrier_steps(), policy.block_header()) >= 0
        assert policy.prefix_moment() in get_args(PrefixWhen)
        assert policy.on_failure() in get_args(OnFailure)
        assert policy.frees() in get_args(FreePolicy)


def _calls(unit: int, draw: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    yield np.arange(unit), np.full(unit, 2)
    yield np.array([unit - 1]), np.array([5])
    for k in range(24):
        lanes = np.flatnonzero(draw.random(unit) < (k + 1) / 24)
        if len(lanes):
            yield lanes, draw.integers(0, 1 << (k % 12), len(lanes))


def _fault(requests: int, after: ServeView) -> str:
    """Return the fault of an answer, in words; empty where there is none."""
    count, got = len(after.lanes), after.part >= 0
    if not 0 <= requests <= count:
        return f"{requests} requests"
    if after.part.min() < NOT_SERVED or after.part.max() >= requests:
        return f"a part outside of 0 to {requests - 1}"
    if got.any() and (after.size[got].min() < 0 or after.offset[got].min() < 0):
        return "a negative size or offset"
    if (after.size[got] < after.asked[got]).any():
        return "a piece smaller than what was asked for"
    for request, leader in enumerate(after.leader[:requests]):
        if not (leader == NOT_SERVED or (0 <= leader < count and after.part[leader] == request)):
            return f"lane {leader} as the leader of request {request}, to which it does not belong"
    return ""
