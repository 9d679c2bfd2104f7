"""A built-in answer is watched when that is asked for alone; logs get the room that they need."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.engines.kit.simulator import with_room
from workbench.engines.shared_memory import SharedMemory


@pytest.mark.parametrize("asked", [True, False])
def test_a_built_in_answer_is_watched_when_asked_for_alone(asked):
    seen = []

    class Watching(SharedMemory):
        def begin(self, run, attempt):
            seen.append(attempt.checked)
            return super().begin(run, attempt._replace(checked=False))

    (point,) = wb.plan({"engine": "shared_memory", "workload": "large_uniform"}).points
    Watching().simulate(point.setup, 1, checked=asked)
    assert seen == [asked]


@pytest.mark.parametrize(("takes", "failures"), [(0, 0), (3, 0), (0, 2), (3, 2)])
def test_a_run_is_played_again_with_exactly_the_room_that_its_logs_need(takes, failures):
    played = []

    def play(sizes):
        played.append(tuple(sizes.values()))
        return ["take"] * min(sizes["takes"], takes), ["failure"] * min(sizes["failures"], failures)

    counted = {"takes": takes, "failures": failures}
    result = with_room(play, lambda played, sizes: counted, {"takes": 0, "failures": 0})
    assert result == (["take"] * takes, ["failure"] * failures)
    assert played == [(0, 0), (takes, failures)][: 1 + bool(takes + failures)]


def test_a_run_is_played_with_twice_the_room_until_it_suffices():
    played = []

    def needed(moves, sizes):
        return {"moves": 2 * sizes["moves"]} if moves < 9 else sizes

    assert with_room(lambda sizes: played.append(sizes["moves"]) or min(sizes["moves"], 9), needed, {"moves": 2}) == 9
    assert played == [2, 4, 8, 16]
