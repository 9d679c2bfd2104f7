"""Measures and figures of one's own in a bundle: their files go with it, and `verify` computes them again."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

import workbench as wb
from tests.export.small import SWEEP, runs
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.export.manifest import read_manifest
from workbench.export.verify import verify
from workbench.figures.registry import FIGURES
from workbench.mechanisms.measures import measures_of

MEASURES = """
import workbench as wb
from scaled import scaled


@wb.measure(unit="segments", better="lower", description="the mean request, scaled")
def slack(record):
    return scaled(record.length.mean())
"""
FIGURE = """
from typing import NamedTuple

import numpy as np

from workbench.figures.registry import ANY, Recipe, on_paper


class Slack(NamedTuple):
    names: list
    mean: np.ndarray

    def columns(self):
        return self._asdict()


def slack_data(runs):
    means = [np.mean([*runs.values(point, "slack").values()]) for point in runs.points]
    return Slack([runs.label(point) for point in runs.points], np.array(means))


@on_paper
def draw(data):
    from workbench.figures import plot_style

    figure, (axes,) = plot_style.stacked(1, 1.4)
    axes.barh(range(len(data.names)), data.mean)
    return figure


Recipe("slack_bars", ANY, "The mean slack of every point.", slack_data, draw)
"""


@pytest.fixture(autouse=True)
def _nothing_stays():
    yield
    measures_of("shared_memory").clear()
    FIGURES.pop("slack_bars", None)


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    """A bundle of a sweep that names a measure and a figure in files, far from these files."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "mine.py").write_text(MEASURES)
    (folder / "scaled.py").write_text("def scaled(value):\n    return 2 * value\n")
    (folder / "drawn.py").write_text(FIGURE)
    result = runs(measures=["drain_cycles", "mine.py:slack"], figures=["drawn.py:slack_bars"])
    result.export(tmp_path / "paper")
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(folder)
    return tmp_path / "paper"


@pytest.mark.slow
def test_the_bundle_alone_is_enough_in_another_process(bundle):
    assert {path.name for path in (bundle / "inputs").iterdir()} == {"mine.py", "scaled.py", "drawn.py"}
    assert (bundle / "figures" / "slack_bars.csv").is_file() and (bundle / "tables" / "slack.tex").is_file()
    assert read_manifest(bundle)["needs"] == []
    command = [sys.executable, "-m", "workbench", "verify", str(bundle), "--runs", "all"]
    reply = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert reply.returncode == 0, reply.stdout + reply.stderr
    assert "24 of 24 runs done again gave the same bits" in reply.stdout


@pytest.mark.slow
def test_an_edited_measure_is_found_in_every_run(bundle):
    (bundle / "inputs" / "scaled.py").write_text("def scaled(value):\n    return 3 * value\n")
    assert main(["trust", str(bundle), "--yes"]) == 0
    report = verify(bundle, sample=0, figures=False)
    assert len(report.differences) == 24 and all(one.what.startswith("slack was ") for one in report.differences)
    assert report.edited == ["inputs/scaled.py"]


@pytest.mark.slow
def test_an_edited_figure_is_found_in_its_numbers(bundle):
    file = bundle / "inputs" / "drawn.py"
    file.write_text(file.read_text().replace("np.mean(", "np.max("))
    assert main(["trust", str(bundle), "--yes"]) == 0
    report = verify(bundle, sample=1)
    assert "figures/slack_bars.csv" in {one.file for one in report.changes}


def mean_of(record):
    return record.length.mean()


@pytest.mark.slow
def test_one_that_no_file_brings_along_is_named_with_its_text_and_its_numbers_are_still_computed(tmp_path):
    wb.add_measure("shared_memory", wb.measure(unit="segments", better="lower")(mean_of))
    bundle = runs(measures=["drain_cycles", "mean_of"]).export(tmp_path / "paper")
    (need,) = read_manifest(bundle)["needs"]
    assert need.startswith("mean_of is computed by what the module tests.export.test_own_parts defines and the bundle ")
    assert "(its text: inputs/mean_of.source.txt)" in need
    assert "return record.length.mean()" in (bundle / "inputs" / "mean_of.source.txt").read_text()
    assert verify(bundle, sample=0).same
    wb.remove("measure", "mean_of")
    report = verify(bundle, sample=2)
    assert [one.what for one in report.differences] == ["mean_of is not measured any more"] * 2
    assert report.changes == []
    (bundle / "tables" / "mean_of.tex").write_text("1.0")
    assert "tables/mean_of.tex" in {one.file for one in verify(bundle, sample=1).changes}


@pytest.mark.slow
def test_a_figure_that_no_file_brings_along_is_compared_by_digest_where_it_is_not_defined(tmp_path, monkeypatch):
    wb.add_measure("shared_memory", wb.measure(unit="segments", better="lower")(mean_of))
    exec(FIGURE.replace('"slack"', '"mean_of"'), {"__name__": "a_cell"})
    bundle = runs(measures=["mean_of"], figures=["slack_bars"]).export(tmp_path / "paper")
    needs = read_manifest(bundle)["needs"]
    assert any(one.startswith("slack_data is computed by what the module a_cell defines") for one in needs)
    assert verify(bundle, sample=1).same
    wb.remove("figure", "slack_bars")
    report = verify(bundle, sample=1)
    assert report.same
    why = "it is drawn by a figure of the user's that is not defined here"
    assert report.by_digest["figures/slack_bars.csv"] == report.by_digest["figures/slack_bars.pdf"] == why


def test_a_file_that_was_edited_since_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MEASURES)
    (tmp_path / "scaled.py").write_text("def scaled(value):\n    return 2 * value\n")
    results = wb.run({**SWEEP, "machine": {"segments": 64}, "seeds": 2, "measures": ["mine.py:slack"]})
    (tmp_path / "mine.py").write_text(MEASURES + "\n# a note\n")
    results.export(tmp_path / "noted")
    (tmp_path / "mine.py").write_text(MEASURES.replace("mean()", "max()"))
    with pytest.raises(InputError, match=r"mine.py: was edited since these runs were computed"):
        results.export(tmp_path / "paper")
