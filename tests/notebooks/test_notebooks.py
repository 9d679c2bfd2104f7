"""Every notebook is committed without outputs, has parameters that papermill can set, and runs as it is."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator

import nbformat
import papermill
import pytest
from nbclient import NotebookClient

import workbench as wb
from tests.notebooks.lessons import (
    FOLDER,
    MAIN,
    NOTEBOOKS,
    answers_code,
    code_cells,
    compared_rows,
    exercises,
    has_tag,
    last_value,
    main_cells,
    names_of_several_cells,
    read,
    undecided,
)
from tests.public_traces import NAMED
from tests.slow import LONG
from workbench.metrics.measure import Measure
from workbench.statistics import compare, judge
from workbench.statistics.result_rows import ResultBlock, ResultRow
from workbench.statistics.result_table import ResultTable

FEW = 2
"""Seeds of `make test`: that every cell runs and what does not depend on seeds; `make test-long` reads the findings."""


LITTLE = f"seeds, base = {FEW}, 64"
"""Stands behind the parameters of a run that reads no finding; `base` is of the tenth notebook."""
AGAIN = "again-"
"""What the ids of cells begin with that run a second time."""


def executed(name: str) -> nbformat.NotebookNode:
    """Return the notebook with its outputs; a cell that fails raises.

    Behind the lesson the code of the answers runs, and then every cell once more in the same kernel.
    """
    notebook = read(name)
    cells = [cell for cell in code_cells(notebook) if not cell.id.startswith("dashboard")]
    again = [nbformat.v4.new_code_cell(cell.source, id=f"{AGAIN}{cell.id}") for cell in cells]
    answers = [nbformat.v4.new_code_cell(code) for code in answers_code(notebook)]
    notebook.cells += [*answers, *again]
    for parameters in ("parameters", f"{AGAIN}parameters")[LONG:]:
        (at,) = (k for k, cell in enumerate(notebook.cells) if cell.id == parameters)
        notebook.cells.insert(at + 1, nbformat.v4.new_code_cell(LITTLE))
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(FOLDER)}}).execute()
    if not LONG:
        assert [cell.id for cell in cells if stable(notebook, cell.id) != stable(notebook, f"{AGAIN}{cell.id}")] == []
    return notebook


def outputs(notebook: nbformat.NotebookNode, cell_id: str) -> list[nbformat.NotebookNode]:
    (cell,) = (cell for cell in notebook.cells if cell.id == cell_id)
    return cell.outputs


def printed(notebook: nbformat.NotebookNode, cell_id: str) -> str:
    return "".join(out.get("text", "") for out in outputs(notebook, cell_id))


def stable(notebook: nbformat.NotebookNode, cell_id: str) -> str:
    """Return the output of a cell, and its value as text, without seconds, addresses in memory and progress."""
    values = [out for out in outputs(notebook, cell_id) if out.output_type == "execute_result"]
    plain = "".join(out.data.get("text/plain", "") for out in values)
    return re.sub(r" in [\d.]+ s\b|0x[0-9a-f]+", "", printed(notebook, cell_id) + plain)


def table_rows(notebook: nbformat.NotebookNode, cell_id: str) -> list[str]:
    """Return the rows of the tables of results below a cell, each in one line of text, without those of a baseline."""
    html = "".join(out.get("data", {}).get("text/html", "") for out in outputs(notebook, cell_id))
    rows = (re.sub(r"(<[^>]*>)+", " | ", row).strip(" |") for row in re.findall(r"<tr><td.*?</tr>", html))
    return [row for row in rows if not row.endswith("baseline")]


def images_of(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Return the pictures of a notebook, without those of its second run and those that dashboards leave."""
    cells = (cell for cell in code_cells(notebook) if not cell.id.startswith((AGAIN, "dashboard")))
    return [out for cell in cells for out in cell.outputs if "image/png" in out.get("data", {})]


def test_there_are_notebooks():
    assert "01_placement.ipynb" in NOTEBOOKS


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_it_is_committed_without_outputs(name):
    notebook = read(name)
    nbformat.validate(notebook)
    assert "widgets" not in notebook.metadata
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_its_parameters_are_known_and_each_says_what_it_is(name):
    result = papermill.inspect_notebook(FOLDER / name)
    assert {"sweep", "seeds"} <= set(result)
    assert all(parameter["help"] for parameter in result.values())


