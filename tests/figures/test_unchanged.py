"""A figure that would come out as it lies there is not drawn again; anything else that it shows draws it: counted."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

import workbench as wb
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.figures import _cache as cache
from workbench.figures import draw_all, draw_one, figure
from workbench.figures._cache import DRAWN
from workbench.figures.registry import FIGURES

SWEEP: dict[str, Any] = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 20},
    "policy": {"placement": {"vary": ["first_fit", "best_fit", {"nearest_boundary": {"tie": "high"}}]}},
    "machine": {"segments": {"vary": [64, 128]}},
    "baseline": {"placement": "first_fit"},
    "seeds": 2,
    "measures": ["drain_cycles"],
    "figures": ["pareto", "saving_by_policy"],
}


@pytest.fixture(scope="module")
def results():
    return wb.run({**SWEEP, "measures": ["drain_cycles", "mean_external_fragmentation"]}, workers=0)


@pytest.fixture
def draws(monkeypatch) -> list[str]:
    """The figures that are computed and drawn, in order."""
    drawn: list[str] = []
    for name in SWEEP["figures"]:
        monkeypatch.setitem(FIGURES, name, _counted(figure(name), drawn))
    return drawn


class Blank:
    """A sheet that costs nothing to draw."""

    def savefig(self, file: Any, format: str, metadata: Any) -> None:
        file.write(format.encode())


def _counted(recipe: Any, drawn: list[str]) -> Any:
    def draw(data: Any) -> Any:
        drawn.append(recipe.name)
        return Blank()

    draw.__module__ = recipe.data.__module__  # as that of the package: told apart by its sources
    counted = object.__new__(type(recipe))
    for field in dataclasses.fields(recipe):
        object.__setattr__(counted, field.name, getattr(recipe, field.name))
    object.__setattr__(counted, "draw", draw)
    return counted


def test_figures_of_unchanged_runs_are_drawn_once_and_named_again(results, draws, tmp_path):
    first = draw_all(results, tmp_path)
    assert draws == ["pareto", "saving_by_policy"]
    again = draw_all(results, tmp_path)
    assert len(draws) == 2
    assert sorted(first) == sorted(again)
    assert len(first) == 6


def test_a_file_that_was_removed_or_edited_is_drawn_again(results, draws, tmp_path):
    draw_all(results, tmp_path)
    (tmp_path / "pareto.png").unlink()
    draw_all(results, tmp_path)
    assert draws[2:] == ["pareto"]
    assert (tmp_path / "pareto.png").is_file()
    with open(tmp_path / "saving_by_policy.csv", "a") as file:
        file.write("mine\n")
    draw_all(results, tmp_path)
    assert draws[3:] == ["saving_by_policy"]
    assert "mine" not in (tmp_path / "saving_by_policy.csv").read_text()


@pytest.mark.parametrize("content", ["", "[]", '{"pareto": 3}', '{"pareto": {"shows": "x"}}'])
def test_notes_that_are_missing_or_of_somebody_else_draw_all_again(results, draws, tmp_path, content):
    draw_all(results, tmp_path)
    (tmp_path / DRAWN).write_text(content)
    draw_all(results, tmp_path)
    assert len(draws) == 4
    assert set(json.loads((tmp_path / DRAWN).read_text())) == set(SWEEP["figures"])


def _with_rows(results: Any, value: float) -> Any:
    one, *rest = results.rows.values()
    changed = one._replace(measures={**one.measures, "drain_cycles": value})
    return wb.Results(results.plan, [changed, *rest], results.folder)


def test_another_row_another_sweep_or_a_failed_run_is_another_figure(results, draws, tmp_path):
    draw_all(results, tmp_path)
    draw_all(_with_rows(results, 12345.0), tmp_path)
    assert len(draws) == 4
    other = wb.run({**SWEEP, "measures": ["mean_external_fragmentation", "drain_cycles"]}, workers=0)
    draw_all(other, tmp_path)
    assert len(draws) == 6


def test_other_sources_or_another_matplotlib_draw_again(results, draws, tmp_path, monkeypatch):
    draw_all(results, tmp_path)
    real = cache._versions()
    for text in (real.replace(cache.origin().sources, "edited"), real.replace("matplotlib", "matplotlib of 2031")):
        monkeypatch.setattr(cache, "_versions", lambda text=text: text)
        draw_all(results, tmp_path)
    assert len(draws) == 6


def test_an_edited_figure_of_the_user_s_is_drawn_again_and_an_unedited_one_is_not(tmp_path):
    counted: list[int] = []
    kept, file = cache.Folder(tmp_path), tmp_path / "mine.csv"

    def draw(k: int) -> list[Any]:
        counted.append(k)
        file.write_text("x")
        return [file]

    for k in (0, 1, 1):
        code = (lambda runs, k=k: k + len(runs.rows), lambda data: data)
        assert kept.drawn("mine", cache.figure_digest("runs", code), lambda k=k: draw(k)) == [file]
    assert counted == [0, 1]


def test_a_figure_is_of_its_choices_its_points_and_its_width(results, draws, tmp_path):
    recipe = FIGURES["saving_by_policy"]
    for choices, width in (({}, None), ({"measure": "mean_external_fragmentation"}, None), ({}, 7.0), ({}, None)):
        draw_one(recipe, results, tmp_path, choices, width)
    assert len(draws) == 4
    draw_one(recipe, results.only("best_fit"), tmp_path)
    assert len(draws) == 5


def test_some_points_keep_the_p_values_of_the_whole_sweep():
    results = wb.run({**SWEEP, "measures": ["drain_cycles", "wear_gini"], "seeds": 12}, workers=0)
    whole = results.summary().set_index(["policy.placement", "machine.segments", "measure"])
    some = results.only("nearest_boundary").only("segments=64").summary()
    assert set(some["policy.placement"]) == {"nearest_boundary(tie=high)", "first_fit"}
    compared = some[some["p_size"].notna()]
    assert len(compared) == 2
    for row in compared.to_dict("records"):
        full = whole.loc[(row["policy.placement"], row["machine.segments"], row["measure"])]
        assert row["p_size"] == full["p_size"] and row["comparisons"] == full["comparisons"] > 2
    with pytest.raises(InputError, match="a bundle holds a whole sweep"):
        results.only("best_fit").export("nowhere")
    with pytest.raises(InputError, match="where_it_holds corrects its p-values over all points of a sweep"):
        results.only("best_fit").figure_data("where_it_holds")


def test_a_finished_sweep_run_again_and_its_results_opened_draw_nothing(draws, tmp_path, monkeypatch, capsys):
    import yaml

    monkeypatch.chdir(tmp_path)
    (tmp_path / "drain.yaml").write_text(yaml.safe_dump(SWEEP))
    assert main(["run", "drain.yaml", "--out", "out"]) == 0
    first = capsys.readouterr().out
    assert main(["run", "drain.yaml", "--out", "out"]) == 0
    assert len(draws) == 2
    named = [line for line in capsys.readouterr().out.splitlines() if line.startswith("figure: ")]
    assert named == [line for line in first.splitlines() if line.startswith("figure: ")]
    assert main(["results", "out", "--figure", "pareto"]) == 0
    assert main(["figure", "saving_by_policy", "out"]) == 0
    assert len(draws) == 2
    assert main(["run", "drain.yaml", "--out", "out", "--seeds", "3"]) == 0
    assert len(draws) == 4


@pytest.mark.slow
def test_results_draw_any_figure_of_some_points_as_wide_as_wished(draws, tmp_path, capsys):
    folder = str(tmp_path / "out")
    wb.run(SWEEP, folder)
    assert main(["results", folder, "--figure", "saving_by_policy", "--only", "best_fit", "--only", "segments=64"]) == 0
    files = [line.removeprefix("figure: ") for line in capsys.readouterr().out.splitlines()]
    assert files[0].startswith(f"{folder}/figures/chosen/saving_by_policy.")
    table = (tmp_path / "out/figures/chosen/saving_by_policy.csv").read_text().splitlines()
    assert len(table) == 2
    assert "best_fit" in table[1]
    assert main(["results", folder, "--only", "best_fit"]) == 0
    text = capsys.readouterr().out
    assert "best_fit" in text
    assert "nearest_boundary" not in text
    sizes = []
    for width in ("88mm", "7in"):
        to = str(tmp_path / width)
        assert main(["figure", "measure_by_lever", folder, "--width", width, "--to", to, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["figures"][0].startswith(to)
        png = (tmp_path / width / "measure_by_lever.png").read_bytes()
        sizes.append(int.from_bytes(png[16:20], "big") / 220)
    assert sizes == pytest.approx([88 / 25.4, 7.0], abs=0.02)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["results", "out", "--figure", "parreto"], "unknown figure 'parreto'"),
        (["results", "out", "--figure", "network_load"], "unknown figure 'network_load'; there are"),
        (
            ["results", "out", "--figure", "probe_success"],
            "figure probe_success needs no runs: workbench figure probe_su",
        ),
        (["results", "out", "--figure", "lever_importances"], "is drawn when a study is tuned: workbench tune STUDY."),
        (
            ["results", "out", "--figure", "pareto", "--width", "wide"],
            "--width must be from 1in to 40in, as 88mm, 18cm",
        ),
        (["results", "out", "--figure", "pareto", "--width", "0.5in"], "--width must be from 1in to 40in"),
        (["results", "out", "--figure", "pareto", "--choose", "z=1"], "unknown choice of pareto 'z'; there are"),
        (["results", "out", "--only", "bestfit"], "is 'bestfit'; there are first_fit, 64, best_fit"),
        (["results", "out", "--width", "7in"], "--width and --choose go together with a figure: workbench"),
        (["figure", "probe_success", "--choose", "x=1"], "unknown choice of probe_success 'x'; there are "),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_refused_in_one_sentence(tmp_path, monkeypatch, capsys, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    wb.run(SWEEP, "out", workers=0)
    before = sorted(tmp_path.rglob("*"))
    assert main(arguments) == 2
    assert sentence in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before
