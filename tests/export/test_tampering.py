"""Whatever cell of a bundle is changed, together with its digest in the manifest: verify names it."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.export.small import runs
from tests.slow import LONG, thinned
from tests.statistics.failed_runs import with_failed
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.export.manifest import digest_of
from workbench.export.verify import verify

pytestmark = pytest.mark.slow

TABLES = [f"tables/{name}.tex" for name in ("drain_cycles", "mean_external_fragmentation", "low_end_share")]


@pytest.fixture(scope="module", autouse=True)
def without_tex():
    """A PGF file takes seconds of TeX, and its data are those of the CSV file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.figures.plot_style.tex_system", lambda: None)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    results = runs(figures=["saving_by_policy", "drain_difference", "remaining_over_time"], seeds=3)
    return results.export(tmp_path_factory.mktemp("paper") / "paper")


@pytest.fixture
def bundle(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "paper")


def write(bundle, name, text):
    """Put a text in the place of a file, and its digest in the place of the file's."""
    (bundle / name).write_text(text, newline="")
    manifest = json.loads((bundle / "manifest.json").read_text())
    manifest["files"][name] = digest_of(bundle / name)
    (bundle / "manifest.json").write_text(json.dumps(manifest))


def spoiled(cell):
    """Another cell, which stays a number where it was one."""
    return "9" + cell if re.fullmatch(r"\d[\d.e+-]*", cell) else f"{cell}9"


def table_cells(text):
    """The places of all cells of a table: line, column."""
    lines = text.split("\n")
    rows = [k for k, line in enumerate(lines) if " & " in line and not line.startswith("%")]
    return lines, [(k, column) for k in rows for column in range(lines[k].count(" & ") + 1)]


def with_cell(lines, places):
    changed = list(lines)
    for k, column in places:
        cells = changed[k].removesuffix(" \\\\").split(" & ")
        cells[column] = spoiled(cells[column])
        changed[k] = " & ".join(cells) + " \\\\"
    return "\n".join(changed)


@pytest.mark.parametrize("name", thinned(TABLES, 9))
def test_every_cell_of_every_table(bundle, name):
    text = (bundle / name).read_text()
    lines, places = table_cells(text)
    write(bundle, name, with_cell(lines, places))
    report = verify(bundle, figures=False)
    assert not report.same and report.edited == [] and report.differences == []
    assert {one.file for one in report.changes} == {name}
    assert len(report.changes) == len(places)
    first = lines[places[0][0]].split(" & ")
    assert (report.changes[0].bundled, report.changes[0].recomputed) == (spoiled(first[0]), first[0])