def code_of(notebook: nbformat.NotebookNode) -> Iterator[str]:
    """Each cell of code, without the lines that are the notebook's own commands."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield "\n".join(line for line in cell.source.splitlines() if not line.startswith(("%", "!")))


def words_of_the_package(code: str) -> set[str]:
    """What is read as `wb.NAME`, and what is imported from the package as `MODULE:NAME`."""
    tree = list(ast.walk(ast.parse(code)))
    read = {node.attr for node in tree if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "wb"}
    imports = [
        node
        for node in tree
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("workbench", "papers."))
    ]
    return read | {f"{node.module}:{name.name}" for node in imports for name in node.names}


def is_there(word: str) -> bool:
    module, _, name = word.rpartition(":")
    return hasattr(importlib.import_module(module) if module else wb, name)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_cell_is_python_and_every_name_of_the_package_is_there(name):
    """What breaks a notebook most often: the tests that run a notebook are slow."""
    words = set().union(*map(words_of_the_package, code_of(read(name))))
    assert len(words) > 1
    assert [word for word in sorted(words) if not is_there(word)] == []


def test_a_name_that_the_package_lacks_is_noticed():
    words = words_of_the_package("wb.rum(sweep)\nfrom workbench.policies.placement import BestFit, BestFitt")
    assert {word for word in words if not is_there(word)} == {"rum", "workbench.policies.placement:BestFitt"}


@pytest.mark.slow
def test_the_first_notebook_shows_the_figures_and_writes_its_own_result():
    notebook = executed("01_placement.ipynb")
    assert len(images_of(notebook)) == 6
    assert f"{2 * (200 if LONG else FEW)} runs" in printed(notebook, "run")
    assert "0 failed" in printed(notebook, "own-run")
    best, *_, worst = table_rows(notebook, "result")
    assert best.startswith("nearest_boundary")
    assert worst.startswith("middle_out")
    if LONG:
        assert best.endswith("sure better") and worst.endswith("sure worse")


@pytest.mark.slow
def test_the_second_notebook_compares_a_choice_of_its_own():
    notebook = executed("02_dispatch.ipynb")
    assert len(images_of(notebook)) == 7
    assert printed(notebook, "heads").splitlines()[0] == "strict_blocking: nobody goes"
    assert f"{2 * (20 if LONG else FEW)} runs" in printed(notebook, "run")
    for cell in ("run", "own-run", "trace-run"):
        assert "0 failed" in printed(notebook, cell)
    assert any(row.startswith("fewest_matrix |") for row in table_rows(notebook, "own-said"))
    if LONG:
        assert table_rows(notebook, "result-said")[0].endswith("sure better")


@pytest.mark.slow
def test_the_third_notebook_asks_peers_and_evicts_by_a_policy_of_its_own():
    notebook = executed("03_translation.ipynb")
    assert len(images_of(notebook)) == 5
    assert printed(notebook, "ask").splitlines()[0] == "first bit: core 1"
    assert f"{16 * (20 if LONG else FEW)} runs" in printed(notebook, "run")
    for cell in ("run", "kernel-run", "own-run"):
        assert "0 failed" in printed(notebook, cell)
    rows = table_rows(notebook, "said")
    assert len(rows) == 8
    if LONG:  # the cores of one of the four traces share no page
        words = [row.rpartition(" | ")[2] for row in rows]
        assert sorted(words) == ["as good as equal"] * 2 + ["sure better"] * 6
    assert any(re.match(r"gate_any \| 0 \|", row) for row in table_rows(notebook, "fill"))
    assert any(row.startswith("third_newest |") for row in table_rows(notebook, "own-run"))


@pytest.mark.slow
def test_the_fourth_notebook_serves_warps_in_a_way_of_its_own():
    notebook = executed("04_malloc.ipynb")
    assert len(images_of(notebook)) == 5
    assert printed(notebook, "offsets").splitlines()[1].endswith("pieces [0, 5) [8, 16) [17, 26) [19, 21)")
    assert "three of four pieces are free, and 20 bytes are held" in printed(notebook, "heap")
    assert "aggregation pays from 1." in printed(notebook, "break-even")
    lines = dict(line.split(": ", 1) for line in printed(notebook, "survey").splitlines())
    assert {*lines} == {f"parallel heaps, {n}, TITANV" for n in ("up to 2,048 threads", "8,192 threads and more")}
    assert float(lines["parallel heaps, up to 2,048 threads, TITANV"].split(" %")[0]) < 10
    (table,) = (cell.outputs[0]["data"]["text/plain"] for cell in notebook.cells if cell.get("id") == "survey-times")
    assert re.search(r"^65536 .*14134\.3", table, re.MULTILINE)  # CUDA's, measured
    assert "[(64, [0, 16, 48]), (304, [0])]" in printed(notebook, "own-policy")
    for cell in ("run", "own-run"):
        assert "0 failed" in printed(notebook, cell)


@pytest.mark.slow
def test_the_fifth_notebook_lends_by_a_rule_of_its_own_and_replays_recorded_memory():
    notebook = executed("05_pool.ipynb")
    assert len(images_of(notebook)) == 9
    chosen = dict(line.rsplit(": ", 1) for line in printed(notebook, "choose").splitlines())
    assert [*chosen.values()] == ["gpu3", "gpu6", "gpu6", "gpu5", "gpu5"]  # spec 5, section 4
    assert printed(notebook, "join").splitlines() == [
        "left apart: at addresses [0, 0, 64, 96], 192 bytes got from the driver",
        "joined: at addresses [0, 0, 64, 0], 96 bytes got from the driver",
    ]
    for cell in ("run", "caches-run", "replay", "own-run"):
        assert "0 failed" in printed(notebook, cell)
    assert printed(notebook, "cold-run").startswith("pytorch_caching: ")
    assert any(row.startswith("in_proportion |") for row in table_rows(notebook, "said"))


@pytest.mark.slow
def test_the_sixth_notebook_goes_from_an_out_of_memory_error_to_a_setting(monkeypatch):
    if not LONG:
        monkeypatch.delenv("WORKBENCH_TRACES", raising=False)  # the public snapshots take a minute
    notebook = executed("06_your_snapshot.ipynb")
    assert len(images_of(notebook)) == 3
    message = printed(notebook, "exact").splitlines()
    assert re.fullmatch(r"segment allocations reproduced (\d+) of \1, addresses ([\d,]+) of \2", message[0])
    assert message[1].startswith("best: ")
    assert int(re.sub(r"\D", "", message[2])) > 0
    assert "made_up_snapshot.pickle.gz" in stable(notebook, "five")  # on a fresh machine, too
    missing = printed(notebook, "five").splitlines()
    if LONG and NAMED:
        assert not missing
    else:
        assert len(missing) == 1 and missing[0].startswith("not on this machine: torch_")


@pytest.mark.slow
def test_the_seventh_notebook_takes_a_group_s_time_apart_and_chooses_modules_by_a_rule_of_its_own():
    notebook = executed("07_whole_node.ipynb")
    assert len(images_of(notebook)) == 2
    parts = printed(notebook, "one-run").splitlines()
    whole = int(re.sub(r"\D", "", parts[0].split(":")[1]))
    assert sum(int(re.sub(r"\D", "", line.split(":")[1])) for line in parts[1:-1]) == whole
    assert parts[-1].endswith("True")
    assert f"{10 * (20 if LONG else FEW)} runs" in printed(notebook, "run")
    for cell in ("run", "add-run", "own-run"):
        assert "0 failed" in printed(notebook, cell)
    rows = table_rows(notebook, "both-said")
    assert len(printed(notebook, "largest").splitlines()) == len(rows) - 1 == 5
    assert "of 5 workloads" in rows[-1]


@pytest.mark.slow
def test_the_eighth_notebook_makes_a_paper_whose_numbers_are_true():
    notebook = executed("08_paper.ipynb")
    assert printed(notebook, "gather").startswith("a real serving trace" if NAMED else "a synthetic workload")
    assert "main.tex paper.json placement references.bib" in printed(notebook, "write")
    assert "True 5 of 5 runs done again gave the same bits" in printed(notebook, "write")
    assert printed(notebook, "pdf-set").startswith(("paper: paper/main.pdf", "no PDF: pdflatex"))


@pytest.mark.slow
def test_the_ninth_notebook_counts_circuits_and_asks_for_a_guess():
    notebook = executed("09_hardware.ipynb")
    assert len(images_of(notebook)) == 3
    assert printed(notebook, "vectors").count(": 0 of 1,000 states differ") == 3
    assert "the tree saves 70% of the area, you guessed 10%" in printed(notebook, "counted")
    assert "0 failed" in printed(notebook, "run")
    lines = printed(notebook, "search-run").splitlines()[::2]
    assert len(lines) == 4 and all(int(line.split()[2]) > 0 for line in lines)
    assert printed(notebook, "exercise-start").splitlines()[0].endswith("[4]")


@pytest.mark.slow
def test_the_opening_notebook_goes_from_a_guess_to_a_policy_of_ones_own():
    notebook = executed("00_start_here.ipynb")
    assert len(images_of(notebook)) == 1
    assert printed(notebook, "result").splitlines()[-1].startswith("you guessed 0 %, it is ")
    (own,) = (row for row in table_rows(notebook, "own") if row.startswith("highest_fit |"))
    assert own.endswith("the same")  # the mirror image of first fit


@pytest.mark.slow
def test_the_tenth_notebook_searches_holds_out_and_says_where_a_policy_loses():
    notebook = executed("10_tuning.ipynb")
    assert len(images_of(notebook)) == 3
    assert printed(notebook, "tune").splitlines()[0] == "60 trials, 0 failed"
    assert printed(notebook, "discovery").startswith("nearest_boundary loses in wait_mean_cycles ")
    if LONG:
        assert printed(notebook, "undecided").startswith("decided: the largest total index is that of ")


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_main_comparison_is_decided_at_the_seeds_of_the_lesson(name, monkeypatch):
    monkeypatch.chdir(FOLDER)
    rows = compared_rows(last_value(main_cells(read(name)), {"display": lambda *_: None}))
    assert rows
    assert undecided(rows) == []


CYCLES = Measure("drain_cycles", "cycles", "lower", "")


def test_a_comparison_without_an_answer_is_noticed():
    few, enough = ([10, 11, 12], [10, 12, 11]), ([20 + k for k in range(12)], [10 + k % 3 for k in range(12)])
    verdicts = judge({"few": compare(*few), "enough": compare(*enough)})
    rows = [ResultRow(name, None, verdict, is_baseline=False, bold=False) for name, verdict in verdicts.items()]
    table = last_value(
        [nbformat.v4.new_code_cell("table")], {"table": ResultTable([ResultBlock(CYCLES, "", "", rows)], [])}
    )
    assert undecided(compared_rows(table)) == ["few: undecided"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_each_cell_can_run_again(name):
    """A name that a later cell changes would give an earlier cell another input when it runs again."""
    assert names_of_several_cells(read(name)) == {}


def test_a_name_that_two_cells_change_is_noticed():
    sources = ["for shown in (1, 2):\n    pass", "import os.path as path", "[shown for shown in ()]\nshown = path = 3"]
    cells = [nbformat.v4.new_code_cell(code, id=f"cell-{k}") for k, code in enumerate(sources)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    assert names_of_several_cells(notebook) == {"path": ["cell-1", "cell-2"], "shown": ["cell-0", "cell-2"]}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_each_exercise_has_an_answer_with_code(name):
    """The tests of each notebook run the code."""
    numbers, answered = exercises(read(name))
    assert numbers == answered == [*range(1, len(numbers) + 1)]
    assert len(numbers) == len(answers_code(read(name))) > 0


LESSON = {"**Time:**": "time needed", "Glossary": "a glossary"}
"""What the prose of every notebook has."""


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_it_has_the_form_of_a_lesson(name):
    notebook = read(name)
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert [what for word, what in LESSON.items() if word not in prose] == []
    assert "<details><summary>Answers</summary>" in prose
    assert re.search(r"\*\*(Predict|Before you)|Before you look", prose)
    assert not any("def said(" in cell.source for cell in notebook.cells)
    boards = [k for k, cell in enumerate(notebook.cells) if cell.get("id") == "dashboard"]
    assert all(k < 0.75 * len(notebook.cells) for k in boards)
    assert sum(has_tag(cell, MAIN) for cell in notebook.cells) == 1


@pytest.mark.slow
def test_a_notebook_that_fails_is_noticed():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import no_such_module")])
    with pytest.raises(Exception, match="No module named 'no_such_module'"):
        NotebookClient(notebook, timeout=60).execute()
