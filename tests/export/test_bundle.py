"""A bundle: what it holds, where each number comes from, and that it appears whole or not at all."""

import csv
import json
import re

import numpy as np
import pytest

from tests.export.small import runs
from tests.tuning.small import small
from workbench.errors import InputError, StoreError
from workbench.export.bundle import export
from workbench.export.manifest import digests
from workbench.export.verify import verify
from workbench.statistics.summary import summary
from workbench.tuning import tune

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def results():
    return runs(figures=["drain_difference", "saving_by_policy"])


@pytest.fixture(scope="module")
def bundle(results, tmp_path_factory):
    return results.export(tmp_path_factory.mktemp("paper") / "bundle")


@pytest.fixture(scope="module")
def few():
    """Few runs and no figure, for what becomes of a folder."""
    return runs(measures=["drain_cycles"], seeds=2)


@pytest.fixture
def without_tex(monkeypatch):
    """A PGF file takes seconds of TeX; what is tested with it is what is written where, not what is in it."""
    monkeypatch.setattr("workbench.figures.plot_style.tex_system", lambda: None)


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


def rows(folder):
    with open(folder / "runs.csv", newline="") as file:
        return {row["run_id"]: row for row in csv.DictReader(file)}


def test_what_is_in_it(bundle):
    files = {path for path in digests(bundle) if not path.endswith(".pgf")}
    assert files == {
        "main.tex",
        "methods.tex",
        "numbers.tex",
        "references.bib",
        "provenance.json",
        "runs.csv",
        "sweep.yaml",
        *(f"tables/{name}.tex" for name in ("drain_cycles", "mean_external_fragmentation", "low_end_share")),
        *(
            f"figures/{name}.{kind}"
            for name in ("drain_difference", "saving_by_policy")
            for kind in ("pdf", "csv", "tex", "txt")
        ),
    }
    assert manifest(bundle)["files"] == digests(bundle)
    assert not [path for path in bundle.parent.iterdir() if path != bundle]


def test_every_mean_and_difference_follows_from_the_runs_it_names(bundle):
    content, table = manifest(bundle), rows(bundle)
    sets = content["run_sets"]
    for macro in content["macros"].values():
        measure, quantity = macro["says"].partition(",")[0], macro["says"].rpartition(": ")[2]
        if quantity == "mean":
            (one,) = macro["runs"]
            values = [float(table[run][measure]) for run in sets[one]["runs"]]
            assert macro["value"] == pytest.approx(np.mean(values), rel=1e-12)
        if quantity.startswith("median difference"):
            baseline, other = ([float(table[run][measure]) for run in sets[one]["runs"]] for one in macro["runs"])
            assert macro["value"] == pytest.approx(np.exp(np.mean(np.log(baseline) - np.log(other))), rel=1e-9)
            assert [table[r]["seed"] for r in sets[macro["runs"][0]]["runs"]] == ["0", "1", "2", "3", "4", "5"]
    message = {re.sub(r"^.*: ", "", macro["says"]) for macro in content["macros"].values()}
    assert "mean" in message
    assert any(text.startswith("speed-up against") for text in message)


def test_the_numbers_are_those_of_the_summary(bundle, results):
    expected = summary(results)
    for name in ("drain_cycles", "mean_external_fragmentation", "low_end_share"):
        result = manifest(bundle)["tables"][f"tables/{name}.tex"]
        wanted = expected[expected.measure == name]
        assert sorted(row["mean"]["value"] for row in result if "mean" in row) == sorted(wanted["mean"])
        if name != "low_end_share":
            compared = [row for row in result if "verdict" in row and "point" in row]
            assert sorted(row["size"]["value"] for row in compared) == sorted(wanted["size"].dropna())
            assert sorted(row["p"]["size"] for row in compared) == sorted(wanted.p_size.dropna())
            assert [row["verdict"] for row in compared] == wanted.verdict.dropna().tolist()
        else:
            assert not any("verdict" in row for row in result)


def test_every_macro_is_in_the_file_and_every_table_shows_its_numbers(bundle):
    text, content = (bundle / "numbers.tex").read_text(), manifest(bundle)
    assert len(re.findall(r"^\\newcommand", text, re.M)) == len(content["macros"])
    for name, macro in content["macros"].items():
        assert f"\\newcommand{{{name}}}{{\\ensuremath{{{macro['shown']}}}}} % {macro['says']}" in text
    table = (bundle / "tables" / "drain_cycles.tex").read_text()
    sizes = [m["shown"] for n, m in content["macros"].items() if n.startswith("\\wbDrainCyclesSpeedUpInterval")]
    assert len(sizes) == 2
    assert all(displayed in table for displayed in sizes)
    assert table.count("\\multicolumn") == 3
    assert "nearest boundary (tie=high)".replace("-", "{-}") in table


