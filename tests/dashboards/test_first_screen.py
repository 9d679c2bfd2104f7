"""What stands on a page's first screen: the result in large type, a recorded picture at first, names, refusals."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

import workbench as wb
from workbench.dashboards import _first_compile as first_compile
from workbench.dashboards._differences import headline
from workbench.dashboards._first_compile import FirstCompile
from workbench.dashboards._recorded import canvases, recorded
from workbench.dashboards._sections import IDLE, SHOWN, _is_idle
from workbench.dashboards.paired_runs import PairedRuns
from workbench.metrics.measure import Measure
from workbench.statistics import compare, judge

TIMES = Measure("makespan_cycles", "cycles", "lower", "", compared_by="ratio")
RATES = Measure("completed_rate", "", "higher", "")
ENGINES = ["shared_memory", *(pytest.param(name, marks=pytest.mark.slow) for name in ("dispatch", "malloc", "pool"))]
ENGINES += [pytest.param("translation", marks=pytest.mark.slow)]
ENGINES += [pytest.param("node", marks=pytest.mark.slow)]


def close_to(value):
    """The same value, but for the last digits of its numbers, which depend on the machine."""
    if isinstance(value, dict):
        return {key: close_to(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [close_to(inner) for inner in value]
    return pytest.approx(value, rel=1e-6) if isinstance(value, float) else value


@pytest.mark.parametrize("engine", ENGINES)
def test_a_page_records_what_it_computes(engine):
    """Else `python -m docs.record_dashboards NAME` records it again."""
    state, page = recorded(engine), wb.dashboard(engine)
    try:
        page.finish()
        assert state is not None
        assert [close_to(one.scene) for one in canvases(page.board)] == state.scenes
        assert page.table.value == state.table
    finally:
        page.close()


def test_the_headline_is_the_size_and_the_verdict():
    old = [1000 + 7 * k for k in range(12)]
    faster, slower, same = (
        judge({"": compare(old, [share * one for one in old], compared_by="ratio")})[""] for share in (0.8, 1.25, 1)
    )
    assert headline(faster, TIMES) == "1.25x faster, sure"
    assert headline(slower, TIMES) == "0.8x as fast, sure worse"
    assert headline(same, TIMES) == "No difference"
    rates = [0.5 + 0.01 * k for k in range(12)]
    less = judge({"": compare(rates, [one - 0.25 for one in rates], better="higher")})[""]
    assert headline(less, RATES) == "completed rate: 0.25 less, sure worse"
    more = judge({"": compare(old, [1.25 * one for one in old], better="higher", compared_by="ratio")})[""]
    assert headline(more, RATES) == "completed rate: 1.25x better, sure"
    few = judge({"": compare(old[:3], [old[0] + 90, old[1] - 80, old[2] + 1], compared_by="ratio")})[""]
    assert "undecided" in headline(few, TIMES)


def test_a_compilation_goes_on_without_the_page_and_says_how_far_it_is(monkeypatch, tmp_path):
    done = tmp_path / "done"
    wait = "import pathlib, time; time.sleep(0.3)"  # stands for a compilation
    program = f"{wait}; pathlib.Path({str(done)!r}).write_text({{!r}})"
    monkeypatch.setattr(first_compile, "_PROGRAM", program)
    monkeypatch.setattr(first_compile, "INTERPRETED", False)
    monkeypatch.setattr(first_compile, "is_compiled", lambda _: False)

    async def begun() -> tuple[bool, str, bool]:
        one = FirstCompile("pool")
        runs, words = one.runs(), one.progress()
        assert one._process is not None
        session = Path(f"/proc/{one._process.pid}/stat").read_text().rsplit(")", 1)[1].split()[3]
        own = session == str(one._process.pid) if sys.platform == "linux" else True
        one._process.wait()
        assert not one.runs()
        return runs, words, own

    assert not FirstCompile("pool").runs(), "without a loop nobody waits for it"
    runs, words, own = asyncio.run(begun())
    assert runs and own and done.read_text() == "pool"
    assert "The engine pool is compiled, once on this machine: 0 of about" in words and "<progress" in words


def test_a_page_waits_for_the_compilation_and_then_runs(monkeypatch):
    left = [True, True, True, False, False]
    monkeypatch.setattr(FirstCompile, "runs", lambda _self: left.pop(0) if left else False)
    monkeypatch.setattr("workbench.dashboards._paired_dashboard.LOOK_SECONDS", 0.0)

    async def statuses() -> list[str]:
        page = wb.dashboard("shared_memory")
        seen = []
        while not page._runs:
            await asyncio.sleep(0)
            seen.append(page.status.value)
        page.close()
        return seen

    seen = asyncio.run(statuses())
    assert any("is compiled, once on this machine" in one for one in seen)
    assert not any("eload" in one for one in seen)


@pytest.fixture(scope="module")
def page():
    made = wb.dashboard("shared_memory")
    yield made
    made.close()


def test_a_refusal_is_one_sentence_at_its_lever(page):
    before = page.sidebar.setting()
    page.sidebar.turn({"workload.random_workgroups.size.uniform.high": 200})
    high = dict(page.sidebar.walk())["workload.random_workgroups.size.uniform.high"]
    (sentence,) = [child for child in high.widget.children if "wb-refusal" in child._dom_classes]
    assert "must draw at most 128 segments" in sentence.value
    assert "wb-at-lever" in page.status._dom_classes
    page.show(before)
    assert not [child for child in high.widget.children if "wb-refusal" in child._dom_classes]
    assert "wb-at-lever" not in page.status._dom_classes


def test_levers_of_circuits_are_folded_and_change_no_run(page):
    idle = {path: control for path, control in page.sidebar.walk() if _is_idle(path)}
    assert len(idle) == 6 and all(IDLE in control.widget._dom_classes for control in idle.values())
    assert not page.sidebar.idle.visible
    page.sidebar.idle.widget.click()
    assert SHOWN in page.sidebar.widget._dom_classes
    page.sidebar.search.value = "lut"
    page.sidebar.search.value = ""
    assert not page.sidebar.idle.visible
    setting = {**page.sidebar.config(), "seeds": 2}
    measured = set()
    for path in idle:
        name = path.rpartition(".")[2]
        for value in idle[path].lever.choices or (1, 64):
            policy = {"placement": {"vary": ["first_fit", {"nearest_boundary": {name: value}}]}}
            rows = PairedRuns({**setting, "policy": policy}).advance(600).rows.values()
            measured.add(repr([row.measures for row in rows]))
    assert len(measured) == 1
