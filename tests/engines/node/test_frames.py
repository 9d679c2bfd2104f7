"""The frame map beside the twin's, whole scripts of driver calls by chance (spec 6, R10, R19)."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tests.oracles.node import frames as twin
from tests.slow import seeds
from workbench.compiled.memory_access import Referent, call, entry_of
from workbench.engines.kit.faults import STOP
from workbench.engines.node.frames import (
    FRAME_FAULT,
    FREE,
    UNUSED,
    FrameMap,
    frame_of,
    give,
    longest_run,
    new_frames,
    run_length,
    take,
)
from workbench.policies.pool import Frames, Longest, Lowest
from workbench.policies.pool.frames import FramesView

pytestmark = pytest.mark.node

POLICIES = [Lowest(), Longest()]
PLAIN = {"lowest": twin.lowest, "longest": twin.longest}


def free_runs(frames: FrameMap, card: int) -> list[tuple[int, int]]:
    count = frames.counts[card, FREE]
    return list(zip(frames.start[card, :count].tolist(), frames.length[card, :count].tolist(), strict=True))


def runs_of(frames: FrameMap, card: int, address: int, count: int) -> list[tuple[int, int]]:
    """Return the runs of frames behind addresses."""
    end, runs = address + count, list[tuple[int, int]]()
    while address < end:
        length = run_length(frames, card, address, end)
        runs.append((frame_of(frames, card, address), length))
        address += length
    return runs


def joined(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return runs with those joined that follow each other without a gap."""
    result = runs[:1]
    for start, length in runs[1:]:
        before, many = result[-1]
        result[-1:] = [(before, many + length)] if before + many == start else [result[-1], (start, length)]
    return result


@pytest.mark.parametrize("policy", POLICIES, ids=lambda it: it.name)
@pytest.mark.parametrize("seed", seeds(3, 17))
def test_frames_are_those_of_the_twin(seed: int, policy: Frames) -> None:
    """Allocations of two cards until these are full, frees, and looks at parts of what is held."""
    random, granules = Random(seed), Random(seed).choice([40, 600])
    frames = new_frames(np.array([granules * 4096 + 5, granules * 4096]), 4096, policy, 400)
    twins = [twin.Frames(granules, PLAIN[policy.name]) for _ in range(2)]
    lent = Referent(frames)
    taking, giving = entry_of(take, lent), entry_of(give, lent)
    held: list[tuple[int, int, int, list[tuple[int, int]]]] = []
    for address in range(0, 200_000, 1000):
        card, count = random.randrange(2), random.choice([1, 2, 7, 30])
        if count <= twins[card].free_granules:
            expected = twins[card].take(count)
            assert call(*taking, (card, address, count)) == 0
            held.append((card, address, count, expected))
            offset = random.randrange(count)
            some = random.randint(1, count - offset)
            assert runs_of(frames, card, address + offset, some) == joined(twin.part_of(expected, offset, some))
        if held and (random.random() < 0.45 or count > twins[card].free_granules):
            card, address, count, expected = held.pop(random.randrange(len(held)))
            assert call(*giving, (card, address, count)) == count
            twins[card].give(expected)
        for number, one in enumerate(twins):
            assert free_runs(frames, number) == one.free
            assert frames.counts[number, UNUSED] == one.free_granules
            assert longest_run(frames, number) == max((length for _, length in one.free), default=0)


def test_parts_of_an_allocation_go_back_alone() -> None:
    """As pages of a segment do that shrinks: the middle first."""
    frames = new_frames(np.array([10]), 1, Lowest(), 8)
    take(frames, 0, 100, 10)
    give(frames, 0, 103, 4)
    assert free_runs(frames, 0) == [(3, 4)]
    assert runs_of(frames, 0, 107, 3) == [(7, 3)]
    take(frames, 0, 103, 2)
    give(frames, 0, 102, 3)
    assert free_runs(frames, 0) == [(2, 5)]
    give(frames, 0, 107, 3)
    give(frames, 0, 100, 2)
    assert free_runs(frames, 0) == [(0, 10)]


class InTheMiddle(Frames):
    """Take from the middle of the first free run, where nobody else does."""

    @staticmethod
    def answer(see: FramesView) -> int:
        return see.start[0] + see.length[0] // 2


def test_a_policy_may_begin_within_a_run() -> None:
    frames = new_frames(np.array([10]), 1, InTheMiddle(), 8)
    take(frames, 0, 0, 7)
    assert runs_of(frames, 0, 0, 7) == [(5, 5), (2, 2)]
    assert free_runs(frames, 0) == [(0, 2), (4, 1)]


class NotFree(Frames):
    """Answer a granule behind the card's memory."""

    @staticmethod
    def answer(see: FramesView) -> int:
        return see.start[0] + see.length[0]


class Raises(Frames):
    """Divide by what has been taken: nothing."""

    @staticmethod
    def answer(see: FramesView) -> int:
        return see.need // see.taken


@pytest.mark.parametrize(
    ("policy", "fault"), [(NotFree(), FRAME_FAULT.frames_wrong), (Raises(), FRAME_FAULT.frames_raised)]
)
def test_what_a_policy_does_wrong_stops_the_run(policy: Frames, fault: int) -> None:
    frames = new_frames(np.array([10]), 1, policy, 8)
    assert take(frames, 0, 0, 7) == frames.counters[STOP.fault] == fault
