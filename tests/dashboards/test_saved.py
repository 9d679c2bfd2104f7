"""A page opened with a sweep file, a results folder, the front of a study; a sweep saved from a page."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
import yaml

import workbench as wb
from tests.slow import thinned
from workbench.dashboards import _elements as elements
from workbench.dashboards import check_name
from workbench.dashboards._saved_sweep import read_saved
from workbench.dashboards._sidebar import Sidebar
from workbench.dashboards._sweep_points import SaveBox, saved_as, setting_of
from workbench.dashboards.paired_runs import PairedRuns
from workbench.errors import InputError, StoreError
from workbench.mechanisms.mechanism import mechanism

SWEEP = {
    "engine": "shared_memory",
    "machine": {"preset": "patent", "segments": 96},
    "workload": {"regime": "large_uniform", "count": 40, "size": {"uniform": [1, 32]}},
    "policy": {"placement": {"vary": ["first_fit", "best_fit", "last_fit"]}, "queue": {"fifo_lookahead": {"k": 2}}},
    "baseline": {"placement": "first_fit"},
    "seeds": 4,
    "measures": ["drain_cycles", "wear_gini"],
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(SWEEP))
    return path


def opened(path):
    made = wb.dashboard(str(path))
    points = made.opened.children[0].children
    return made, points[1], (points[2] if len(points) > 2 else None)


def test_a_sweep_file_is_shown_point_by_point(file):
    page, names, picture = opened(file)
    assert picture is None
    assert [label for label, _ in names.options] == ["best_fit", "last_fit"]
    config = page.sidebar.config()
    assert config["machine"]["segments"] == 96
    assert config["policy"]["queue"] == {"fifo_lookahead": {"k": 2}}
    assert config["seeds"] == 4
    assert page.histogram.scene["words"].startswith("best_fit against first_fit")
    names.value = 1
    assert page.histogram.scene["words"].startswith("last_fit against first_fit")
    summary = wb.run(SWEEP).summary().set_index(["measure", "policy.placement"])
    assert page.histogram.scene["mean"] == pytest.approx(summary.loc["drain_cycles", "last_fit"].mean_difference)
    page.tools.undo.click()
    assert page.histogram.scene["words"].startswith("best_fit against first_fit")
    page.close()


def test_results_show_what_came_out_and_a_click_loads_a_point(file, tmp_path):
    wb.run(str(file), tmp_path / "results")
    page, names, picture = opened(tmp_path / "results")
    assert [point["k"] for point in picture.scene["points"]] == [0, 1]
    assert "drain" in picture.scene["x"]
    picture._on_message(picture, {"what": "pick", "k": 1}, [])
    assert names.value == picture.scene["chosen"] == 1
    assert page.histogram.scene["words"].startswith("last_fit against first_fit")
    page.close()


def test_the_front_of_a_study_is_opened(tmp_path):
    study = {
        **{key: SWEEP[key] for key in ("engine", "workload", "baseline")},
        "seeds": 2,
        "policy": {"placement": {"tune": ["first_fit", "last_fit", "next_fit", "best_fit"]}},
        "objectives": ["drain_cycles", "wear_gini"],
        "sampler": {"random": {"seed": 1}},
        "trials": 6,
        "holdout_seeds": 3,
    }
    result = wb.tune(study, tmp_path / "tuned")
    page, names, _ = opened(tmp_path / "tuned")
    rows = zip(result.pareto["trial"], result.pareto["policy"], strict=True)
    against = {f"trial {number}: {name}" for number, name in rows if name != "first_fit"}
    assert {": ".join(label.split(": ")[:2]) for label, _ in names.options} == against
    assert "front of a study" in page.opened.children[0].children[0].value
    page.close()


@pytest.mark.parametrize("name", thinned(["malloc", "dispatch", "translation", "node", "pool"], 5))
def test_every_dashboard_opens_its_own_sweep(name, tmp_path):
    page = Sidebar(mechanism(name), importlib.import_module(f"workbench.dashboards._{name}").CONFIG)
    again = Sidebar(mechanism(name), importlib.import_module(f"workbench.dashboards._{name}").CONFIG)
    again.seeds.box.value = 2
    path = saved_as(str(tmp_path / f"{name}.yaml"), yaml.safe_dump(page.config(), sort_keys=False))
    saved = read_saved(str(path))
    again.show(setting_of(again, saved, saved.points[0]))
    assert [point.id for point in PairedRuns(again.config()).points] == [
        point.id for point in PairedRuns(page.config()).points
    ]


def test_what_is_no_sweep_is_a_sentence(file, tmp_path):
    with pytest.raises(InputError, match="is a study; tune it"):
        read_saved("sweeps/tune/placement.yaml")
    with pytest.raises(StoreError, match="is not a results folder"):
        check_name(str(tmp_path))
    file.write_text(yaml.safe_dump({**SWEEP, "engine": "shared"}))
    with pytest.raises(InputError, match="unknown engine 'shared'"):
        check_name(str(file))


def test_a_sweep_is_saved_once_and_never_over_another(tmp_path):
    path = saved_as(str(tmp_path / "a.yaml"), "engine: x\n")
    assert saved_as(str(path), "engine: x\n") == path
    with pytest.raises(InputError, match="holds something else"):
        saved_as(str(path), "engine: y\n")
    with pytest.raises(InputError, match=r"file must end with \.yaml\. Got 'a'"):
        saved_as("a", "")
    with pytest.raises(StoreError, match="there is no folder"):
        saved_as(str(tmp_path / "none" / "a.yaml"), "")


def test_a_name_that_is_markup_is_shown_letter_by_letter(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "<img src=x onerror=alert(1)>.yaml"
    path.write_text(yaml.safe_dump(SWEEP))
    page = wb.dashboard(path.name)
    title = page.opened.children[0].children[0].value
    assert "Opened: &lt;img src=x onerror=alert(1)&gt;.yaml." in title
    page.close()
    box = SaveBox("<b>mine</b>.yaml")
    box.save.click()
    assert box.words.value.count("&lt;b&gt;mine&lt;/b&gt;.yaml") == 2 or "mistake" in box.words.value
    assert "<b>" not in box.words.value


def test_every_text_gets_into_a_page_by_one_way():
    """Nobody but `elements` escapes, in one place, and nobody else writes its two kinds of sentences by hand."""
    for file in Path(elements.__file__).parent.rglob("*.py"):
        source = file.read_text()
        at_home = int(file.name == "_elements.py")
        assert [source.count(word) for word in ("html.escape", '"wb-fine"', '"wb-mistake"')] == [at_home] * 3, file
