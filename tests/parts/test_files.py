"""Parts in a file are named `FILE.py:NAME` wherever their name may stand, and listed by the commands."""

from __future__ import annotations

import json

import pytest

import workbench as wb
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.figures.registry import FIGURES
from workbench.workloads.workload import Generator

PARTS = '''
from typing import NamedTuple

import numpy as np

import workbench as wb
from workbench.figures.registry import ANY, Recipe
from workbench.levers import lever
from workbench.statistics import fact
from workbench.workloads.workload import Workgroups


class FiledLoad(wb.Generator):
    """Requests of one segment each."""

    count: int = lever(30, least=1, most=1000, description="how many there are")

    def workgroups(self, machine, streams):
        ones = np.ones(self.count, np.int64)
        return Workgroups(ones * 0, ones, ones * 5 + streams["durations"].integers(0, 4, self.count))


class Means(NamedTuple):
    mean: list

    def columns(self):
        return self._asdict()


def means(runs):
    return Means([float(np.mean([*runs.values(point, "drain_cycles").values()])) for point in runs.points])


def draw(data):
    from workbench.figures import plot_style

    figure, (axes,) = plot_style.stacked(1, 1.4)
    axes.plot(data.mean)
    return figure


Recipe("filed_means", ANY, "The mean of each point.", means, draw)
wb.add_claim(wb.Claim("F1", "one is one", "a file", lambda evidence: [fact("always", "one is one", True)]))
wb.add_dashboard("filed_page", lambda: "a page")
'''


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(PARTS)
    yield tmp_path / "mine.py"
    for kind, name in (
        ("generator", "filed_load"),
        ("figure", "filed_means"),
        ("claim", "F1"),
        ("dashboard", "filed_page"),
    ):
        try:
            wb.remove(kind, name)
        except InputError:
            continue


SWEEP = {
    "engine": "shared_memory",
    "workload": {"synthetic": "mine.py:FiledLoad", "count": {"vary": [10, 20]}},
    "seeds": 2,
    "measures": ["drain_cycles"],
    "figures": ["mine.py:filed_means"],
}


@pytest.mark.slow
def test_a_generator_and_a_figure_run_from_the_command_line_in_workers_too(file, capsys):
    (file.parent / "mine.yaml").write_text(json.dumps(SWEEP))
    assert main(["run", "mine.yaml", "--out", "out", "--workers", "2"]) == 0, capsys.readouterr().err
    results = wb.open_results("out")
    assert results.table["workload.count"].tolist() == [10, 20, 10, 20]
    assert (file.parent / "out" / "figures" / "filed_means.csv").read_text().startswith("mean\n")
    kept = (file.parent / "out" / "sweep.yaml").read_text()
    assert f"{file}:FiledLoad" in kept and f"{file}:filed_means" in kept


def test_a_workload_may_be_its_name_alone():
    assert len(wb.run({**SWEEP, "workload": "mine.py:FiledLoad"}).rows) == 2


def test_a_lever_of_one_in_a_file_may_be_a_range():
    ranged = {**SWEEP["workload"], "count": {"vary": {"from": 10, "to": 100}}}
    plan = wb.plan({**SWEEP, "workload": ranged, "design": {"latin_hypercube": {"points": 4}}})
    assert len(plan.points) == 4 and all(10 <= point.setup.workload.count <= 100 for point in plan.points)


def test_an_edited_generator_gives_other_runs(file):
    before = wb.run(SWEEP)
    file.write_text(PARTS.replace("ones * 5", "ones * 6"))
    after = wb.run(SWEEP)
    assert not before.rows.keys() & after.rows.keys()


@pytest.mark.slow
def test_a_bundle_brings_the_generator_along(tmp_path, file):
    bundle = wb.run(SWEEP).export(tmp_path / "paper")
    file.unlink()
    Generator.members.pop("filed_load")
    FIGURES.pop("filed_means")
    from workbench.export.verify import verify

    assert verify(bundle, sample=0).same


def test_a_claim_is_tested(capsys):
    assert wb.claims("mine.py:F1").table[["id", "holds"]].values.tolist() == [["F1", "yes"]]
    assert main(["claims", "mine.py:F1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["id"] == "F1"


def test_a_dashboard_is_made():
    assert wb.dashboard("mine.py:filed_page") == "a page"


@pytest.mark.parametrize(("command", "name"), [("figures", "filed_means"), ("workloads", "filed_load")])
def test_the_commands_list_those_of_a_file(command, name, capsys):
    assert main(["list", command, "mine.py", "--json"]) == 0
    (row,) = [row for row in json.loads(capsys.readouterr().out)[command] if row["name"] == name]
    assert row["built_in"] is False and row["description"].endswith(".")
    assert main(["list", command, "mine.py"]) == 0
    assert "yours)\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"workload": "mine.py:Filed"}, "unknown generator in mine.py 'Filed'; there are FiledLoad."),
        ({"workload": "its.py:Filed"}, "the generator file its.py does not exist"),
        ({"figures": ["its.py:filed"]}, "figures: the figure file its.py does not exist"),
        ({"figures": ["mine.py:filed"]}, "unknown figure 'filed'"),
        ({"engine": "malloc", "workload": "mine.py:FiledLoad", "measures": [], "figures": []}, "generator filed_load"),
    ],
)
def test_mistakes_are_one_sentence(asked, says):
    with pytest.raises(InputError) as refused:
        wb.run({**SWEEP, **asked})
    assert says in str(refused.value)


def test_commands_refuse_a_file_that_does_not_run(file, capsys):
    file.write_text("1 / 0\n")
    assert main(["list", "measures", "mine.py"]) == 2
    assert "mine.py does not run: ZeroDivisionError: division by zero" in capsys.readouterr().err
    assert main(["list", "figures", "no_such.py"]) == 2
    assert "the figure file no_such.py does not exist" in capsys.readouterr().err


@pytest.mark.slow
def test_two_claims_may_not_call_two_sweeps_by_one_name():
    wb.add_claim(wb.Claim("F1", "one", "a file", lambda e: [e.runs("mine", SWEEP), e.runs("mine", {})]))
    (one,) = wb.claims("F1").verdicts
    assert one.verdict == "failed" and "two claims call different sweeps 'mine'" in one.problem