def test_points_and_sets_lead_to_every_run(bundle, results):
    content = manifest(bundle)
    assert set(content["points"]) == {point.id for point in results.points}
    assert content["points"][results.points[0].id]["identity"] == results.points[0].setup.identity()
    behind = {run for one in content["run_sets"].values() for run in one["runs"]}
    assert behind == set(rows(bundle)) == set(results.rows)
    for figure in content["figures"].values():
        assert {run for one in figure["runs"] for run in content["run_sets"][one]["runs"]} == behind


def test_the_same_runs_give_the_same_bytes(bundle, results, tmp_path):
    again = results.export(tmp_path / "again")
    names = [name for name in digests(bundle) if name != "provenance.json"]
    assert {name: digests(again)[name] for name in names} == {name: digests(bundle)[name] for name in names}


def test_failed_runs_are_left_out_of_numbers_and_told(tmp_path):
    result = runs()
    lost = next(iter(result.rows))
    result.rows[lost] = result.rows[lost]._replace(status="failed", error="the worker died.", measures={})
    folder = result.export(tmp_path / "paper")
    assert rows(folder)[lost]["error"] == "the worker died."
    sets = manifest(folder)["run_sets"]
    assert not any(lost in one["runs"] for one in sets.values())
    assert {len(one["runs"]) for one in sets.values()} == {5, 6}


def test_one_seed_alone_has_no_interval_and_still_a_table(tmp_path):
    folder = runs(seeds=1, baseline=None).export(tmp_path / "paper")
    assert "\\pm" not in (folder / "tables" / "drain_cycles.tex").read_text()
    assert all(macro["value"] is not None for macro in manifest(folder)["macros"].values())


def test_the_holdout_runs_of_a_study_are_exported_alike(tmp_path):
    study_results = tune(small())
    folder = export(study_results.holdout, tmp_path / "paper")
    assert set(manifest(folder)["points"]) == {point.id for point in study_results.holdout.points}
    assert verify(folder, sample=3, figures=False).same


def test_a_folder_that_is_no_bundle_is_left_alone(few, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work")
    (tmp_path / "file").write_text("x")
    for name in ("thesis", "file"):
        with pytest.raises(StoreError, match=f"{name} holds something that is no bundle; choose another folder"):
            few.export(tmp_path / name)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["chapter.tex", "file", "thesis"]


@pytest.mark.usefixtures("without_tex")
def test_what_a_researcher_wrote_stays(few, tmp_path):
    (tmp_path / "paper").mkdir()
    folder = few.export(tmp_path / "paper")
    (folder / "main.tex").write_text("my paper")
    (folder / "sections").mkdir()
    (folder / "sections" / "intro.tex").write_text("my words")
    (folder / "tables" / "drain_cycles.tex").write_text("tampered")
    for _ in range(2):
        few.export(tmp_path / "paper")
        assert (folder / "main.tex").read_text() == "my paper"
        assert (folder / "sections" / "intro.tex").read_text() == "my words"
        assert "toprule" in (folder / "tables" / "drain_cycles.tex").read_text()


@pytest.mark.usefixtures("without_tex")
def test_an_untouched_example_is_written_anew(few, tmp_path):
    few.export(tmp_path / "paper", style="ieee")
    folder = few.export(tmp_path / "paper", style="acm")
    assert "acmart" in (folder / "main.tex").read_text()


@pytest.mark.usefixtures("without_tex")
@pytest.mark.parametrize("broken", ["content", "write_manifest", "write_sweep"])
def test_what_fails_half_way_leaves_the_old_bundle(few, tmp_path, monkeypatch, broken):
    import workbench.export.bundle as module

    before = digests(few.export(tmp_path / "paper"))

    def fails(*args, **named):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, broken, fails)
    for target in ("paper", "new"):
        with pytest.raises(StoreError, match=f"{target} cannot be written: No space left on device"):
            few.export(tmp_path / target)
    assert [path.name for path in tmp_path.iterdir()] == ["paper"]
    assert digests(tmp_path / "paper") == before


def test_bad_asks_are_one_sentence(results, tmp_path):
    with pytest.raises(InputError, match=r"unknown style 'iee'; there are acm, ieee, usenix. Did you mean ieee?"):
        results.export(tmp_path / "paper", style="iee")
    empty = runs(seeds=1)
    empty.rows = {}
    with pytest.raises(InputError, match="nothing to export: none of the 4 runs of sweep is finished"):
        empty.export(tmp_path / "paper")
    assert not list(tmp_path.iterdir())


def test_a_figure_that_cannot_be_drawn_is_named_and_left_out(tmp_path):
    folder = runs(figures=["saving_by_policy", "drain_difference"], baseline=None, seeds=2).export(tmp_path / "paper")
    assert set(manifest(folder)["figures_left_out"]) == {"saving_by_policy", "drain_difference"}
    assert manifest(folder)["figures"] == {}
