"""What every way to serve warps owes, as tests to join: three lines in a test file, for any policy.

from workbench.policies.malloc.serve.contract import ServeContract

class TestMyServe(ServeContract):
    policy = MyServe(min_alloc=16)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, get_args

import numpy as np

from workbench.policies.asking import KEPT, Asked, Scenes
from workbench.policies.contract import Contract, check
from workbench.policies.malloc.serve.question import NOT_SERVED, FreePolicy, OnFailure, PrefixWhen, Serve
from workbench.policies.malloc.serve.view import ServeView

__all__ = ["ServeContract", "check"]


class ServeContract(Contract):
    """Tests that every way to serve warps passes; a subclass names the policy."""

    policy: ClassVar[Serve]

    def start_memory(self, policy: Serve, size: int, seed: int) -> np.ndarray:
        """Return what the policy remembers at the start of a run."""
        return policy.start_memory(seed)

    def scenes(self, policy: Serve, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Put calls of all lanes, of one, of some, of equal and unequal sizes, zeros among them."""
        for lanes, requested in _calls(policy.unit(), draw):
            empty = (np.zeros(len(lanes), np.int64) for _ in range(4))
            yield ServeView._make((lanes, requested, *empty, *KEPT))

    def judge(self, request: Asked) -> str:
        """Return a fault where a piece is too small or nowhere, or a request has a leader that is none of its lanes."""
        fault = _fault(request.answer, request.after)
        return f"answered {fault}, for {request.see}" if fault else ""

    def test_pieces_of_a_request_do_not_overlap(self) -> None:
        for requested in self.asked():
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
    """Return what is wrong with an answer, in words; empty where nothing is."""
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
