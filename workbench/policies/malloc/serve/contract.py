"""What every way to serve warps owes, as tests to join: five lines in a test file, for any policy.

from workbench.policies.malloc.serve.contract import ServeContract

class TestMyServe(ServeContract):
    policy = MyServe(min_alloc=16)
"""

from __future__ import annotations

from typing import ClassVar, get_args

import numpy as np

from workbench.policies.malloc.serve.checking import SEED, check, digest, fault, walk
from workbench.policies.malloc.serve.question import FreePolicy, OnFailure, PrefixWhen, Serve
from workbench.policies.value_contract import ValueContract, told_by_a_fresh_interpreted_process

__all__ = ["ServeContract", "check"]

_FRESH = """
import pickle, sys
policy = pickle.load(sys.stdin.buffer)
from workbench.policies.malloc.serve.checking import digest
print(digest(policy, False))
"""


class ServeContract(ValueContract):
    """Tests that every way to serve warps passes; a subclass names the policy."""

    policy: ClassVar[Serve]

    def test_answers_are_allowed(self) -> None:
        for asked in walk(self.policy, True):
            assert not fault(asked), f"{fault(asked)} for {asked}"

    def test_pieces_of_a_request_are_apart_and_inside(self) -> None:
        for asked in walk(self.policy, True):
            for p in range(asked.parts):
                inside = asked.part == p
                starts, sizes = asked.offset[inside], asked.size[inside]
                order = np.argsort(starts, kind="stable")
                ends = (starts + sizes)[order]
                apart = (starts[order][1:] >= ends[:-1]).all() and ends.max(initial=0) <= sizes.sum()
                assert apart, f"pieces overlap or leave their block, for {asked}"

    def test_compiled_and_plain_answers_agree(self) -> None:
        assert digest(self.policy, True) == digest(self.policy, False)

    def test_stays_within_its_arrays(self) -> None:
        check(self.policy)

    def test_what_it_asks_of_the_engine(self) -> None:
        policy = self.policy
        assert policy.unit() >= 1
        assert min(policy.scan_steps(), policy.barrier_steps(), policy.block_header()) >= 0
        assert policy.prefix_moment() in get_args(PrefixWhen)
        assert policy.on_failure() in get_args(OnFailure)
        assert policy.frees() in get_args(FreePolicy)
        assert policy.start_memory(SEED).dtype == np.int64

    def test_answers_the_same_in_a_fresh_interpreted_process(self) -> None:
        assert told_by_a_fresh_interpreted_process(self.policy, _FRESH) == digest(self.policy, True)
