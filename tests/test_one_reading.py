"""A sweep is read and planned once: `workbench.plan` returns a plan, and what runs takes it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO

import pytest
import yaml

import workbench as wb
from workbench.cli.main import main
from workbench.errors import InputError, PolicyError

SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 20},
    "policy": {"placement": {"vary": ["first_fit", "best_fit"]}},
    "baseline": {"placement": "first_fit"},
    "measures": ["drain_cycles"],
    "seeds": 3,
}
RANGES = {**SWEEP["workload"], "count": {"vary": {"from": 20, "to": 90}}}
RANGE = {**SWEEP, "workload": RANGES, "policy": {"placement": "best_fit"}, "seeds": 1}


def command(*words):
    with redirect_stdout(StringIO()) as printed:
        assert main([str(word) for word in words]) == 0
    return printed.getvalue()


def test_a_plan_gives_the_runs_of_its_sweep():
    plan = wb.plan(SWEEP, set={"machine.segments": 64})
    assert repr(plan) == "Plan(2 points x 3 seeds = 6 runs)"
    results, other = wb.run(plan, workers=0), wb.run(SWEEP, set={"machine.segments": 64}, workers=0)
    assert results.table.equals(other.table) and list(results.table["run_id"]) == plan.ids
    with wb.step(plan, 1, point=1) as steps:
        assert steps.next() is not None


def test_a_plan_is_run_into_a_folder_and_goes_on_there(tmp_path):
    plan = wb.plan(SWEEP)
    first, again = (wb.run(plan, tmp_path / "kept", workers=0).table for _ in range(2))
    assert first.equals(again) and wb.open_results(tmp_path / "kept").table.equals(first)


@pytest.mark.parametrize("late", [{"set": {"machine.segments": 64}}, {"seeds": 5}, {"shard": "1/2"}])
def test_what_belongs_to_a_plan_is_refused_beside_it(late, tmp_path):
    (name,) = late
    with pytest.raises(InputError, match=rf"^a plan has its levers, seeds and shard: give {name} to workbench\.plan"):
        wb.run(wb.plan(SWEEP), tmp_path / "kept", **late)
    assert not (tmp_path / "kept").exists()


FAR = 1


class FarEnd(wb.policies.Placement):
    """Take the first start, or none of a short queue."""

    def answer(see):
        return 0 if see.length <= see.segments * FAR else -1


def test_a_plan_is_refused_once_its_code_is_another(monkeypatch):
    plan = wb.plan({**SWEEP, "policy": {"placement": FarEnd()}, "seeds": 1})
    monkeypatch.setattr(f"{__name__}.FAR", 2)
    with pytest.raises(PolicyError, match=r"is not what it was when this run was planned; run the sweep again"):
        wb.run(plan, workers=0)


def test_the_command_reads_and_plans_its_sweep_once(readings, tmp_path):
    file = tmp_path / "small.yaml"
    file.write_text(yaml.safe_dump(SWEEP))
    printed = command("run", file, "--no-figures", "--workers", 0, "--out", tmp_path / "kept")
    assert printed.startswith("2 points x 3 seeds = 6 runs\n")
    assert readings == {"read": 1, "planned": 1}


def test_so_do_the_commands_that_explain(readings, tmp_path):
    file = tmp_path / "ranges.yaml"
    file.write_text(yaml.safe_dump({**RANGE, "design": {"latin_hypercube": {"points": 30}}}))
    command("explain", "discover", file, "--above", 0, "--workers", 0, "--out", tmp_path / "boxes", "--json")
    assert readings == {"read": 1, "planned": 1}
    file.write_text(yaml.safe_dump({**RANGE, "design": {"morris": {"trajectories": 4}}}))
    command("explain", "sensitivity", file, "--workers", 0, "--out", tmp_path / "levers", "--json")
    assert readings == {"read": 2, "planned": 2}


MODULES = """
import sys
from workbench.cli.main import main
status = main(sys.argv[1:])
rooms = ("figures", "tuning", "claims", "explain", "circuits", "export", "dashboards", "advice")
heavy = ("pandas", "matplotlib", "optuna", "scipy.stats", "scipy.optimize", "ipywidgets")
unneeded = (*heavy, *(f"workbench.{room}" for room in rooms))
imported = {".".join(name.split(".")[:2]) for name in sys.modules if name.startswith(unneeded)}
print(status, sorted(imported), "workbench.engines.shared_memory" in sys.modules)
"""


def test_a_run_without_figures_imports_nothing_that_draws_tunes_or_explains(tmp_path):
    """The names of figures are known by the manifests; pandas alone would take a sixth of a small sweep."""
    figures = ["drain_difference", "pareto", "layout_over_time"]
    file = tmp_path / "small.yaml"
    file.write_text(yaml.safe_dump({**SWEEP, "figures": figures}))
    words = ["run", str(file), "--no-figures", "--workers", "0", "--out", str(tmp_path / "kept")]
    reply = subprocess.run([sys.executable, "-c", MODULES, *words], capture_output=True, text=True, check=True)
    assert reply.stdout.splitlines()[-1] == "0 [] True"


def test_figures_are_checked_before_a_run_all_the_same(tmp_path):
    for name, message in {
        "drain_diference": "unknown figure 'drain_diference'; .* Did you mean drain_difference?",
        "dispatch_timeline": "unknown figure 'dispatch_timeline'",
        "probe_success": "probe_success is a figure of theory",
    }.items():
        with pytest.raises(InputError, match=message):
            wb.run({**SWEEP, "figures": [name]}, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
