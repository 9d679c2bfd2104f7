"""The table of results: its rows and their order, the words of verdicts, hangs, and what a terminal and a page show."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.statistics.test_hangs import compared
from tests.statistics.test_hangs import file as file  # a fixture
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.experiments.hangs import Hang
from workbench.metrics.measure import Measure
from workbench.statistics import compare, judge, mean_interval
from workbench.statistics.best import bold_points
from workbench.statistics.quantities import estimate
from workbench.statistics.result_rows import ResultBlock, ResultRow, verdict_words
from workbench.statistics.result_table import ResultTable

SWEEP: dict[str, Any] = {
    "engine": "shared_memory",
    "workload": {"regime": {"vary": ["large_uniform", "bimodal"]}, "count": 40},
    "policy": {"placement": {"vary": ["worst_fit", "first_fit", "best_fit", "nearest_boundary"]}},
    "baseline": {"placement": "first_fit"},
    "seeds": 40,
    "measures": ["drain_cycles", "mean_external_fragmentation", "low_end_share"],
}
TIMES = Measure("makespan_cycles", "cycles", "lower", "", compared_by="ratio")


@pytest.fixture(scope="module")
def results() -> wb.Results:
    return wb.run(SWEEP, workers=0)


@pytest.fixture(scope="module")
def table(results) -> ResultTable:
    return results.comparisons()


def test_a_block_per_workload_and_measure_has_the_baseline_first_and_is_sorted(table):
    headings = [block.heading for block in table.blocks]
    assert headings[0] == "drain_cycles, large_uniform (cycles, less is better, 40 seeds)"
    assert headings[2] == "drain_cycles, over workloads (cycles, less is better, 40 seeds)"
    for block in table.blocks:
        sizes = [row.verdict.of.size.mean for row in block.rows if row.verdict is not None]
        assert sizes == sorted(sizes, reverse=True)
        if block.setting != "over workloads" and block.measure.better != "neither":
            assert [row.is_baseline for row in block.rows] == [True, False, False, False]
            assert block.rows[0].name == "first_fit"


def test_a_difference_measure_is_sorted_by_difference_and_has_its_own_column(table):
    block = next(one for one in table.blocks if one.measure.name == "mean_external_fragmentation")
    assert block.texts[0].size == "difference"
    differences = [row.verdict.of.size.mean for row in block.rows[1:]]
    assert differences == sorted(differences, reverse=True)
    cells = [row.cells(block.measure).size for row in block.rows[1:]]
    assert all(text.endswith((" less", " more")) for text in cells)


def test_a_measure_without_a_better_side_shows_its_intervals(table):
    block = table.blocks[-1]
    assert block.measure.name == "low_end_share" and block.texts[0] == ("policy", "mean", "95 % interval", "", "")
    assert all(row.cells(block.measure).size.startswith("[") and not row.bold for row in block.rows)


def test_bold_rows_are_those_of_the_one_rule(table, results):
    for name in SWEEP["measures"]:
        points = {row.point for block in table.blocks if block.measure.name == name for row in block.rows if row.bold}
        assert points - {""} == bold_points(results, name)


def verdict(gains: Any, family: int = 1, **more: Any) -> Any:
    gains = np.array(gains, float)
    baseline = np.full(gains.size, 1000.0)
    one = compare(baseline, baseline - gains, compared_by="ratio", **more)
    others = {k: compare([1.0, 2.0], [2.0, 1.0]) for k in range(family - 1)}
    return judge({"one": one, **others})["one"]


@pytest.mark.parametrize(
    ("gains", "more", "words"),
    [
        (np.linspace(20, 60, 20), {}, "sure better"),
        (np.linspace(-60, -20, 20), {}, "sure worse"),
        ([*[30.0] * 14, *[-4.0] * 12], {}, "better on average"),
        ([1.0, -1.0, 2.0, -2.0, 0.0] * 4, {}, "as good as equal"),
        (np.linspace(1, 3, 20), {}, "sure better, by less than 1 %"),
        ([4.0], {"exact": True}, "better (exact)"),
        ([4.0], {}, "undecided: one run is no sample"),
        ([0.0] * 8, {}, "the same"),
        (np.linspace(-60, 80, 20), {"family": 5}, "undecided: 242 more seeds"),
        ([900.0, -50000.0] * 10, {"least_effect": 0.001}, "undecided: over 100,000 seeds"),
    ],
)
def test_the_words_of_a_verdict(gains, more, words):
    assert verdict_words(verdict(gains, **more), TIMES) == words


def test_a_policy_that_hangs_at_every_seed_is_last_and_has_no_speed_up(file):
    results = compared(file, ["first_module", "round_robin", "best_fit_module"])
    makespan, never = results.comparisons().blocks
    cells = [row.cells(makespan.measure) for row in makespan.rows]
    assert [(one.name, one.size, one.verdict) for one in cells] == [
        ("first_module", "baseline", ""),
        ("best_fit_module", "", "the same"),
        ("round_robin", "hangs (1 of 5)", "worse (exact)"),
    ]
    assert [row.name for row in makespan.rows if row.bold] == ["first_module", "best_fit_module"]
    assert never.rows[-1].name == "round_robin" and not never.rows[-1].bold


def test_a_baseline_that_hangs_says_so(file):
    results = compared(file, ["two_choices", "random_module"], seeds=30)
    block = results.comparisons().blocks[0]
    assert block.heading == "makespan_cycles (cycles, less is better, 30 seeds)"
    baseline, other = (row.cells(block.measure) for row in block.rows)
    assert (baseline.size, baseline.verdict) == ("baseline", "hangs (1 of 5)")
    assert other.size == "no pair ends" and other.verdict.startswith("hangs at 22 of 30 seeds; ")


def test_a_policy_that_hangs_at_some_seeds_shows_the_speed_up_over_the_others():
    one = verdict([-math.inf] * 3 + [90.0, 80.0, 70.0] * 9)
    row = ResultRow("odd", mean_interval([900.0, 910.0]), one, False, False, "p", Hang(3, 30, "1 of 5"))
    cells = row.cells(TIMES)
    assert re.fullmatch(r"1\.08\d+x \[.*\]", cells.size) and cells.better_at == "27 of 30"
    assert cells.verdict == "hangs at 3 of 30 seeds; better on most seeds"
    starved = row._replace(hang=None).cells(TIMES)
    assert starved.verdict == "3 of 30 runs do not end; better on most seeds"
    wear = row._replace(hang=None).cells(TIMES._replace(name="wear_max_over_min", unit=""))
    assert wear.verdict == "3 of 30 pairs lack a finite value; better on most seeds"


@pytest.mark.parametrize("width", [48, 80, 120])
def test_no_line_is_wider_than_asked_for_and_no_word_is_lost(table, width):
    text = [*table.lines(width)]
    assert max(map(len, text)) <= width
    words = " ".join(text).split()
    assert words.count("baseline") == 4 and "sure" in words and "1.047x" in words
    assert sum(line.startswith("* ") for line in text) == sum(row.bold for one in table.blocks for row in one.rows)
    assert " ".join(words).count("*: the best of its block, and all that may be as good (95 %)") == 1


def test_a_block_without_a_best_policy_says_so(table):
    (block, *_) = table.blocks
    plain = block._replace(rows=[row._replace(bold=False) for row in block.rows])
    both, one, none = (ResultTable(blocks, []) for blocks in ([block, plain], [plain], [table.blocks[-1]]))
    assert both.key[:2] == [
        "*: the best of its block, and all that may be as good (95 %)",
        "no *: no policy of that block is shown to be the best",
    ]
    assert one.key[0] == both.key[1] and not none.key
    assert "<div>no bold: no policy of that block" in one._repr_html_()
    assert "<div>bold: the best of its block" in both._repr_html_()


def test_a_long_name_is_wrapped_and_whole():
    long = "nearest_boundary(tie=high), oldest_first, shared_rate(law=linear)"
    rows = [ResultRow(long, mean_interval([900.0, 910.0]), verdict(np.linspace(20, 60, 20)), False, False)]
    text = [*ResultTable([ResultBlock(TIMES, "", "20 seeds", rows)], []).lines(80)]
    assert max(map(len, text)) <= 80
    name = re.sub(r"\s", "", "".join(line[2:40].split("  ")[0] for line in text[2:5]))
    assert name.startswith("nearest_boundary(tie=high),oldest_first,")


def test_a_terminal_has_colors_and_bars_only_where_there_is_room(table):
    plain, narrow, wide = ("\n".join(table.lines(width, on)) for width, on in ((120, False), (80, True), (120, True)))
    assert "\x1b[" not in plain and "█" not in plain
    assert "\x1b[32m" in narrow and "█" not in narrow
    assert "│███" in wide and "██│" in wide
    assert re.sub(r"\x1b\[[\d;]*m", "", narrow) == "\n".join(table.lines(80))


def test_a_wide_table_has_the_p_values_and_no_wrapped_row(table):
    text = [*table.lines(None)]
    (header,) = {line for line in text[:2] if "p of direction" in line}
    assert len(text[3]) > 100 and header.endswith("seeds for least effect")


def test_columns_of_numbers_are_not_wrapped_while_words_can_be(table):
    text = "\n".join(table.lines(80))
    assert "1 of 2 workloads" in text and " 26 of 40   better on\n" in text


def test_results_print_as_a_card_of_80_columns_and_30_lines(results):
    text = repr(results)
    assert str(results) == text
    lines = text.splitlines()
    assert len(lines) <= 30 and max(map(len, lines)) <= 80
    assert lines[1].startswith("engine: shared_memory; runs: 320 of 320; points: 8 x 40 seeds; policy.placement:")
    assert "drain_cycles, large_uniform (cycles, less is better, 40 seeds)" in lines
    assert lines[-1] == "and 5 more blocks: results.comparisons()"
    assert repr(results.comparisons()) == results.comparisons().text(80)


def test_a_card_of_many_policies_counts_the_rows_that_it_leaves_out():
    many = [{"nearest_boundary": {"tie": tie}} for tie in ("low", "high", "alternate")]
    many += ["best_fit", "worst_fit", "next_fit", "first_fit"]
    queues = ["fifo_head_only", "fifo_lookahead"]
    policy = {"placement": {"vary": many}, "queue": {"vary": queues}}
    sweep = {**SWEEP, "policy": policy, "seeds": 2, "measures": ["drain_cycles"]}
    results = wb.run({**sweep, "baseline": {"placement": "first_fit", "queue": queues[0]}}, workers=0)
    lines = repr(results).splitlines()
    assert len(lines) <= 30
    assert re.fullmatch(r"and \d+ more rows?, 2 more blocks: results\.comparisons\(\)", lines[-1])


def test_a_shard_and_a_sweep_without_rows_print_too(tmp_path):
    few = {**SWEEP, "seeds": 2, "measures": ["drain_cycles"]}
    shard = wb.run(few, tmp_path / "part", workers=0, shard="1/2")
    assert "shard 1 of 2" in repr(shard) and "drain_cycles," not in repr(shard)
    assert repr(wb.Results(wb.planned(few), [])).startswith("sweep\nengine: shared_memory; runs: 0 of 16")


def test_a_bundle_opens_as_its_results_and_keeps_its_figures(results, tmp_path, capsys):
    bundle = results.export(tmp_path / "paper", figures=[])
    opened = wb.open_results(bundle)
    assert repr(opened) == repr(results) and opened._repr_html_() == results._repr_html_()
    assert main(["results", str(bundle)]) == 0
    assert "sure better" in capsys.readouterr().out
    assert main(["results", str(bundle), "--figure", "pareto"]) == 2
    assert "name another folder with --to" in capsys.readouterr().err


def test_a_notebook_shows_bold_rows_and_escapes_names(table):
    html = table._repr_html_()
    assert html.count("<b>nearest_boundary</b>") == sum(
        row.bold for block in table.blocks for row in block.rows if row.name == "nearest_boundary"
    )
    named = table.blocks[0]._replace(rows=[table.blocks[0].rows[0]._replace(name="<script>")])
    assert "&lt;script&gt;" in ResultTable([named], [])._repr_html_()


def test_one_number_is_rounded_alike_in_terminal_notebook_and_paper(results, tmp_path):
    """A mean of 4 digits in one place and of 3 in another was two numbers to a reader."""
    row = results.comparisons("drain_cycles").blocks[0].rows[1]
    cells = row.cells(results.comparisons("drain_cycles").blocks[0].measure)
    bundle = results.export(tmp_path / "paper")
    tex = (bundle / "tables" / "drain_cycles.tex").read_text().replace("\\times\\;", "x ")
    line = next(line for line in tex.splitlines() if line.startswith(row.name.replace("_", " ") + " &"))
    assert f"{{{cells.value} \\pm" in line and cells.size in line
    tex_rows = [line.partition(" &")[0] for line in tex.splitlines() if " & 40 & " in line]
    blocks = [one for one in results.comparisons("drain_cycles").blocks if one.setting != "over workloads"]
    assert tex_rows == [each.name.replace("_", " ") for one in blocks for each in one.rows]
    assert f"& {cells.verdict} " in line
    numbers = (bundle / "numbers.tex").read_text()
    assert f"{{\\ensuremath{{{cells.size.partition('x')[0]}}}}}" in numbers
    assert cells.value == estimate(row.mean) and cells.value in results._repr_html_()


def test_the_command_prints_the_object_and_export_speaks_json(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    few = wb.run({**SWEEP, "seeds": 4, "measures": ["drain_cycles"]}, tmp_path / "out", workers=0)
    assert main(["results", "out"]) == 0
    assert capsys.readouterr().out.startswith(few.comparisons().text(80) + "\n")
    assert main(["export", "out", "--to", "paper", "--figures", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"bundle": "paper", "needs": []}


def test_an_unknown_measure_is_refused_in_one_sentence(results):
    with pytest.raises(InputError, match="wait_mean_cycles"):
        results.comparisons("wait_mean_cycles")
