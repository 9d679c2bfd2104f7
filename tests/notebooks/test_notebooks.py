"""Every notebook is committed without outputs, has parameters that papermill can set, and runs as it is."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import papermill
import pytest
from nbclient import NotebookClient

import workbench as wb
from tests.public_traces import NAMED
from tests.slow import LONG

FOLDER = Path(__file__).parent.parent.parent / "notebooks"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.ipynb"))


def read(name: str) -> nbformat.NotebookNode:
    return nbformat.read(FOLDER / name, as_version=4)


FEW = 2
"""Seeds of `make test`: that every cell runs and what does not depend on seeds; `make test-long` reads the findings."""


def executed(name: str) -> nbformat.NotebookNode:
    """The notebook with its outputs; a cell that fails raises."""
    notebook = read(name)
    if not LONG:
        (at,) = (k for k, cell in enumerate(notebook.cells) if cell.get("id") == "parameters")
        notebook.cells.insert(at + 1, nbformat.v4.new_code_cell(f"seeds = {FEW}"))
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(FOLDER)}}).execute()
    return notebook


def printed(notebook: nbformat.NotebookNode, cell_id: str) -> str:
    (cell,) = (cell for cell in notebook.cells if cell.get("id") == cell_id)
    return "".join(out.get("text", "") for out in cell.outputs)


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
    images = [out for cell in notebook.cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    assert len(images) == 6
    assert f"{2 * (200 if LONG else FEW)} runs" in printed(notebook, "run")
    assert "0 failed" in printed(notebook, "own-run")
    *lines, last = printed(notebook, "result").splitlines()
    if LONG:
        lines.append(last)
    else:
        assert last.startswith(f"none of 20 comparisons can be decided at {FEW} seeds")
    assert len(lines) == 4
    assert lines[0].startswith("nearest_boundary: ")
    assert lines[-1].startswith("middle_out(shift=8): ")
    if LONG:
        assert "; sure (p " in lines[0] and ": worse at" not in lines[0]
        assert ", worse at " in lines[-1]


@pytest.mark.slow
def test_the_second_notebook_compares_a_choice_of_its_own():
    notebook = executed("02_dispatch.ipynb")
    images = [out for cell in notebook.cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    assert len(images) == 7
    assert printed(notebook, "heads").splitlines()[0] == "strict_blocking: nobody goes"
    assert f"{2 * (20 if LONG else FEW)} runs" in printed(notebook, "run")
    for cell in ("run", "own-run", "trace-run"):
        assert "0 failed" in printed(notebook, cell)
    assert any(line.startswith("fewest_matrix: power_cv ") for line in printed(notebook, "own-said").splitlines())
    if LONG:
        assert "better than the baseline" in printed(notebook, "result-said").splitlines()[0]


@pytest.mark.slow
def test_the_third_notebook_asks_peers_and_evicts_by_a_policy_of_its_own():
    notebook = executed("03_translation.ipynb")
    images = [out for cell in notebook.cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    assert len(images) == 5
    assert printed(notebook, "ask").splitlines()[0] == "first bit: core 1"
    assert f"{16 * (12 if LONG else FEW)} runs" in printed(notebook, "run")
    for cell in ("run", "kernel-run", "own-run"):
        assert "0 failed" in printed(notebook, cell)
    messages = [line for line in printed(notebook, "said").splitlines() if ": shared_per_kilo " in line]
    assert len(messages) == 8
    lru, mru = (line for line in messages if "private" in line)
    for line in (lru, mru):  # in time alone: which misses are joined
        assert "; undecided (p " in line
    if LONG:
        assert all("; sure (p " in line for line in messages if "private" not in line)
    assert re.search(r"gate_any\b.*: private_hit_rate 0\b", printed(notebook, "fill"))
    assert any(line.startswith("third_newest, ") for line in printed(notebook, "own-run").splitlines())


@pytest.mark.slow
def test_the_fourth_notebook_serves_warps_in_a_way_of_its_own():
    notebook = executed("04_malloc.ipynb")
    images = [out for cell in notebook.cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    assert len(images) == 5
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
    images = [out for cell in notebook.cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    assert len(images) == 9
    chosen = dict(line.rsplit(": ", 1) for line in printed(notebook, "choose").splitlines())
    assert [*chosen.values()] == ["gpu3", "gpu6", "gpu6", "gpu5", "gpu5"]  # spec 5, section 4
    assert printed(notebook, "join").splitlines() == [
        "left apart: at addresses [0, 0, 64, 96], 192 bytes got from the driver",
        "joined: at addresses [0, 0, 64, 0], 96 bytes got from the driver",
    ]
    for cell in ("run", "caches-run", "replay", "own-run"):
        assert "0 failed" in printed(notebook, cell)
    assert printed(notebook, "cold-run").startswith("pytorch_caching: ")
    lines = printed(notebook, "said").splitlines()
    assert any(line.startswith("in_proportion: remote_access_mean_ns ") for line in lines)


@pytest.mark.slow
def test_the_sixth_notebook_goes_from_an_out_of_memory_error_to_a_setting(monkeypatch):
    if not LONG:
        monkeypatch.delenv("WORKBENCH_TRACES", raising=False)  # the public snapshots take a minute
    notebook = executed("06_your_snapshot.ipynb")
    images = [out for cell in notebook.cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    assert len(images) == 3
    message = printed(notebook, "exact").splitlines()
    assert re.fullmatch(r"segment allocations reproduced (\d+) of \1, addresses ([\d,]+) of \2", message[0])
    assert message[1].startswith("best: ")
    assert int(re.sub(r"\D", "", message[2])) > 0
    missing = printed(notebook, "five").splitlines()
    if LONG and NAMED:
        assert not missing
    else:
        assert len(missing) == 1 and missing[0].startswith("not on this machine: torch_")


@pytest.mark.slow
def test_the_seventh_notebook_takes_a_group_s_time_apart_and_chooses_modules_by_a_rule_of_its_own():
    notebook = executed("07_whole_node.ipynb")
    images = [out for cell in notebook.cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    assert len(images) == 2
    parts = printed(notebook, "one-run").splitlines()
    whole = int(re.sub(r"\D", "", parts[0].split(":")[1]))
    assert sum(int(re.sub(r"\D", "", line.split(":")[1])) for line in parts[1:-1]) == whole
    assert parts[-1].endswith("True")
    assert f"{10 * (3 if LONG else FEW)} runs" in printed(notebook, "run")
    for cell in ("run", "add-run", "own-run"):
        assert "0 failed" in printed(notebook, cell)
    *messages, seeds = printed(notebook, "both-said").splitlines()
    assert len(printed(notebook, "largest").splitlines()) == len(messages) - 1 == 5
    assert ", over 5 workloads: makespan_cycles " in messages[-1]
    assert "comparisons can be decided at 3 seeds" in seeds or not LONG


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
    images = [out for cell in notebook.cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    assert len(images) == 3
    assert printed(notebook, "vectors").count(": 0 of 1,000 states differ") == 3
    assert "the tree saves 70% of the area, you guessed 10%" in printed(notebook, "counted")
    assert "0 failed" in printed(notebook, "run")
    lines = printed(notebook, "search-run").splitlines()[::2]
    assert len(lines) == 4 and all(int(line.split()[2]) > 0 for line in lines)
    assert printed(notebook, "exercise-start").splitlines()[0].endswith("[4]")


@pytest.mark.slow
def test_the_opening_notebook_goes_from_a_guess_to_a_policy_of_ones_own():
    notebook = executed("00_start_here.ipynb")
    images = [out for cell in notebook.cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    assert len(images) == 1
    assert printed(notebook, "result").splitlines()[-1].startswith("you guessed 0 %, it is ")
    (own,) = (line for line in printed(notebook, "own").splitlines() if line.startswith("highest_fit: drain_cycles"))
    assert "the same at all" in own  # the mirror image of first fit


@pytest.mark.slow
def test_the_tenth_notebook_searches_holds_out_and_says_where_a_policy_loses():
    notebook = executed("10_tuning.ipynb")
    images = [out for cell in notebook.cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    assert len(images) == 3
    assert printed(notebook, "tune").splitlines()[0] == "60 trials, 0 failed"
    assert printed(notebook, "discovery").startswith("nearest_boundary loses in wait_mean_cycles ")


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


@pytest.mark.slow
def test_a_notebook_that_fails_is_noticed():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import no_such_module")])
    with pytest.raises(Exception, match="No module named 'no_such_module'"):
        NotebookClient(notebook, timeout=60).execute()
