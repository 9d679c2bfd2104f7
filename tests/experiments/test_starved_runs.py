"""Starved runs (spec 3): failures with a mark of their own, by which statistics can rank them worst."""

import json
import pickle

import pytest
import yaml

import workbench as wb
from tests.experiments.stores import rows_of
from workbench.cli.main import main
from workbench.errors import PolicyError, StarvedError
from workbench.runs.faults import is_starved

POLICIES = '''
from workbench.policies.placement import Placement


class Never(Placement):
    """Refuse everything."""

    def answer(see):
        return -1
'''
STARVED = "never refuses for ever: nothing is left that could be released; at workgroup 0 "


@pytest.fixture
def sweep(tmp_path):
    (tmp_path / "mine.py").write_text(POLICIES)
    return {
        "engine": "shared_memory",
        "workload": {"regime": "large_uniform", "count": 5},
        "policy": {"placement": {"vary": ["first_fit", f"{tmp_path}/mine.py:Never"]}},
        "baseline": {"placement": "first_fit"},
        "seeds": [3, 8],
        "measures": ["drain_cycles"],
    }


@pytest.mark.parametrize(
    "pool",
    [
        {"workers": 0},
        {"workers": 1},
        *(pytest.param(one, marks=pytest.mark.slow) for one in ({"workers": 2}, {"executor": "local:2"})),
    ],
    ids=str,
)
def test_a_starved_run_is_a_failure_with_a_mark_of_its_own(sweep, tmp_path, pool):
    results = wb.run(sweep, tmp_path / "r", **pool)
    opened = wb.open_results(tmp_path / "r")
    for runs in (results, opened):
        first_fit, never = runs.points
        assert (runs.starved(first_fit), runs.starved(never)) == (set(), {3, 8})
        assert {row.status for row in runs.failures} == {"starved"}
        assert all(row.error.startswith(STARVED) for row in runs.failures)
        assert runs.values(never, "drain_cycles") == {}
        assert sorted(runs.table["status"]) == ["done", "done", "starved", "starved"]


def test_it_is_tried_again_as_a_failure_is(sweep, tmp_path):
    wb.run(sweep, tmp_path / "r", workers=0)
    before = {row.id: row.seconds for row in rows_of(tmp_path / "r") if row.status == "starved"}
    again = wb.run(sweep, tmp_path / "r", workers=0)
    assert len(before) == 2 and all(again.rows[run].seconds != seconds for run, seconds in before.items())


def test_a_row_of_before_that_failed_so_is_a_failure_until_it_is_tried_again(sweep, tmp_path):
    runs = wb.run(sweep, tmp_path / "r", workers=0)
    for row in runs.failures:
        runs.rows[row.id] = row._replace(status="failed")
    assert len(runs.failures) == 2 and not runs.starved(runs.points[1])


def test_the_command_counts_it_as_failed(sweep, tmp_path, capsys):
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(sweep))
    assert main(["run", str(tmp_path / "s.yaml"), "--out", str(tmp_path / "r"), "--json", "--workers", "0"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert [one["error"].startswith(STARVED) for one in printed["failed"]] == [True, True]


def test_a_user_who_raises_it_is_a_failure():
    scope = {"StarvedError": StarvedError}
    with pytest.raises(StarvedError) as raised:
        exec(compile("raise StarvedError('it says so.')", "/home/me/mine.py", "exec"), scope)
    assert not is_starved(raised.value)


def test_it_is_a_policy_error_that_other_processes_get():
    error = pickle.loads(pickle.dumps(StarvedError("it refuses for ever.")))
    assert type(error) is StarvedError and isinstance(error, PolicyError) and str(error) == "it refuses for ever."
