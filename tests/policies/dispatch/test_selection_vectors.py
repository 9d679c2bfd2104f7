"""The specification's examples of selection, priority and stuck groups by number: V25-V30 (spec 3, section 4)."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from workbench.policies.dispatch import Head, PriorityWindows, ServedMarks, SplitWhenStuck
from workbench.policies.dispatch.selection import SelectionStepper

WINDOWS = PriorityWindows(lengths=(8, 4, 2, 1))


def marked(rounds: SelectionStepper, priority: int = 1) -> set[int]:
    """The channels with a mark for a priority: one row a channel behind the generator and the width."""
    marks = rounds.memory[2:].reshape(rounds.channels, rounds.levels + 1)
    return set(np.flatnonzero(marks[:, priority - 1]).tolist())


def test_v25_marks_round_by_round():
    rounds = ServedMarks(pick="lowest").rounds(channels=3, levels=1)
    candidates = [{0, 1, 2}] * 4 + [{0, 1}, {1, 2}, {0, 2}]
    rows = [(rounds.pick(*sorted(these)), marked(rounds)) for these in candidates]
    assert [pick for pick, _ in rows] == [0, 1, 2, 0, 1, 2, 0]
    assert [marks for _, marks in rows] == [{0}, {0, 1}, {0, 1, 2}, {0}, {0, 1}, {0, 1, 2}, {0, 1}]


@pytest.mark.parametrize(("scope", "marks"), [("candidates", {0, 2}), ("all_channels", {0})])
def test_v26_whose_marks_are_cleared(scope, marks):
    rounds = ServedMarks(pick="lowest", clear_scope=scope).rounds(channels=3)
    for _ in range(3):
        rounds.pick(0, 1, 2)
    assert marked(rounds) == {0, 1, 2}
    assert rounds.pick(0, 1) == 0
    assert marked(rounds) == marks


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["candidates", "all_channels"])
@pytest.mark.parametrize("channels", [2, 3, 4, pytest.param(8, marks=pytest.mark.slow)])
def test_v27_each_aligned_block_is_a_permutation_and_the_gap_is_bounded(channels, scope):
    largest = 0
    for seed in range(30):
        rounds = ServedMarks(clear_scope=scope).rounds(channels, seed=seed)
        picks = [rounds.pick(*range(channels)) for _ in range(60 * channels)]
        blocks = [picks[k : k + channels] for k in range(0, len(picks), channels)]
        assert all(sorted(block) == list(range(channels)) for block in blocks)
        gaps = [np.diff([k for k, pick in enumerate(picks) if pick == c]) for c in range(channels)]
        largest = max(largest, int(np.concatenate(gaps).max()))
    assert largest == 2 * channels - 1, "no gap is larger, and chance finds one that is as large"


@pytest.mark.parametrize(
    ("cycles", "order"),
    [
        ((0, 7), (1, 2, 3, 4)),
        ((8, 11), (2, 1, 3, 4)),
        ((12, 13), (3, 1, 2, 4)),
        ((14,), (4, 1, 2, 3)),
        ((15,), (1, 2, 3, 4)),
    ],
)
def test_v28_the_order_in_each_window(cycles, order):
    assert {WINDOWS.order(cycle=cycle) for cycle in cycles} == {order}


def test_v29_shares_of_the_time_on_top_and_the_longest_times_off_it():
    tops = [WINDOWS.order(cycle=cycle)[0] for cycle in range(30)]
    shares = [Fraction(tops[:15].count(priority), 15) for priority in (1, 2, 3, 4)]
    assert shares == [Fraction(8, 15), Fraction(4, 15), Fraction(2, 15), Fraction(1, 15)]
    assert [longest_without(priority, tops) for priority in (1, 2, 3, 4)] == [7, 11, 13, 14]


def longest_without(priority: int, tops: list[int]) -> int:
    at = [cycle for cycle, top in enumerate(tops) if top == priority]
    return max(later - earlier - 1 for earlier, later in pairwise(at))


def test_v30_the_257th_failed_round_triggers_the_split():
    """With g = 0 at first and all rounds failing, g is the number of failed rounds: it reaches 257 in the 257th."""
    policy = SplitWhenStuck(threshold=256)
    assert next(g for g in range(1, 1000) if g > policy.patience()) == 257 == policy.rounds_until_asked(at=0)
    assert policy.rounds_until_asked(at=250) == 7


def test_the_windows_drive_the_selection():
    """R19: the current order decides among the heads that fit."""
    rounds, heads = ServedMarks().rounds(channels=2), ((0, 1), (1, 2))
    for cycle, expected in ((7, 0), (8, 1), (11, 1), (12, 0)):
        ranks = WINDOWS.ranks([priority for _, priority in heads], levels=4, cycle=cycle)
        requests = [Head(channel, priority, rank=rank) for (channel, priority), rank in zip(heads, ranks, strict=True)]
        assert rounds.pick(*requests) == expected
