"""The report of a batch of notebooks as a reader opens it: from the disk, without a network."""

from __future__ import annotations

from pathlib import Path

import nbformat

from tests.browser.conftest import Visit
from workbench.notebooks.execution import NotebookRun
from workbench.notebooks.notebook_file import Notebook
from workbench.notebooks.report import HtmlReport
from workbench.notebooks.tasks import Task

PROVENANCE = {"sources": "5e", "commit": "c0", "python": "3.11", "machine": "Linux", "packages": {"numpy": "2.0"}}
FROM_ELSEWHERE = "https://cdn.invalid/library.js"
DRAWN = f'<script src="{FROM_ELSEWHERE}"></script><b id="drawn"></b><script>drawn.textContent = "drawn"</script>'


def report_of_one(folder: Path, html: str) -> Path:
    """A report of a failed run with an output in HTML; the index's path."""
    notebook = Notebook(folder / "study.ipynb", ["segments"], "python3", "d16e57")
    task = Task("1d", "study-a", notebook, {"segments": 4, "note": "<img src=x onerror=alert(1)>"})
    cell = nbformat.v4.new_code_cell("draw()", outputs=[nbformat.v4.new_output("display_data", {"text/html": html})])
    math = nbformat.v4.new_markdown_cell("<span id='papermill-error-cell'>$x^2$</span>")
    mark = {"run_id": task.id, "notebook": "study.ipynb", "error": "draw(): ValueError: no"}
    output = folder / "study-a.failed.ipynb"
    nbformat.write(nbformat.v4.new_notebook(metadata={"workbench": mark}, cells=[cell, math]), output)
    report = HtmlReport(folder, [task], PROVENANCE)
    report.add(NotebookRun(task, "failed", output, 0.5, 1, "draw(): ValueError: no"))
    report.write()
    return folder / "index.html"


def test_the_index_leads_to_the_failing_cell_and_nothing_asks_another_host(visit: Visit, tmp_path: Path) -> None:
    index = report_of_one(tmp_path, "<b id='drawn'>drawn</b>")
    visit.page.goto(index.as_uri())
    assert visit.page.locator("tbody").count() == 1
    assert visit.page.locator("td", has_text="onerror").inner_text() == "<img src=x onerror=alert(1)>"
    assert visit.page.locator("td.error").inner_text() == "cell 1: draw(): ValueError: no"
    visit.page.locator("td.error a").click()
    visit.page.wait_for_url("**/pages/study-a.html#papermill-error-cell")
    assert visit.page.locator("#drawn").inner_text() == "drawn"
    visit.page.get_by_role("link", name="All runs").click()
    visit.page.wait_for_url("**/index.html")
    assert [url for url in visit.outside if not url.startswith("file:")] == []


def test_what_an_author_would_load_from_elsewhere_is_refused_and_the_rest_works(visit: Visit, tmp_path: Path) -> None:
    refused: list[tuple[str, str | None]] = []
    visit.page.on("requestfailed", lambda request: refused.append((request.url, request.failure)))
    index = report_of_one(tmp_path, DRAWN)
    visit.page.goto((index.parent / "pages" / "study-a.html").as_uri())
    assert visit.page.locator("#drawn").inner_text() == "drawn"
    assert refused == [(FROM_ELSEWHERE, "csp")]