@settings(max_examples=12 if LONG else 4, deadline=None)
@given(st.data())
def test_any_one_cell_is_named_by_file_row_and_column(whole, tmp_path_factory, data):
    bundle = shutil.copytree(whole, tmp_path_factory.mktemp("one") / "paper")
    name = data.draw(st.sampled_from(TABLES))
    lines, places = table_cells((bundle / name).read_text())
    k, column = data.draw(st.sampled_from(places[len(places) // 5 :]))
    write(bundle, name, with_cell(lines, [(k, column)]))
    (one,) = verify(bundle, figures=False).changes
    header = lines[places[0][0]].removesuffix(" \\\\").split(" & ")
    cells = lines[k].removesuffix(" \\\\").split(" & ")
    assert one == (name, f"line {k + 1} ({cells[0]})", header[column], spoiled(cells[column]), cells[column])


def test_every_macro(bundle):
    text = (bundle / "numbers.tex").read_text()
    names = re.findall(r"^\\newcommand\{(\\\w+)\}", text, re.M)
    write(bundle, "numbers.tex", re.sub(r"\\ensuremath\{", r"\\ensuremath{9", text))
    result = verify(bundle, figures=False).changes
    assert [(one.file, one.row, one.column) for one in result] == [("numbers.tex", name, "value") for name in names]
    assert all(one.bundled == f"9{one.recomputed}" for one in result)
    write(bundle, "numbers.tex", text + "\\newcommand{\\wbOwn}{\\ensuremath{1}} % a number that no run gave\n")
    (one,) = verify(bundle, figures=False).changes
    assert "wbOwn" in one.bundled and one.recomputed == "nothing"


@pytest.mark.parametrize("figure", thinned(["saving_by_policy", "drain_difference", "remaining_over_time"], 3))
def test_every_cell_of_the_data_of_every_figure(bundle, figure, monkeypatch):
    monkeypatch.setattr("workbench.export._recomputed.redrawn", lambda *_: {})
    name = f"figures/{figure}.csv"
    text = (bundle / name).read_text()
    rows = list(csv.reader(io.StringIO(text)))
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([[spoiled(cell) for cell in row] for row in rows])
    write(bundle, name, written.getvalue())
    report = verify(bundle)
    assert len(report.changes) == sum(map(len, rows))
    assert {one.file for one in report.changes} == {name}
    assert report.simulated == 12 and "12 runs simulated for figures" in report.sentence
    blind = verify(bundle, figures=False)
    if figure == "remaining_over_time":
        assert blind.same and name in blind.by_digest and blind.simulated == 0
    else:
        assert len(blind.changes) == len(report.changes)


def leaves(value, path=()):
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not inner:
        yield path
    for key, one in inner:
        yield from leaves(one, (*path, key))


def put(value, path):
    for key in path[:-1]:
        value = value[key]
    old = value[path[-1]]
    value[path[-1]] = old + 1 if isinstance(old, (int, float)) else f"{old}x"


def test_every_number_of_the_manifest(bundle):
    manifest = json.loads((bundle / "manifest.json").read_text())
    parts = ("macros", "tables", "figures", "figures_left_out", "run_sets", "points", "engine_revision", "question")
    paths = [path for path in leaves({key: manifest[key] for key in parts}) if path != ("figures_left_out",)]
    for path in paths:
        put(manifest, path)
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    results = {(one.row, one.column) for one in verify(bundle, figures=False).changes if one.file == "manifest.json"}
    assert results >= {(" > ".join(map(str, path[:-1])), str(path[-1])) for path in paths}
    assert len(paths) > 500


def test_every_fact_of_the_manifest_that_no_run_gives(bundle):
    """Who computed, what else is needed, and what drew it: `provenance.json` says the same."""
    manifest = json.loads((bundle / "manifest.json").read_text())
    paths = [path for key in ("origins", "drawn_with") for path in leaves(manifest[key], (key,))]
    for path in [*paths, ("needs",), ("origins",), ("origins", "1")]:
        changed = json.loads(json.dumps(manifest))
        value = changed
        for key in path:
            value = value[key]
        if isinstance(value, dict):
            value["more"] = {"python": "3.9"} if path == ("origins",) else "more"
        elif isinstance(value, list):
            value.append("one more")
        else:
            put(changed, path)
        (bundle / "manifest.json").write_text(json.dumps(changed))
        report = verify(bundle, sample=1, figures=False)
        assert not report.same and {one.file for one in report.changes} == {"manifest.json"}, path
        assert path[0] in report.lines[0]
    assert len(paths) > 5


MANGLED = {"removed": ..., "null": None, "number": 3, "text": "x", "list": [], "mapping": {}}


def mangled(manifest):
    """Every key of a manifest and of its first point, removed or given a value of every other kind (one kind each)."""
    point = next(iter(manifest["points"]))
    paths = [(key,) for key in manifest] + [("points", point, key) for key in ("setting", "coordinates", "baseline")]
    others = [kind for kind in MANGLED if kind != "removed"]
    for k, path in enumerate(paths):
        for kind in MANGLED if LONG else ("removed", others[k % len(others)]):
            value = MANGLED[kind]
            copy = json.loads(json.dumps(manifest))
            inner = copy
            for key in path[:-1]:
                inner = inner[key]
            old = inner.pop(path[-1])
            if value is not ...:
                inner[path[-1]] = value
            if value is ... or value != old:
                yield path, kind, copy


def test_a_mangled_manifest_is_refused_in_one_sentence_or_differs(bundle):
    """None raises, and none passes."""
    manifest = json.loads((bundle / "manifest.json").read_text())
    refused = 0
    for path, kind, copy in mangled(manifest):
        (bundle / "manifest.json").write_text(json.dumps(copy))
        try:
            same, sentence = verify(bundle, sample=1, figures=False).same, ""
        except InputError as problem:
            same, sentence = False, str(problem)
        assert not same and "\n" not in sentence and sentence.endswith("." if sentence else ""), (path, kind)
        refused += bool(sentence)
    assert refused > (70 if LONG else 30)


def test_the_order_of_keys_says_nothing(bundle):
    manifest = json.loads((bundle / "manifest.json").read_text())
    (bundle / "manifest.json").write_text(json.dumps(manifest, sort_keys=True))
    whole = verify(bundle, sample=1, figures=False)
    assert whole.same, whole.lines
    manifest["points"] = dict(reversed(manifest["points"].items()))
    first = next(iter(manifest["points"]))
    manifest["points"][first]["coordinates"] = {"workload": "edited"}
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    assert {one.file for one in verify(bundle, sample=1, figures=False).changes} == {"manifest.json"}


def test_every_measure_of_every_run(bundle):
    text = (bundle / "runs.csv").read_text()
    header, *rows = list(csv.reader(io.StringIO(text)))
    for row in rows:
        row[6:] = [cell if cell in ("", "nan", "inf") else repr(float(cell) + 1) for cell in row[6:]]
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([header, *rows])
    write(bundle, "runs.csv", written.getvalue())
    report = verify(bundle, sample=0, figures=False)
    assert len(report.differences) == len(rows) == 12
    named = {name for one in report.differences for name in re.findall(r"(\w+) was ", one.what)}
    assert named == {
        name for k, name in enumerate(header[6:], 6) if any(row[k] not in ("", "nan", "inf") for row in rows)
    }
    assert {*TABLES, "numbers.tex"} <= {one.file for one in report.changes}


def test_runs_that_change_places_are_found(bundle):
    lines = (bundle / "runs.csv").read_text().splitlines(keepends=True)
    ids = [line.split(",", 1)[0] for line in lines]
    lines[1], lines[2] = ids[2] + lines[1][len(ids[1]) :], ids[1] + lines[2][len(ids[2]) :]
    write(bundle, "runs.csv", "".join(lines))
    results = [one for one in verify(bundle, figures=False).changes if one.column == "run_id"]
    assert {one.row for one in results} >= {ids[1], ids[2]}


def test_a_picture_of_other_data_is_found(bundle):
    shutil.copy(bundle / "figures" / "saving_by_policy.pdf", bundle / "figures" / "drain_difference.pdf")
    write(bundle, "runs.csv", (bundle / "runs.csv").read_text())
    manifest = json.loads((bundle / "manifest.json").read_text())
    manifest["files"] = {name: digest_of(bundle / name) for name in manifest["files"] if not name.endswith(".pgf")}
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    report = verify(bundle)
    assert [one.sentence for one in report.changes] == [
        "figures/drain_difference.pdf: says another picture, recomputed the picture of its data"
    ]
    assert report.files["figures/saving_by_policy.pdf"] == "redrawn"


def test_a_sweep_that_asks_for_something_else_is_found(bundle):
    text = (bundle / "sweep.yaml").read_text()
    for old, new in (("first_fit", "last_fit"), ("count: 3", "count: 2"), ("- low_end_share\n", ""), ("100 %", "99 %")):
        assert old in text
        write(bundle, "sweep.yaml", text.replace(old, new))
        assert verify(bundle, figures=False).changes, old


def test_adaptive_seeds_stay_adaptive(tmp_path):
    until = {"until": {"measure": "drain_cycles", "half_width": "20 %", "batch": 5, "at_most": 20}}
    config = {"workload": {"regime": "small_uniform", "count": 40}, "seeds": until, "figures": ["saving_by_policy"]}
    bundle = runs(**config).export(tmp_path / "paper")
    report = verify(bundle, figures=False)
    assert report.same, report.lines


def test_failed_runs_are_computed_as_they_were_exported(tmp_path):
    results = runs()
    point = next(point for point in results.points if point.baseline is not None)
    lost = with_failed(results, {point.id: lambda seed: True})
    bundle = lost.export(tmp_path / "paper")
    report = verify(bundle, sample=1, figures=False)
    assert report.changes == []
    table = (bundle / TABLES[0]).read_text()
    assert "& 0 & $\\textrm{---}$ & --- & --- & --- & not compared & 0 of 6" in table
    assert "all 6 runs failed, so nothing is tested (n = 0); the first: it broke." in table
    entries = json.loads((bundle / "manifest.json").read_text())["tables"][TABLES[0]]
    untested = [entry["p"] for entry in entries if "p" in entry and entry["pairs"]["value"] == 0]
    assert [(one["size"], one["direction"]) for one in untested] == [(None, None)]


def test_rows_of_several_origins_are_told_apart(tmp_path, capsys):
    results = runs(seeds=2)
    first, second, *_ = results.rows
    other = json.dumps({**json.loads(results.rows[first].origin), "sources": "0123456789abcdef"})
    results.rows[first] = results.rows[first]._replace(origin=other)
    results.rows[second] = results.rows[second]._replace(origin="")
    bundle = results.export(tmp_path / "paper")
    origins = json.loads((bundle / "manifest.json").read_text())["origins"]
    assert sum(one["rows"] for one in origins.values()) == 7
    assert [one["rows"] for one in origins.values() if one["sources"] == "0123456789abcdef"] == [1]
    few, note = verify(bundle, figures=False).notes
    assert few.startswith("none of 5 comparisons can be decided at 2 seeds")
    assert note.startswith("rows of 3 origins meet: 6 of ") and "1 of origin unknown" in note
    assert note in (bundle / TABLES[0]).read_text()
    assert main(["verify", str(bundle), "--runs", "all", "--no-figures"]) == 0
    assert note in capsys.readouterr().out.splitlines()
    text = (bundle / "runs.csv").read_text()
    write(bundle, "runs.csv", text.replace(",done,,1,", ",done,,2,", 1))
    assert {one.row for one in verify(bundle, figures=False).changes} >= {"origins > 1", "origins > 2"}


def test_an_older_bundle_says_that_it_is_compared_by_digest(bundle):
    manifest = json.loads((bundle / "manifest.json").read_text())
    for new in ("sweep", "question", "measures", "notes", "origins", "drawn_with"):
        del manifest[new]
    (bundle / "manifest.json").write_text(json.dumps({**manifest, "format": 2}))
    report = verify(bundle, sample=0)
    assert report.same and len(report.checked) == 12
    assert set(report.by_digest) == set(manifest["files"])
    assert "of format 2" in report.by_digest["numbers.tex"]


def test_the_command_prints_a_line_a_cell_and_ends_with_1(bundle, capsys):
    assert main(["verify", str(bundle), "--runs", "all", "--no-figures"]) == 0
    output = capsys.readouterr().out.splitlines()
    assert "provenance.json: compared by digest only, for it says when and where the runs were made" in output[-3]
    assert output[-2].startswith("none of 5 comparisons can be decided at 3 seeds: the smallest ")
    assert output[-1].startswith("12 of 12 runs done again gave the same bits")
    lines, places = table_cells((bundle / TABLES[0]).read_text())
    write(bundle, TABLES[0], with_cell(lines, places[-2:]))
    assert main(["verify", str(bundle), "--runs", "1", "--no-figures"]) == 1
    output = capsys.readouterr().out.splitlines()
    assert all(line.startswith(f"{TABLES[0]}: line ") and ", recomputed " in line for line in output[:2])
    assert output[-1].endswith("; 2 cells differ.")
    assert main(["verify", str(bundle), "--no-figures", "--json"]) == 1
    assert [one["column"] for one in json.loads(capsys.readouterr().out)["changes"]] == ["$p$", "verdict"]
