"""The index of a batch: every run has its row, texts stay texts, nothing in it comes from another host."""

import base64
import csv
import io
import os
import re
from html import unescape
from pathlib import Path

import nbformat
import pytest
from PIL import Image

import workbench as wb
from workbench.errors import InputError, StoreError
from workbench.notebooks.execution import NotebookRun
from workbench.notebooks.headline import MIME, headlines
from workbench.notebooks.notebook_file import Notebook
from workbench.notebooks.report import HtmlReport
from workbench.notebooks.tasks import Task

PROVENANCE = {"sources": "5e", "commit": "c0", "python": "3.11", "machine": "Linux", "packages": {"numpy": "2.0"}}
LONG = {"machine": {"segments": 32, "banks": 16}, "workload": {"regime": "small_uniform", "count": 20}}
STUDY = Notebook(Path("study.ipynb"), ["segments"], "python3", "d16e57")
TASKS = [
    Task("1d", "study-a", STUDY, {"segments": 4, "note": "<script>alert(1)</script>", "setup": LONG}),
    Task("2d", "study-b", STUDY, {"segments": 8, "note": "R&D", "setup": {}}),
    Task("3d", "study-c", STUDY, {"segments": 16, "note": "", "setup": {}}),
]
OTHER = Task("4d", "other-x", Notebook(Path("other.ipynb"), ["units"], "python3", "0f"), {"units": 3})
RUNS = {
    "study-a": ("kept", 1.25, 0, ""),
    "study-b": ("failed", 0.5, 3, "f('<b>'): ValueError: 1 < 2"),
    "other-x": ("edited", 2.0, 0, ""),
}


def picture(width=1200, height=800):
    buffer = io.BytesIO()
    Image.new("RGBA", (width, height), (255, 0, 0, 255)).save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()


def displaying(**data):
    """A cell that has displayed what is given by type: `png`, `headline`, `text`."""
    types = {"png": "image/png", "headline": MIME, "text": "text/plain"}
    data = {
        name: [[*pair] for pair in value.items()] if isinstance(value, dict) else value for name, value in data.items()
    }
    output = nbformat.v4.new_output("display_data", {"text/plain": "", **{types[name]: data[name] for name in data}})
    return nbformat.v4.new_code_cell("draw()", outputs=[output])


def written(folder, task, error="", cells=()):
    """The output of a run, as a batch leaves it."""
    mark = {"run_id": task.id, "notebook": "study.ipynb", "error": error}
    node = nbformat.v4.new_notebook(metadata={"workbench": mark}, cells=list(cells))
    path = folder / f"{task.name}{'.failed' if error else ''}.ipynb"
    nbformat.write(node, path)
    return path


def reported(folder, tasks=TASKS, **cells):
    """The report of a run done, one failed and one not run, with cells by the name of the run."""
    report = HtmlReport(folder, tasks, PROVENANCE)
    for task in tasks:
        if task.name in RUNS:
            status, seconds, cell, error = RUNS[task.name]
            output = written(folder, task, error, cells.get(task.name.replace("-", "_"), ()))
            report.add(NotebookRun(task, status, output, seconds, cell, error))
    report.write()
    return report


def index_of(folder):
    return (folder / "index.html").read_text()


def row(text, name):
    return re.search(rf'<tbody id="{name}">.*?</tbody>', text, re.DOTALL).group()


def shown(row):
    """What a reader sees in the cells of a row."""
    cells = re.findall("<td.*?</td>", row, re.DOTALL)
    return [unescape(" ".join(re.sub("<[^>]*>", " ", cell).split())) for cell in cells]


def test_the_index_has_one_row_a_run_and_one_for_each_that_is_not_run_yet(tmp_path):
    reported(tmp_path)
    text = index_of(tmp_path)
    assert "3 runs: 1 done, 1 failed, 1 not run." in text
    done, failed, waiting = (row(text, task.name) for task in TASKS)
    assert shown(done)[:3] == ["study-a ( ipynb )", "done", "4"]
    assert shown(done)[-1] == "1.2"
    assert shown(failed)[-2:] == ["0.5", "cell 3 : f('<b>'): ValueError: 1 < 2"]
    assert 'href="pages/study-a.html"' in done
    assert 'href="study-b.failed.ipynb"' in failed
    assert 'href="pages/study-b.html#papermill-error-cell"' in failed
    assert shown(waiting) == ["study-c", "not run", "16", "", "{}", ""]
    assert "href" not in waiting
    assert "study.ipynb d16e57; sources 5e, commit c0" in text
    assert "numpy 2.0." in text


