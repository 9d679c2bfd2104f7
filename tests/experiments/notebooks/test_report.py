"""The HTML report of a batch: every run has its row, texts stay texts, nothing in it comes from another host."""

import os
import re

import nbformat
import pytest

from workbench.errors import StoreError
from workbench.experiments.notebooks.execute import NotebookRun
from workbench.experiments.notebooks.report import HtmlReport
from workbench.experiments.notebooks.source import Notebook
from workbench.experiments.notebooks.tasks import Task

PROVENANCE = {"sources": "5e", "commit": "c0", "python": "3.11", "machine": "Linux", "packages": {"numpy": "2.0"}}
LONG = {"machine": {"segments": 32, "banks": 16}, "workload": {"regime": "small_uniform", "count": 20}}
TASKS = [
    Task("a" * 32, {"segments": 4, "note": "<script>alert(1)</script>", "setup": LONG}),
    Task("b" * 32, {"segments": 8, "note": "R&D", "setup": {}}),
    Task("c" * 32, {"segments": 16, "note": "", "setup": {}}),
]
RUNS = {
    TASKS[0].id: ("kept", 1.25, 0, ""),
    TASKS[1].id: ("failed", 0.5, 3, "f('<b>'): ValueError: 1 < 2"),
}


def written(folder, task, error="", cells=()):
    """The output of a run, as a batch leaves it."""
    mark = {"run_id": task.id, "notebook": "study.ipynb", "error": error}
    node = nbformat.v4.new_notebook(metadata={"workbench": mark}, cells=list(cells))
    path = folder / f"{task.id}{'.failed' if error else ''}.ipynb"
    nbformat.write(node, path)
    return path


def reported(folder, tasks=TASKS):
    """A report of one run done, one failed and one not run."""
    report = HtmlReport(folder, Notebook(folder / "study.ipynb", ["segments"], "python3", "d16e57"), tasks, PROVENANCE)
    runs = {}
    for task in tasks:
        if task.id in RUNS:
            status, seconds, cell, error = RUNS[task.id]
            runs[task.id] = NotebookRun(
                task.id, status, written(folder, task, error), task.parameters, seconds, cell, error
            )
    return report, runs


def row(text, task):
    return re.search(rf'<tr id="{task.id}">.*?</tr>', text, re.DOTALL).group()


def shown(row):
    """What a reader sees in the cells of a row, still escaped."""
    return [" ".join(re.sub("<[^>]*>", " ", cell).split()) for cell in re.findall("<td.*?</td>", row, re.DOTALL)]


def test_the_index_has_one_row_a_run_and_one_for_each_that_is_not_run_yet(tmp_path):
    report, runs = reported(tmp_path)
    report.index(runs)
    text = (tmp_path / "report" / "index.html").read_text()
    assert "3 runs: 1 done,\n1 failed, 1 not run." in text
    done, failed, waiting = (row(text, task) for task in TASKS)
    assert shown(done)[:3] == ["aaaaaaaaaaaa ( ipynb )", "done", "4"]
    assert shown(done)[-3:] == ["1.2", "", ""]
    assert shown(failed)[-3:] == ["0.5", "3", "f(&#39;&lt;b&gt;&#39;): ValueError: 1 &lt; 2"]
    assert f'href="{TASKS[0].id}.html"' in done
    assert f'href="../{TASKS[1].id}.failed.ipynb"' in failed
    assert f'href="{TASKS[1].id}.html#papermill-error-cell"' in failed
    assert shown(waiting) == ["cccccccccccc", "not run", "16", "", "{}", "", "", ""]
    assert "href" not in waiting
    assert "sources 5e, commit c0" in text
    assert "numpy 2.0." in text


def test_texts_stay_texts_and_long_ones_are_folded(tmp_path):
    report, runs = reported(tmp_path)
    report.index(runs)
    text = (tmp_path / "report" / "index.html").read_text()
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in row(text, TASKS[0])
    assert "R&amp;D" in row(text, TASKS[1])
    assert "<details>" in row(text, TASKS[0])
    assert "<details>" not in row(text, TASKS[1])


def test_a_page_holds_its_styles_and_pictures_and_no_address_it_would_load(tmp_path):
    (tmp_path / "dot.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    cells = [nbformat.v4.new_markdown_cell("# A heading\n$x^2$ ![dot](dot.svg)"), nbformat.v4.new_code_cell("1 + 1")]
    report, runs = reported(tmp_path, TASKS[:2])
    for run in runs.values():
        written(tmp_path, Task(run.id, {}), run.error, cells)
        report.page(run)
    text = (tmp_path / "report" / f"{TASKS[1].id}.html").read_text()
    assert "A heading" in text
    assert 'src="data:image/svg+xml;base64,' in text
    assert not re.findall(r"""(?:src|<link[^>]*href)\s*=\s*["']?(?!data:)[\w/.]""", text)
    assert not re.findall(r"@import|url\(['\"]?(?!data:)[a-z]+:", text)
    assert "cdnjs" not in text
    assert "unpkg" not in text
    assert "default-src 'none'" in text
    assert "failed: f('&lt;b&gt;'): ValueError: 1 &lt; 2<" in text
    assert "failed:" not in (tmp_path / "report" / f"{TASKS[0].id}.html").read_text()


def test_a_widget_is_shown_as_its_text_for_its_state_is_not_stored(tmp_path):
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "4f"}, "text/plain": "IntSlider(value=<7>)"}
    cell = nbformat.v4.new_code_cell("slider", outputs=[nbformat.v4.new_output("display_data", view)])
    report, runs = reported(tmp_path, TASKS[:1])
    written(tmp_path, TASKS[0], cells=[cell])
    report.page(runs[TASKS[0].id])
    text = (tmp_path / "report" / f"{TASKS[0].id}.html").read_text()
    assert "<pre>IntSlider(value=&lt;7&gt;)</pre>" in text
    assert "<script" not in text


def test_a_picture_that_a_widget_left_stands_in_its_place(tmp_path):
    view = {
        "application/vnd.jupyter.widget-view+json": {"model_id": "4f"},
        "text/plain": "A dashboard stood here.",
        "image/png": "aGVsbG8=\n",
    }
    cell = nbformat.v4.new_code_cell("board", outputs=[nbformat.v4.new_output("display_data", view)])
    report, runs = reported(tmp_path, TASKS[:1])
    written(tmp_path, TASKS[0], cells=[cell])
    report.page(runs[TASKS[0].id])
    text = (tmp_path / "report" / f"{TASKS[0].id}.html").read_text()
    assert 'src="data:image/png;base64,aGVsbG8="' in text
    assert "<figcaption>A dashboard stood here.</figcaption>" in text


def test_a_page_is_made_anew_only_when_its_output_is_newer(tmp_path):
    report, runs = reported(tmp_path)
    run = runs[TASKS[0].id]
    report.page(run)
    page = tmp_path / "report" / f"{run.id}.html"
    page.write_text("as it was")
    report.page(run)
    assert page.read_text() == "as it was"
    later = page.stat().st_mtime + 1
    os.utime(run.output, (later, later))
    report.page(run)
    assert page.read_text() != "as it was"
    assert sorted(p.name for p in page.parent.iterdir()) == [page.name]


def test_a_report_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "report").write_text("a file")
    with pytest.raises(StoreError, match=r"report cannot be made: File exists\.$") as refused:
        reported(tmp_path)
    assert "\n" not in str(refused.value)
