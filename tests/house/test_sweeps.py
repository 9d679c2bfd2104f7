"""Every shipped sweep and study runs, and draws the figures that it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import workbench as wb
from tests.printed import texts_of, too_long
from tests.public_traces import NAMED, needs_public_traces
from tests.slow import LONG, thinned
from workbench.figures import draw_all, figure
from workbench.figures.figure_files import as_csv
from workbench.statistics import fewest_seeds
from workbench.statistics.sentences import blocks, fitted
from workbench.strict_yaml import read_mapping
from workbench.tuning import read_study

ROOT = Path(__file__).parent.parent.parent
FEW = {"saltelli": {"base": 4}, "morris": {"trajectories": 2}, "latin_hypercube": {"points": 20}}
"""Designs are drawn small: that a sweep runs is shown by few of its points."""
SWEEPS = sorted(path for path in (ROOT / "sweeps").rglob("*.yaml") if path.parent.name != "tune")
STUDIES = sorted((ROOT / "sweeps" / "tune").glob("*.yaml"))


NODE = re.compile(r"^engine:\s*node\b", re.MULTILINE)
"""Sweeps of the node are slow, because it takes a minute to compile."""
TRACE = re.compile(r"^workload:\s*\{?\s*trace:", re.MULTILINE)


def case(path: Path):
    """A parameter; the files are not read with care before their tests, for every worker comes by here."""
    text = path.read_text(encoding="utf-8")
    marks = [needs_public_traces] * bool(TRACE.search(text)) + [pytest.mark.slow] * bool(NODE.search(text))
    return pytest.param(path, id=f"{path.parent.name}-{path.stem}", marks=marks)


def seeds(path: Path) -> int:
    """Two, or one where every seed of a recorded workload is the same run."""
    return 1 if read_mapping(path)["seeds"] == 1 else 2


def small(path: Path):
    given = read_mapping(path)
    designs = given.get("design", {})
    return {f"design.{name}.{lever}": value for name in designs for lever, value in FEW[name].items()} | few_groups(
        given
    )


def few_groups(given):
    """Return what makes a run of a whole node short: it runs no faster than its groups."""
    short = given["engine"] == "node" and "vary" not in given["workload"]
    return {"workload.count": 2} if short else {}  # applications


def drawn_small(results, folder):
    """Every figure that the sweep names, laid out once; fonts, PDF and bytes are the business of tests/figures."""
    names = {name: folder / f"{name}.png" for name in results.plan.sweep.figures}
    for name, place in names.items():
        recipe = figure(name, results.plan.sweep.mechanism.engine.name)
        data = recipe.data(results)
        drawn = recipe.draw(data)
        drawn.savefig(place, format="png", dpi=40)
        assert too_long(texts_of(drawn)) == []
        assert len(as_csv(data.columns()).splitlines()) > 1
    return list(names.values())


def test_there_are_sweeps_and_studies():
    real = {path.stem for path in [*SWEEPS, *STUDIES] if "trace" in str(read_mapping(path)["workload"])}
    assert {path.stem for path in [*SWEEPS, *STUDIES] if TRACE.search(path.read_text(encoding="utf-8"))} == real
    assert len(SWEEPS) >= 6
    assert STUDIES


@pytest.mark.slow
@pytest.mark.parametrize("path", thinned([case(path) for path in SWEEPS], 45))
def test_sweep(path, tmp_path, monkeypatch):
    if NAMED:
        monkeypatch.setenv("WORKBENCH_TRACES", NAMED)
    results = wb.run(path, tmp_path / "r", set=small(path), seeds=seeds(path), workers=1)
    assert not results.failures
    assert too_long("\n".join([*results.sentences(), *results.notes, *fitted(blocks(results), 80)])) == []
    assert results.plan.sweep.config["question"].endswith("?")
    drawn = draw_all(results, tmp_path / "figures") if LONG else drawn_small(results, tmp_path)
    assert {p.stem for p in drawn} == set(results.plan.sweep.figures)
    assert all(p.stat().st_size > 500 for p in drawn if p.suffix != ".csv")


THREE = {
    "shared_memory": ["mean_external_fragmentation", "workgroups_per_kilocycle", "power_proxy_cv"],
    "dispatch": ["refused_by_fragmentation", "groups_per_kilocycle", "power_cv"],
    "malloc": ["fragmentation", "threads_per_kilocycle", "power_proxy_cv"],
    "translation": ["reach_wasted", "accesses_per_kilocycle", "power_proxy_cv"],
    "pool": ["fragmentation", "allocations_per_millisecond", "power_proxy_cv"],
    "node": ["fragmentation_shared", "groups_per_mcycle", "power_cv"],
}
"""Fragmentation, throughput and power balance of each engine with policies to tune."""


@pytest.mark.parametrize("engine", THREE)
def test_each_engine_has_a_study_of_fragmentation_throughput_and_power_balance(engine):
    study = read_study(ROOT / "sweeps" / "tune" / f"{engine}.yaml")
    assert study.sweep.mechanism.engine.name == engine
    assert [one.measure.name for one in study.objectives] == THREE[engine]
    assert [one.direction for one in study.objectives] == ["minimize", "maximize", "minimize"]
    balance = study.objectives[-1].measure
    assert balance.description.startswith("proxy for power balance, as no power is simulated: ") == (
        "proxy" in balance.name
    )
    assert len(study.holdout_seeds) >= fewest_seeds(1), "too few to tell what the front trades"


@pytest.mark.slow
@pytest.mark.parametrize("path", thinned([case(path) for path in STUDIES], 3))
def test_study(path, tmp_path, monkeypatch):
    if NAMED:
        monkeypatch.setenv("WORKBENCH_TRACES", NAMED)
    few = {"seeds": 2, "holdout_seeds": 3, "report_seeds": 3, **few_groups(read_mapping(path))}
    results = wb.tune(path, tmp_path / "r", trials=4, workers=1, set=few)
    assert len(results.trials) == 4
    assert results.pareto["best"].any()
    assert too_long("\n".join([*results.trades, *results.to_take])) == []