def test_each_notebook_has_a_table_of_its_own_parameters_and_headline_numbers(tmp_path):
    cells = {"study_a": [displaying(headline={"saved": 12.3456, "runs": 1200})], "other_x": [displaying(text="1")]}
    reported(tmp_path, [*TASKS, OTHER], **cells)
    text = index_of(tmp_path)
    heads = [re.findall("<th[^>]*>([^<]*)</th>", table) for table in re.findall("<thead>.*?</thead>", text, re.DOTALL)]
    assert heads == [
        ["parameters", "headline numbers", "run", "status", "segments", "note", "setup", "saved", "runs", "time (s)"],
        ["parameters", "run", "status", "units", "time (s)"],
    ]
    assert shown(row(text, "study-a"))[-3:] == ["12.35", "1,200", "1.2"]
    assert shown(row(text, "study-b"))[5:8] == ["", "", "0.5"]
    assert shown(row(text, "other-x")) == ["other-x ( ipynb )", "done, edited since", "3", "2.0"]
    with open(tmp_path / "index.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "notebook", "output", "status", "segments", "note", "setup", "units", "saved", "runs", "seconds", "cell",
        "error",
    ]  # fmt: skip
    assert [[one[name] for name in ("segments", "saved", "runs", "units")] for one in rows] == [
        ["4", "12.3456", "1200", ""],
        ["8", "", "", ""],
        ["16", "", "", ""],
        ["", "", "", "3"],
    ]
    assert [one["status"] for one in rows] == ["done", "failed", "not run", "done, edited since"]


def test_columns_of_one_name_are_told_apart(tmp_path):
    task = Task("1d", "study-a", STUDY, {"status": "x", "seeds": 5})
    report = HtmlReport(tmp_path, [task], PROVENANCE)
    output = written(tmp_path, task, cells=[displaying(headline={"seeds": 6, "error": 0.5})])
    report.add(NotebookRun(task, "done", output, 1.0))
    report.write()
    with open(tmp_path / "index.csv", newline="") as file:
        (only,) = csv.DictReader(file)
    assert (only["status"], only["parameter.status"], only["seeds"]) == ("done", "x", "5")
    assert (only["headline.seeds"], only["headline.error"], only["error"]) == ("6", "0.5", "")


def test_figures_are_shown_small_and_lead_to_their_cells(tmp_path):
    cells = [displaying(png=picture()), displaying(png="no picture"), displaying(text="1")]
    cells[0].id = "drawn"
    reported(tmp_path, study_a=cells)
    done = row(index_of(tmp_path), "study-a")
    (source,) = re.findall('<img src="data:image/png;base64,([^"]*)"', done)
    with Image.open(io.BytesIO(base64.b64decode(source))) as image:
        assert (image.size, image.getpixel((0, 0))) == ((240, 160), (255, 0, 0))
    assert 'href="pages/study-a.html#cell-id%3Ddrawn"' in done
    assert 'id="cell-id=drawn"' in (tmp_path / "pages" / "study-a.html").read_text()


def test_texts_stay_texts_and_long_ones_are_folded(tmp_path):
    reported(tmp_path, study_a=[displaying(headline={"<i>": "<b>x</b>"})])
    text = index_of(tmp_path)
    assert "<script" not in text and "<b>x" not in text and "<i>" not in text
    assert "<script>alert(1)</script>" in shown(row(text, "study-a"))
    assert "<b>x</b>" in shown(row(text, "study-a"))
    assert "R&amp;D" in row(text, "study-b")
    assert "<details>" in row(text, "study-a")
    assert "<details>" not in row(text, "study-b")


def test_a_page_holds_its_styles_and_pictures_and_no_address_it_would_load(tmp_path):
    (tmp_path / "dot.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    cells = [nbformat.v4.new_markdown_cell("# A heading\n$x^2$ ![dot](dot.svg)"), nbformat.v4.new_code_cell("1 + 1")]
    task = TASKS[1]._replace(notebook=STUDY._replace(path=tmp_path / "study.ipynb"))
    reported(tmp_path, [task], study_b=cells)
    text = (tmp_path / "pages" / "study-b.html").read_text()
    assert "A heading" in text
    assert 'src="data:image/svg+xml;base64,' in text
    assert not re.findall(r"""(?:src|<link[^>]*href)\s*=\s*["']?(?!data:)[\w/.]""", text)
    assert not re.findall(r"@import|url\(['\"]?(?!data:)[a-z]+:", text)
    assert "cdnjs" not in text
    assert "unpkg" not in text
    assert "default-src 'none'" in text
    assert "failed: f('&lt;b&gt;'): ValueError: 1 &lt; 2<" in text
    reported(tmp_path, TASKS[:1])
    assert "failed:" not in (tmp_path / "pages" / "study-a.html").read_text()


def page_with(folder, **data):
    """The page of a run whose cell has displayed what is given by type."""
    cell = nbformat.v4.new_code_cell("shown", outputs=[nbformat.v4.new_output("display_data", data)])
    reported(folder, TASKS[:1], study_a=[cell])
    return (folder / "pages" / "study-a.html").read_text()


VIEW = {"application/vnd.jupyter.widget-view+json": {"model_id": "4f"}}


def test_a_widget_is_shown_as_its_text_for_its_state_is_not_stored(tmp_path):
    text = page_with(tmp_path, **VIEW, **{"text/plain": "IntSlider(value=<7>)"})
    assert "<pre>IntSlider(value=&lt;7&gt;)</pre>" in text
    assert "<script" not in text


def test_a_picture_that_a_widget_left_stands_in_its_place(tmp_path):
    text = page_with(tmp_path, **VIEW, **{"text/plain": "A dashboard stood here.", "image/png": "aGVsbG8=\n"})
    assert 'src="data:image/png;base64,aGVsbG8="' in text
    assert "<figcaption>A dashboard stood here.</figcaption>" in text


def test_a_page_is_made_anew_only_when_its_output_is_newer_and_never_over_one_that_was_edited(tmp_path):
    report = reported(tmp_path, TASKS[:1])
    run, page = report._runs["study-a"], tmp_path / "pages" / "study-a.html"
    before = page.stat().st_mtime_ns
    report.add(run)
    assert page.stat().st_mtime_ns == before
    later = page.stat().st_mtime + 1
    os.utime(run.output, (later, later))
    report.add(run)
    assert page.stat().st_mtime_ns != before
    assert sorted(p.name for p in page.parent.iterdir()) == [".own.json", page.name]
    page.write_text("notes of mine")
    with pytest.raises(StoreError, match=r"study-a\.html is not as a run has left it"):
        HtmlReport(tmp_path, TASKS[:1], PROVENANCE)
    assert page.read_text() == "notes of mine"


def test_a_report_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "pages").write_text("a file")
    with pytest.raises(StoreError, match=r"pages cannot be made: File exists\.$") as refused:
        reported(tmp_path)
    assert "\n" not in str(refused.value)


