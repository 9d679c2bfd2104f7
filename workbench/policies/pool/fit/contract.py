"""What every choice among cached blocks owes, as tests to join, for policies of this package or not.

from workbench.policies.pool.fit.contract import FitContract

class TestMyFit(FitContract):
    policy = MyFit()
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from workbench.compiled import RAISED, kernel
from workbench.policies.pool.fit.question import FIT, CacheFit, blocks_in_order
from workbench.policies.pool.fit.view import FitView
from workbench.policies.value_contract import ValueContract, told_by_a_fresh_interpreted_process
from workbench.streams import Streams
from workbench.structures.size_index import ABOVE, FIELDS, NONE, OUTSIDE, SIZE, SizeIndex

__all__ = ["FitContract"]
_fit = FIT.ask
_FRESH = """
import pickle, sys
policy = pickle.load(sys.stdin.buffer)
from workbench.policies.pool.fit.contract import answers
print(answers(policy, False))
"""


@kernel
def _asked(answer, size, pool, first, roots, filled, nodes, params, memory):  # type: ignore[no-untyped-def]
    return _fit(answer, FitView(size, pool, first, roots, filled, nodes, params, memory))


class FitContract(ValueContract):
    """Tests that every choice among cached blocks passes; a subclass names the policy."""

    policy: ClassVar[CacheFit]

    def test_takes_a_cached_block_that_is_large_enough_or_none(self) -> None:
        for (index, size), found in zip(_pools(), answers(self.policy, False), strict=True):
            if found != NONE:
                assert index.nodes[found * FIELDS + ABOVE] != OUTSIDE, "the block is in use"
                assert index.nodes[found * FIELDS + SIZE] >= size, "the block is too small"

    def test_takes_an_exact_block_where_it_is_the_only_one(self) -> None:
        assert self.policy.take([64], 64) == 0
        assert self.policy.take([32], 64) is None
        assert self.policy.take([], 64) is None

    def test_compiled_and_plain_answers_agree_and_stay_within_their_arrays(self) -> None:
        for checked in (False, True):
            assert answers(self.policy, True, checked) == answers(self.policy, False)

    def test_answers_the_same_in_a_fresh_interpreted_process(self) -> None:
        assert told_by_a_fresh_interpreted_process(self.policy, _FRESH) == str(answers(self.policy, True))

    def test_leaves_its_inputs_alone(self) -> None:
        for index, size in _pools():
            before = [column.tobytes() for column in index]
            _plain(self.policy, index, size)
            assert [column.tobytes() for column in index] == before, "wrote to what it was shown"


def answers(policy: CacheFit, compiled: bool, checked: bool = False) -> list[int]:
    """The block that a policy takes of each of some pools, asked compiled or in plain Python."""
    if not compiled:
        return [_plain(policy, index, size) for index, size in _pools()]
    ready, found = policy.ready(checked), []
    for index, size in _pools():
        found.append(int(_asked(ready.answer, size, 0, 0, *index, ready.params, policy.start_memory())))
        assert found[-1] != RAISED, f"raised when asked for {size} bytes"
    return found


def _plain(policy: CacheFit, index: SizeIndex, size: int) -> int:
    seen = FitView(size, 0, 0, *index, policy.parameters(), policy.start_memory())
    return int(policy.plain_answer()(seen))


def _pools() -> Iterator[tuple[SizeIndex, int]]:
    """Blocks side by side, some in use; sizes alike and not, from bytes to GiB."""
    draw = Streams(0)["pools"]
    for _ in range(40):
        count, most = int(draw.integers(1, 12)), int(2 ** draw.uniform(1, 32))
        sizes = np.maximum(draw.choice(draw.integers(1, most + 1, 4), count), 1).tolist()
        yield blocks_in_order(sizes, (draw.random(count) < 0.7).tolist()), int(draw.choice(sizes) + draw.integers(0, 2))
