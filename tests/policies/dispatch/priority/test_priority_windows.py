"""Priority windows against their contract and their slow twin, which writes the period down (spec 3, R16-R20, E8)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.dispatch_selection import windows_order
from tests.policies.dispatch.priority.together import change_and_promise, ranks
from workbench.errors import InputError
from workbench.policies.dispatch import PriorityWindows
from workbench.policies.dispatch.priority import FOR_EVER, PriorityContract

lengths = st.lists(st.integers(1, 20), min_size=1, max_size=8).map(lambda some: sorted(some, reverse=True))


class TestPriorityWindows(PriorityContract):
    policy = PriorityWindows()


class TestWindowsOfGivenLengths(PriorityContract):
    policy = PriorityWindows(lengths=(8, 4, 2, 1))
    sizes = (4,)


def order(policy: PriorityWindows, cycle: int, levels: int) -> list[int]:
    rank = ranks(policy, levels)
    result = sorted(range(1, levels + 2), key=lambda priority: rank(cycle, priority, 3))
    assert result[-1] == levels + 1, "what is below all is never raised"
    assert len({rank(cycle, priority, 3) for priority in result}) == len(result), "static priorities never tie"
    return result[:-1]


@given(lengths, st.integers(0, 400) | st.integers(1 << 39, 1 << 45))
def test_the_order_is_that_of_the_twin(lengths, cycle):
    policy, levels = PriorityWindows(lengths=lengths), len(lengths)
    assert order(policy, cycle, levels) == windows_order(lengths, cycle, levels)
    assert list(policy.order(cycle)) == windows_order(lengths, cycle, levels)


@given(st.integers(1, 8), st.integers(1, 9), st.integers(0, 1000))
def test_default_lengths_are_in_proportion_to_the_priorities(levels, shortest, cycle):
    """E8: S, S - 1, ..., 1."""
    twin = windows_order([shortest * n for n in range(levels, 0, -1)], cycle, levels)
    assert order(PriorityWindows(shortest=shortest), cycle, levels) == twin


@given(lengths, st.integers(1, 8), st.integers(0, 200))
def test_a_level_without_a_window_is_never_raised(lengths, levels, cycle):
    """E8: with `unmatched`, windows and priorities may differ in number."""
    policy = PriorityWindows(lengths=lengths, unmatched=True)
    assert order(policy, cycle, levels) == windows_order(lengths, cycle, levels)


@given(lengths, st.integers(1, 8), st.integers(0, 200))
def test_an_order_never_changes_before_it_is_said_to(lengths, levels, cycle):
    policy = PriorityWindows(lengths=lengths, unmatched=True)
    pairs = [(priority, 0) for priority in range(1, levels + 2)]
    change, promise = change_and_promise(policy, levels, pairs, cycle)
    assert promise > cycle
    assert change is None or promise <= change
    if 1 < len(lengths) <= levels:
        assert promise == change, "windows that all raise somebody end with a change"
    if len(lengths) == 1 or levels == 1:
        assert (change, promise) == (None, FOR_EVER)


def test_refuses_windows_that_grow_unless_that_is_asked_for():
    """R17: decreasing lengths."""
    with pytest.raises(InputError) as refused:
        PriorityWindows(lengths=(1, 4, 2))
    assert str(refused.value) == (
        "priority_windows.lengths must not increase from one window to the next (or set increasing). "
        "Got (1, 4, 2). Nearest: (4, 2, 1)."
    )
    assert PriorityWindows(lengths=(1, 4, 2), increasing=True).order(cycle=1) == (2, 1, 3)
    assert PriorityWindows(lengths=(2, 2)).order(cycle=2) == (2, 1)


@pytest.mark.parametrize(("levels", "nearest"), [(2, (8, 4)), (3, (8, 4, 2)), (6, (8, 4, 2, 1, 1, 1))])
def test_refuses_windows_that_do_not_match_the_priorities(levels, nearest):
    """E8: Y = S by default."""
    with pytest.raises(InputError) as refused:
        PriorityWindows(lengths=(8, 4, 2, 1)).check_levels(levels, "policy.priority.priority_windows", "a.yaml")
    assert str(refused.value) == (
        "a.yaml: policy.priority.priority_windows.lengths must hold one number for each of the "
        f"{levels} priorities (or set unmatched). Got (8, 4, 2, 1). Nearest: {nearest}."
    )
    PriorityWindows(lengths=nearest).check_levels(levels)
    PriorityWindows(lengths=(8, 4, 2, 1), unmatched=True).check_levels(levels)
    PriorityWindows().check_levels(levels)


def test_a_window_has_at_least_one_cycle():
    with pytest.raises(InputError, match=r"^priority_windows\.lengths\[1\] must be .* at least|from 1"):
        PriorityWindows(lengths=(4, 0))