def test_headline_numbers_are_read_in_their_order_the_last_value_of_a_name(tmp_path):
    cells = [
        displaying(headline={"a": 1, "b": True}),
        displaying(headline=[1]),
        displaying(headline=[[1, 2, 3]]),
        displaying(headline={"a": 2, "c": [1]}),
    ]
    assert headlines(nbformat.v4.new_notebook(cells=cells)) == {"a": 2, "b": True}


def valued(source, text, **data):
    """A notebook whose last cell has a value that is shown so."""
    value = nbformat.v4.new_output("execute_result", {"text/plain": text, **data})
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, outputs=[value])])


@pytest.mark.parametrize(
    ("source", "text", "numbers"),
    [
        ("score = 4\nscore", "4", {"score": 4}),
        ("result.score", "np.float64(-4.5)", {"score": -4.5}),
        ("f(2)", "True", {"result": True}),
        ("x", "nan", {"x": "nan"}),
        ("score", "'done'", {}),
        ("score", "[4, 5]", {}),
        ("score", "<Results>", {}),
        ("dict(a=1)", "{'a': 1, 'b': np.float64(0.5), 'policy': 'best_fit'}", {"a": 1, "b": 0.5}),
        ("d", "{" + ", ".join(f"'x{k}': {k}" for k in range(41)) + "}", {}),
    ],
)
def test_without_a_record_the_last_value_is_the_result(source, text, numbers):
    assert headlines(valued(source, text)) == numbers


def test_a_series_and_a_table_of_one_row_are_results():
    import pandas as pd

    table = pd.DataFrame({"policy": ["best_fit"], "speed_up": [1.25], "seeds": [20]})
    assert headlines(valued("t", str(table), **{"text/html": table._repr_html_()})) == {"speed_up": 1.25, "seeds": 20}
    assert headlines(valued("t", str(table.iloc[0]))) == {"speed_up": 1.25, "seeds": 20}
    two = pd.concat([table, table])
    assert headlines(valued("t", str(two), **{"text/html": two._repr_html_()})) == {}


def test_a_record_comes_before_the_last_value_and_an_earlier_value_is_none():
    node = valued("score", "4")
    node.cells.insert(0, displaying(headline={"saved": 12.5}))
    assert headlines(node) == {"saved": 12.5}
    node = valued("score", "4")
    node.cells.append(nbformat.v4.new_code_cell("print(score)"))
    assert headlines(node) == {}


def test_records_of_scrapbook_are_results():
    kinds = [
        ("json", "count", 3),
        ("text", "who", "best_fit"),
        ("json", "pair", {"a": 1, "b": [2]}),
        ("json", "c", [1]),
    ]
    scraps = [
        nbformat.v4.new_output(
            "display_data",
            {f"application/scrapbook.scrap.{kind}+json": {"name": name, "data": data, "encoder": kind, "version": 1}},
        )
        for kind, name, data in kinds
    ]
    node = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("glue()", outputs=scraps)])
    assert headlines(node) == {"count": 3, "who": "best_fit", "a": 1}


def test_a_headline_takes_numbers_of_numpy_and_what_json_does_not_know_as_a_text(capsys):
    import numpy as np

    wb.headline(a=np.float64(0.5), b=np.int64(3), c=np.bool_(True), d=float("nan"), e=np.array([7]))
    assert capsys.readouterr().out == "a 0.5, b 3, c true, d nan, e 7\n"
    for wrong in (None, [1], np.zeros(2)):
        with pytest.raises(InputError, match=r"headline: x must be a number, a text, True or False\. Got "):
            wb.headline(x=wrong)
