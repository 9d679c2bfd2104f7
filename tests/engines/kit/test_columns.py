"""Columns of a state: declared at the field, made with the sizes of a run."""

from typing import NamedTuple

import numpy as np
import pytest

from workbench.compiled import kernel
from workbench.engines.kit import column, made, numbered


class Counters(NamedTuple):
    status: int
    served: int


COUNTERS = numbered(Counters)


class State(NamedTuple):
    hops: np.ndarray
    counters: np.ndarray = column(np.int64, len(COUNTERS))
    held: np.ndarray = column(np.uint64, "pages * words")
    owner: np.ndarray = column(np.int32, "maps", "most_blocks", fill=-1)


SIZES = {"pages": 3, "words": 2, "maps": 2, "most_blocks": 4}


@kernel
def serve(state: State) -> int:
    state.counters[COUNTERS.served] += 5
    return state.owner.size


def test_each_column_has_its_type_axes_and_contents():
    state = made(State, SIZES, hops=np.arange(4))
    assert (state.held.dtype, state.held.shape) == (np.uint64, (6,))
    assert (state.owner.dtype, state.owner.shape, set(state.owner.flat)) == (np.int32, (2, 4), {-1})
    assert state.hops.tolist() == [0, 1, 2, 3]


def test_two_states_share_no_array():
    first, second = (made(State, SIZES, hops=np.arange(4)) for _ in range(2))
    assert not any(np.shares_memory(a, b) for a, b in zip(first, second, strict=True))


def test_compiled_code_reads_columns_and_names_of_counters():
    state = made(State, SIZES, hops=np.arange(4))
    assert serve(state) == 8
    assert state.counters.tolist() == [0, 5]


def test_what_is_given_replaces_a_column():
    assert made(State, SIZES, hops=np.arange(4), held=np.ones(1, np.uint64)).held.tolist() == [1]


def test_what_is_missing_or_too_much_is_refused():
    with pytest.raises(TypeError, match="hops"):
        made(State, SIZES)
    with pytest.raises(TypeError, match="nothing"):
        made(State, SIZES, hops=np.arange(4), nothing=1)
    with pytest.raises(KeyError, match="maps"):
        made(State, {"pages": 3, "words": 2}, hops=np.arange(4))
