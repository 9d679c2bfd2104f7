"""Every shipped sweep and study runs, and draws the figures that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from tests.public_traces import NAMED, needs_public_traces
from workbench.figures import draw_all
from workbench.strict_yaml import read_mapping

ROOT = Path(__file__).parent.parent.parent
FEW = {"saltelli": {"base": 4}, "morris": {"trajectories": 2}}
"""Designs are drawn small: that a sweep runs is shown by few of its points."""
SWEEPS = sorted(path for path in (ROOT / "sweeps").glob("*/*.yaml") if path.parent.name != "tune")
STUDIES = sorted((ROOT / "sweeps" / "tune").glob("*.yaml"))


def case(path: Path):
    real = "trace" in (read_mapping(path)["workload"] if isinstance(read_mapping(path)["workload"], dict) else {})
    return pytest.param(path, id=f"{path.parent.name}-{path.stem}", marks=[needs_public_traces] if real else [])


def seeds(path: Path) -> int:
    """Two, or one where every seed of a recorded workload is the same run."""
    return 1 if read_mapping(path)["seeds"] == 1 else 2


def small(path: Path):
    designs = read_mapping(path).get("design", {})
    return {f"design.{name}.{lever}": value for name in designs for lever, value in FEW[name].items()}


def test_there_are_sweeps_and_studies():
    assert len(SWEEPS) >= 6
    assert STUDIES


@pytest.mark.parametrize("path", [case(path) for path in SWEEPS])
def test_sweep(path, tmp_path, monkeypatch):
    if NAMED:
        monkeypatch.setenv("WORKBENCH_TRACES", NAMED)
    results = wb.run(path, tmp_path / "r", set=small(path), seeds=seeds(path), workers=1)
    assert not results.failures
    assert results.plan.sweep.said["question"].endswith("?")
    drawn = draw_all(results, tmp_path / "figures")
    assert {p.stem for p in drawn} == set(results.plan.sweep.figures)
    assert all(p.stat().st_size > 500 for p in drawn if p.suffix != ".csv")


@pytest.mark.parametrize("path", [case(path) for path in STUDIES])
def test_study(path, tmp_path, monkeypatch):
    if NAMED:
        monkeypatch.setenv("WORKBENCH_TRACES", NAMED)
    found = wb.tune(path, tmp_path / "r", trials=4, workers=1, set={"seeds": 2, "holdout_seeds": 3})
    assert len(found.trials) == 4
    assert found.pareto["best"].any()
