"""A report on claims is a hundred short sweeps: together they are worth workers, and they share their parts."""

import sys

import pytest

from workbench.claims import claim, claims, placement
from workbench.claims.claim import Evidence
from workbench.experiments.runner import WORTH_SECONDS

SWEEP = {"engine": "shared_memory", "workload": {"synthetic": "random_workgroups", "count": 20}}


@pytest.mark.parametrize(("asked", "expected"), [(None, [None, None, claim.cores()]), (1, [1, 1, 1])])
def test_workers_start_once_all_sweeps_together_take_long(monkeypatch, asked, expected):
    """What is asked for stays: 1 is one process however long it takes."""
    given = []

    def run_plan(plan, store, workers, progress, stop):
        given.append(workers)
        return 0.6 * WORTH_SECONDS

    monkeypatch.setattr(claim, "run_plan", run_plan)
    runs = Evidence(2, None, asked, None)
    for name in ("first", "second", "third"):
        runs.runs(name, SWEEP)
    assert given == expected


def test_more_seeds_in_a_kept_folder_answer_for_the_first_look(tmp_path):
    """Whoever adds seeds until a claim holds has looked more than once, which 0.5 did not count here."""
    sweep = {**SWEEP, "policy": {"placement": {"vary": ["first_fit", "best_fit"]}}, "measures": ["drain_cycles"]}
    planned = [Evidence(seeds, tmp_path, 0, None).runs("kept", sweep).plan.sweep.planned for seeds in (3, 5)]
    assert planned == [3, 3]


@pytest.mark.slow
def test_what_sweeps_share_is_digested_once_a_report(monkeypatch):
    """The generators, laws and policies of one sweep are those of the next."""
    monkeypatch.setitem(placement.LEVERS, "count", 20)
    room, taken = sys.modules["workbench.identity.snapshot"], []
    take = room.Snapshot

    def counted(walk, *things):
        taken.append(things)
        return take(walk, *things)

    monkeypatch.setattr(room, "Snapshot", counted)
    numbers = []
    for ids in ["H1.2"], ["H1.7"], ["H1.2", "H1.7"]:
        for known in (taken, room._walked, room._current):
            known.clear()
        claims(ids, seeds=1, workers=0)
        numbers.append(len(taken))
    first, second, both = numbers
    assert 0 < both < 0.75 * (first + second)
