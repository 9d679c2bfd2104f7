"""Runs seed by seed give what the runner gives, however they are sliced."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.dashboards.paired_runs import PairedRuns
from workbench.errors import InputError

SAID = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 50},
    "policy": {"placement": {"vary": ["first_fit", "best_fit"]}},
    "baseline": {"placement": "first_fit"},
    "seeds": 5,
}


def test_at_least_one_pair_is_run_however_little_time_there_is():
    runs = PairedRuns(SAID)
    for done in range(1, 6):
        result = runs.advance(0)
        assert (runs.n_done, runs.n_seeds) == (done, 5)
        assert [result.seeds, len(result.rows)] == [list(range(done)), 2 * done]


def test_all_are_run_where_there_is_time_and_no_more_after_that():
    runs = PairedRuns(SAID)
    assert len(runs.advance(60).rows) == 10
    assert len(runs.advance(60).rows) == 10


def test_the_rows_are_those_of_the_runner():
    runs = PairedRuns(SAID)
    runs.advance(0)
    ours, theirs = runs.advance(60), wb.run(SAID)
    assert ours.rows.keys() == theirs.rows.keys()
    assert all(ours.rows[run].measures == theirs.rows[run].measures for run in ours.rows)


def test_the_records_are_of_the_baseline_and_the_other_in_this_order():
    baseline, other = PairedRuns(SAID).records(3)
    table = wb.run({**SAID, "seeds": [3], "measures": ["drain_cycles"]}).table.set_index("policy.placement")
    assert table.drain_cycles["first_fit"] == baseline.release.max()
    assert table.drain_cycles["best_fit"] == other.release.max()


def test_one_policy_against_itself_is_one_point():
    runs = PairedRuns({**SAID, "policy": {"placement": {"vary": ["first_fit", "first_fit"]}}})
    assert runs.same
    assert runs.points[0] == runs.points[1]
    assert not PairedRuns(SAID).same


def test_a_mistake_is_refused_before_anything_runs():
    with pytest.raises(InputError, match="unknown placement policy 'first_fitt'"):
        PairedRuns({**SAID, "policy": {"placement": "first_fitt"}})
