"""What the browser is told to draw, against the records and the rows themselves."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench.dashboards import _canvas as canvas
from workbench.dashboards import _shared_memory as shared_memory
from workbench.dashboards._canvas import sampled
from workbench.dashboards._differences import (
    HistogramPanel,
    compared_measures,
    histogram_scene,
    measures_table,
    multiples_scene,
)
from workbench.dashboards._elements import number
from workbench.dashboards._shared_memory import TimePanels, time_scene
from workbench.dashboards.paired_runs import PairedRuns
from workbench.figures.drain_difference import drain_difference_data
from workbench.metrics.statistics import Steps


def said(other: str = "nearest_boundary", seeds: int = 6, count: int = 80) -> dict[str, object]:
    return {
        "engine": "shared_memory",
        "workload": {"regime": "large_uniform", "count": count},
        "policy": {"placement": {"vary": ["first_fit", other]}},
        "baseline": {"placement": "first_fit"},
        "seeds": seeds,
    }


def table_of(runs: PairedRuns, names: Sequence[str]) -> str:
    done = runs.advance(60)
    return measures_table(done, names, compared_measures(done, runs.points, "drain_cycles"))


def numbers(column: bytes) -> np.ndarray:
    return np.frombuffer(column, "<f8")


def test_a_strip_holds_every_grant_of_the_record():
    records = PairedRuns(said()).records(0)
    scene = time_scene(["a", "b"], records)
    assert (scene["rows"], scene["note"]) == (128, "")
    assert scene["until"] == max(record.release.max() for record in records)
    for strip, record in zip(scene["strips"], records, strict=True):
        columns = [np.arange(80), record.grant, record.release, record.base, record.length]
        assert numbers(strip["pieces"]).reshape(6, -1)[:5].tolist() == np.array(columns).tolist()


def test_workgroups_of_a_size_share_a_color_and_larger_ones_come_later_in_the_ramp():
    records = PairedRuns(said()).records(0)
    scene = time_scene(["a", "b"], records)
    colors = {}
    for strip in scene["strips"]:
        *_, length, color = numbers(strip["pieces"]).reshape(6, -1)
        for one, other in zip(length, color):
            assert colors.setdefault(one, other) == other
    in_order = [colors[length] for length in sorted(colors)]
    assert in_order == sorted(in_order) and set(in_order) == {0, 1, 2, 3, 4}
    assert [name for _, name in scene["key"]] == [*scene["fills"], "free"]


def test_lines_count_who_waits_and_what_is_free_at_every_cycle():
    record = PairedRuns(said(count=30)).records(1)[0]
    waiting, free = (line["curves"][0] for line in time_scene(["a"], [record])["lines"])
    for cycle in range(int(record.release.max())):
        holding = (record.grant <= cycle) & (record.release > cycle)
        assert value_at(waiting, cycle) == ((record.arrival <= cycle) & (record.grant > cycle)).sum()
        assert value_at(free, cycle) == 128 - record.length[holding].sum()


def value_at(curve: dict[str, bytes], cycle: int) -> float:
    cycles, values = numbers(curve["cycle"]), numbers(curve["value"])
    return float(values[np.flatnonzero(cycles <= cycle)[-1]])


def test_of_a_long_run_the_beginning_is_drawn_and_that_is_said(monkeypatch):
    monkeypatch.setattr(shared_memory, "MOST_GRANTS", 40)
    records = PairedRuns(said()).records(0)
    scene = time_scene(["a", "b"], records)
    whole = max(int(record.release.max()) for record in records)
    assert scene["until"] < whole
    assert scene["note"] == f", the first {scene['until']:,} of {whole:,}"
    assert all(len(numbers(strip["pieces"])) // 6 <= 40 for strip in scene["strips"])
    assert numbers(scene["lines"][0]["curves"][0]["cycle"])[-1] == scene["until"]


def test_grants_without_addresses_have_no_strip_but_a_sentence_and_lines():
    scene = time_scene(["a", "b"], PairedRuns(said("byte_counter")).records(0))
    assert scene["strips"][1]["pieces"] == b""
    assert "no addresses" in scene["strips"][1]["message"]
    assert len(scene["lines"][0]["curves"]) == 2


@given(st.lists(st.integers(1, 10_000), unique=True, min_size=1, max_size=60), st.integers(1, 12_000))
def test_a_sampled_line_passes_through_every_step_while_there_are_few(cycles, until):
    cycles = np.array(sorted(cycles))
    steps = Steps(7, cycles, np.arange(len(cycles)))
    places, values = sampled(steps, until)
    assert set(cycles[cycles < until]) <= set(places)
    assert (places[0], places[-1]) == (0, until)
    assert values.tolist() == steps.at(places).tolist()


def test_a_line_of_many_steps_is_sampled(monkeypatch):
    monkeypatch.setattr(canvas, "MOST_PLACES", 50)
    steps = Steps(0, np.arange(1, 1001), np.arange(1, 1001))
    places, values = sampled(steps, 1000)
    assert len(places) <= 52
    assert values.tolist() == places.tolist()


def test_a_panel_counts_its_pictures():
    panel = TimePanels()
    assert (panel.drawn, panel.scene) == (0, {})
    panel.put(time_scene(["a", "b"], PairedRuns(said(count=5)).records(0)))
    assert (panel.drawn, panel.scene["names"]) == (1, ["a", "b"])


def test_the_histogram_holds_every_seed_once():
    runs = PairedRuns(said(seeds=12))
    scene = histogram_scene(drain_difference_data(runs.advance(60), "drain_cycles"))
    pairs = [runs.records(seed) for seed in range(12)]
    gained = [int(a.release.max() - b.release.max()) for a, b in pairs]
    assert sum(scene["counts"]) + scene["tied"] == 12
    assert scene["tied"] == gained.count(0)
    assert scene["mean"] == pytest.approx(np.mean(gained))
    assert scene["low"] < scene["mean"] < scene["high"]
    assert f"better at {sum(g > 0 for g in gained)}, worse at {sum(g < 0 for g in gained)} of 12" in scene["words"]


def test_one_seed_has_a_mean_and_no_interval():
    scene = histogram_scene(drain_difference_data(PairedRuns(said(seeds=1)).advance(60), "drain_cycles"))
    assert (scene["low"], scene["high"]) == (None, None)
    assert "[" not in scene["words"]


def test_a_histogram_can_say_that_there_is_nothing_to_compare():
    panel = HistogramPanel()
    panel.say("nothing")
    assert (panel.scene["words"], panel.scene["counts"], panel.drawn) == ("nothing", [], 1)


def test_the_table_has_the_means_and_differences_of_the_runs():
    runs = PairedRuns(said())
    text = table_of(runs, runs.names)
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", text)][1:]
    result = {html.unescape(row[0]): [html.unescape(cell) for cell in row[1:]] for row in rows}
    block = wb.run(said()).comparisons("drain_cycles").blocks[0]
    first, other = (row.cells(block.measure) for row in block.rows)
    one = block.rows[1].verdict.of
    assert result["drain (cycles) ↓"] == [
        first.value,
        other.value,
        other.size,
        other.better_at,
        result["drain (cycles) ↓"][-1],
    ]
    assert result["drain (cycles) ↓"][-1].startswith("undecided: ")
    assert f'title="worse at {one.losses}, the same at {one.ties}"' in text
    assert "low end share" in result
    assert result["low end share"][2:] == ["", "", ""]


def test_a_measure_that_one_policy_lacks_is_left_out():
    runs = PairedRuns(said("byte_counter"))
    text = table_of(runs, runs.names)
    assert "wear gini" not in text
    assert "drain" in text


def test_what_is_better_and_what_is_worse_look_different():
    runs = PairedRuns(said("random_fit", seeds=20))
    text = table_of(runs, runs.names)
    assert 'class="wb-worse"' in text
    alike = PairedRuns(said(seeds=20))
    assert table_of(alike, alike.names).count('class="wb-better"') > 3


@pytest.mark.parametrize(("question", "word"), [("power_proxy_cv", "sure"), ("drain_cycles", "undecided")])
def test_the_measure_of_the_picture_is_tested_alone_and_the_others_together(question: str, word: str):
    runs = PairedRuns(said("next_fit", seeds=12))
    done = runs.advance(60)
    compared = compared_measures(done, runs.points, question)
    rows = re.findall(r"<tr>(.*?)</tr>", measures_table(done, runs.names, compared))
    (row,) = (row for row in rows if "power" in row)
    assert f">{word}" in row
    scene = histogram_scene(drain_difference_data(done, question), runs.names, compared.verdicts[question])
    assert compared.verdicts[question].comparisons == 1 and "1 comparison)" in scene["words"]
    assert {one.comparisons for name, one in compared.verdicts.items() if name != question} == {20}


def test_the_table_says_exact_where_nothing_is_drawn():
    sweep = {**said("next_fit"), "workload": {"synthetic": "random_workgroups", "count": 40, "size": 3, "duration": 9}}
    runs = PairedRuns(sweep)
    done = runs.advance(60)
    compared = compared_measures(done, runs.points, "drain_cycles")
    assert all(one.of.exact for one in compared.verdicts.values())
    assert ">better (exact)<" in measures_table(done, runs.names, compared)


def test_small_pictures_have_the_verdicts_of_their_table():
    sweep = said("next_fit", seeds=12)
    sweep["policy"] = {"placement": {"vary": ["first_fit", "best_fit", "next_fit", "last_fit", "random_fit"]}}
    runs = wb.run(sweep, workers=0)
    difference = drain_difference_data(runs, "power_proxy_cv")
    panels = multiples_scene(difference, [*range(len(difference.panels))])["panels"]
    (block,) = runs.comparisons("power_proxy_cv").blocks
    undecided = {row.name for row in block.rows if row.verdict and row.verdict.word == "undecided"}
    assert {one["name"] for one in panels if one["words"].endswith(" undecided")} == undecided
    assert "next_fit" in undecided


def test_names_are_text_not_markup():
    assert number(math.inf) == "inf"
    runs = PairedRuns(said())
    text = table_of(runs, ["first_fit", "<script>"])
    assert "&lt;script&gt;" in text
    assert "<script>" not in text
