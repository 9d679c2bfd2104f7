"""The dashboard `dispatch` whole, without a browser: what the user turns, what the panels are told."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest
import yaml

import workbench as wb
from tests.oracles.dispatch_measures import dispatches, makespan, waits
from tests.slow import thinned
from workbench.dashboards import _dispatch_timeline as dispatch_timeline
from workbench.dashboards._dispatch import CONFIG, DispatchView, power_note, resources_line
from workbench.dashboards._dispatch_timeline import dispatch_scene
from workbench.dashboards._interval_panels import FAR_APART, Side, intervals_scene
from workbench.dashboards._sidebar import Sidebar
from workbench.engines.dispatch import Dispatch
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.figures.estimates import Means
from workbench.machine import Machine, presets, read_machine
from workbench.mechanisms.mechanism import mechanism

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def records():
    plan = make_plan(read_sweep(Sidebar(mechanism("dispatch"), CONFIG).config()))
    return [Dispatch().simulate(point.setup, 0) for point in plan.points]


@pytest.fixture
def shown(two_seeds):
    made = wb.dashboard("dispatch")
    yield made
    made.close()


@pytest.fixture
def opened():
    made = wb.dashboard("dispatch")
    yield made
    made.close()


def status(displayed) -> str:
    return html.unescape(re.sub("<.*?>", "", displayed.status.value))


def complete(displayed) -> None:
    """Where a machine is slow a move shows a few seeds, and without an event loop the rest follows at once."""
    assert status(displayed) == f"{displayed.sidebar.seeds.plain()} paired runs."


def numbers(column: bytes) -> np.ndarray:
    return np.frombuffer(column, "<f8")


@pytest.mark.usefixtures("sent_whole")
def test_it_opens_with_the_document_s_first_claim(opened):
    complete(opened)
    assert "served_marks against strict_blocking: " in opened.histogram.scene["words"]
    assert opened.panels.timeline.scene["names"] == ["strict_blocking", "served_marks"]
    for panel in (opened.panels.waits, opened.panels.spread, opened.panels.power):
        assert [line["place"] for line in panel.scene["lines"]] == [0, 1]
        assert panel.scene["words"] == ""
    assert [line["x"] for line in opened.panels.waits.scene["lines"]] == [[1, 2, 3, 4]] * 2
    assert opened.panels.power.scene["lines"][0]["x"] == list(range(8))
    assert "mean of 8 seeds with its 95 % interval" in opened.panels.seeds.value
    assert "wait mean (cycles) ↓" in opened.table.value


def test_cards_say_what_counts_before_a_move_is_run(shown, monkeypatch):
    """A policy that is new is compiled first, and whoever moved on meanwhile added to lengths that count no more."""
    seen = []
    sampled = shown.cards.cards["k"].sides["other"]
    monkeypatch.setattr(shown, "_show_seed", lambda _runs: seen.append(list(sampled.control.chips.value)))
    shown.cards.cards["Z"].sides["other"].control.box.value = 16
    assert seen == [[1, 2, 3, 4, 6, 8, 12, 16]]


def test_a_turned_lever_changes_every_panel(shown):
    def pictures():
        panels = shown.panels
        drawn = [panels.timeline, panels.waits, panels.spread, panels.power, shown.histogram]
        return [*(panel.scene for panel in drawn), shown.table.value]

    before = pictures()
    shown.sidebar.machine.levers.controls["compute_units"].box.value = 6
    complete(shown)
    assert all(a != b for a, b in zip(before, pictures(), strict=True))


def test_a_lever_of_a_score_within_the_sum_counts(shown):
    before = shown.panels.timeline.scene["strips"]
    choice = shown.sidebar.policies.baseline["choice"].chosen.controls["choices"]
    choice.items[1].chosen.controls["nx"].box.value = 16
    complete(shown)
    assert shown.panels.timeline.scene["strips"] != before


def test_without_power_its_panel_says_how_to_turn_it_on(shown):
    shown.sidebar.options.controls["power"].names.value = "no_power"
    complete(shown)
    assert "Power is off" in shown.panels.power.scene["words"]
    assert "power cv" not in shown.table.value


def test_what_cannot_be_is_a_sentence_and_the_panels_stay(shown):
    before = shown.panels.timeline.scene
    shown.sidebar.machine.levers.controls["segments"].box.value = 8
    assert "shared_segments must be at most 8" in status(shown)
    assert "wb-stale" in shown.board._dom_classes
    assert shown.panels.timeline.scene == before
    shown.sidebar.machine.levers.controls["segments"].box.value = 128
    complete(shown)
    assert "wb-stale" not in shown.board._dom_classes


def test_weights_of_the_wrong_number_are_a_sentence(shown):
    choice = shown.sidebar.policies.baseline["choice"].chosen.controls["choices"]
    choice.add.click()
    assert "weights must be 3" in status(shown)


def test_the_view_chooses_colours_modules_and_waiting(shown):
    scene = shown.panels.timeline.scene
    assert (scene["meaning"], [text for _, text in scene["ticks"]]) == ("priority", ["0", "1", "2", "3"])
    mean = shown.panels.waits.scene["lines"]
    view = shown.sidebar.view.controls
    view["colours"].field.value = "channel"
    view["first_module"].box.value = 6
    view["waiting"].field.value = "max"
    scene = shown.panels.timeline.scene
    assert (scene["meaning"], [text for _, text in scene["ticks"]]) == ("channel", ["6", "7"])
    assert [text for text, _ in scene["key"]] == [*(f"channel {k}" for k in range(4)), "idle"]
    assert all(a > b for a, b in zip(shown.panels.waits.scene["lines"][0]["mean"], mean[0]["mean"], strict=True))


def test_the_same_dispatcher_twice_has_nothing_to_compare(shown):
    shown.sidebar.policies.other["selection"].names.value = ""
    complete(shown)
    assert shown.histogram.scene["words"] == "Both sides are the same: there is nothing to compare."


def test_what_is_seen_is_what_the_sweep_below_it_gives(shown):
    shown.sidebar.policies.other["choice"].names.value = "round_robin"
    shown.folded.selected_index = 0
    message = yaml.safe_load(shown.sweep.value)
    assert "&id" not in shown.sweep.value
    summary = wb.run(message).summary()
    wait = summary[(summary["measure"] == "groups_per_kilocycle") & summary["mean_difference"].notna()]
    assert wait["mean_difference"].tolist() == pytest.approx([shown.histogram.scene["mean"]])


def test_waiting_by_priority_is_the_mean_over_the_seeds(shown):
    shown.sidebar.seeds.box.value = 3
    plan = make_plan(read_sweep(shown.sidebar.config()))
    line = shown.panels.waits.scene["lines"][1]
    other = [Dispatch().simulate(plan.points[1].setup, seed) for seed in range(3)]
    for place, level in enumerate(line["x"]):
        means = [np.mean([w for group, w in waits(r).items() if r.priority[group] == level]) for r in other]
        assert line["mean"][place] == pytest.approx(np.mean(means))
        assert line["low"][place] < line["mean"][place] < line["high"][place]


def test_a_strip_holds_every_dispatch_to_the_modules_shown(records):
    scene = dispatch_scene(["a", "b"], records, "priority", (1, 3))
    assert (scene["rows"], scene["first"], scene["slots"]) == (2 * 4 * 10, 1, 10)
    assert scene["until"] == max(map(makespan, records))
    for strip, record in zip(scene["strips"], records, strict=True):
        result = {}
        for item, begin, end, base, length, fill in zip(*numbers(strip["pieces"]).reshape(6, -1), strict=True):
            assert 0 <= base < base + length <= scene["rows"]
            row = scene["rows"] - base - length
            unit = 1 + row // 40, (row % 40) // 10
            result.setdefault((item, begin, end, fill), {}).setdefault(unit, 0)
            result[item, begin, end, fill][unit] += length
        expected = {}
        for d in dispatches(record):
            if d["module"] in (1, 2):
                key = d["group"], d["cycles"].start, d["cycles"].stop, d["level"] - 1
                expected[key] = {(d["module"], unit): n for unit, n in enumerate(d["sent"]) if n}
        assert result == expected


def test_of_a_long_run_the_beginning_is_drawn_and_that_is_said(records, monkeypatch):
    monkeypatch.setattr(dispatch_timeline, "MOST_DISPATCHES", 40)
    scene = dispatch_scene(["a", "b"], records, "channel", (0, 4))
    whole = max(map(makespan, records))
    assert scene["until"] < whole
    assert scene["note"] == f", the first {scene['until']:,} of {whole:,}"
    for strip in scene["strips"]:
        begins = numbers(strip["pieces"]).reshape(6, -1)[1]
        assert len(begins) > 0
        assert (begins < scene["until"]).all()


def test_the_modules_shown_are_those_that_there_are():
    assert DispatchView(first_module=2, modules=4).span(8) == (2, 6)
    assert DispatchView(first_module=7, modules=4).span(8) == (7, 8)
    assert DispatchView(first_module=50).span(1) == (0, 1)


def test_far_apart_values_have_a_logarithmic_axis_and_unknown_limits_are_left_out():
    near = Side(0, np.array([1.0, 2.0]), Means(np.array([1.0, 2.0]), np.full(2, np.nan), np.full(2, np.nan)))
    far = near._replace(place=1, means=near.means._replace(mean=np.array([1.0, FAR_APART])))
    scene = intervals_scene("Waiting", "priority", "cycles", [near])
    assert (scene["log"], scene["lines"][0]["low"]) == (False, [None, None])
    assert intervals_scene("Waiting", "priority", "cycles", [near, far])["log"]
    zero = near._replace(means=near.means._replace(mean=np.array([0.0, 99.0])))
    assert not intervals_scene("Waiting", "priority", "cycles", [zero])["log"]


def test_a_run_without_power_has_no_power_note(records):
    assert power_note(records[0]).shape == (8,)
    assert power_note(records[0]._replace(power=None)).size == 0


def test_the_machine_says_what_a_dispatcher_reserves():
    note = resources_line(read_machine("patent_dispatch"))
    assert note == ("16 modules of 4 units; a unit: 128 vgpr, 64 sgpr, 10 waves; a module: 128 shared, 40 workgroups")


def resources(sidebar):
    machine = read_machine(sidebar.machine.plain())
    return {resource.label: resource.blocks for resource in machine.resources()}


@pytest.mark.parametrize("simds", [3, *(pytest.param(simds, marks=pytest.mark.slow) for simds in (1, 7, 64))])
def test_turning_the_simds_leaves_the_blocks_of_each(simds):
    sidebar = Sidebar(mechanism("dispatch"), CONFIG)
    before = resources(sidebar)
    sidebar.machine.levers.controls["simds_a_unit"].box.value = simds
    assert resources(sidebar) == before
    sidebar.machine.levers.controls["vgprs_a_unit"].box.value = 33
    assert resources(sidebar) == {**before, "vgpr": 33}


@pytest.mark.parametrize("name", thinned([row["name"] for row in presets(Machine)], 9))
def test_no_number_of_blocks_that_is_offered_is_refused(name):
    sidebar = Sidebar(mechanism("dispatch"), CONFIG)
    sidebar.machine.names.value = "patent"
    sidebar.machine.names.value = name  # a preset that is chosen shows its own levers
    assert read_machine(sidebar.machine.plain()) == read_machine(name)
    levers = sidebar.machine.levers.controls
    for simds in (1, 5, 64):
        levers["simds_a_unit"].box.value = simds
        for lever in ("vgprs_a_unit", "sgprs_a_unit", "waves_a_unit"):
            for blocks in (0, 10**9):
                levers[lever].box.value = blocks
                assert resources(sidebar)


def test_a_choice_of_a_cell_appears_when_the_cell_was_run(shown):
    from workbench.policies import policy as catalogue
    from workbench.policies.dispatch.choice import Choice

    space = {"__name__": "__main__"}
    exec("def answer(see):\n    for k in range(see.count):\n        see.scores[k] = k", space)
    made = type("HighestModule", (Choice,), {"answer": space["answer"], "__module__": "__main__"})
    try:
        shown._watch._after_cell()
        shown.sidebar.policies.other["choice"].names.value = made.name
        complete(shown)
        assert shown.panels.timeline.scene["names"][1] == "served_marks, highest_module"
    finally:
        catalogue._CATALOGUE["choice"].pop(made.name)


@pytest.mark.usefixtures("two_seeds")
def test_the_slots_between_queue_and_unit_are_slots_of_the_board(opened):
    """Dies and admission stand among the others, and a choice of one changes what is drawn."""
    assert {"die", "admission"} <= set(opened.sidebar.policies.baseline)
    before = opened.panels.timeline.scene["strips"]
    opened.sidebar.machine.levers.controls["dies"].show((2, 6))
    opened.sidebar.policies.other["die"].names.value = "round_robin_dies"
    complete(opened)
    assert opened.panels.timeline.scene["strips"] != before


@pytest.mark.usefixtures("two_seeds")
@pytest.mark.parametrize("side", ["baseline", "other"])
def test_a_run_that_hangs_is_a_sentence(opened, side):
    """Channels without a part of the modules wait for ever, on one side."""
    of_side = getattr(opened.sidebar.policies, side)
    of_side["admission"].names.value = "partition_by_channel"
    of_side["admission"].chosen.controls["others"].field.value = "nowhere"
    complete(opened)
    missing = "drain_difference needs groups_per_kilocycle, which a run that hangs does not have: "
    assert opened.histogram.scene["words"].startswith(missing)
    assert opened.panels.spread.scene["words"].startswith("Some module was given nothing")
    assert "groups never started (groups) ↓" in html.unescape(opened.table.value)
    assert "Traceback" not in opened.table.value
    assert opened.panels.timeline.scene["strips"][side == "other"]["pieces"]
    of_side["admission"].names.value = "open_to_all"
    complete(opened)
    assert "not defined" not in opened.histogram.scene["words"]


@pytest.mark.usefixtures("two_seeds")
def test_a_page_on_which_runs_hang_says_so_and_what_is_lacking(opened):
    setting = opened.sidebar.setting()
    opened.show({**setting, "workload": {"waiting_kernels": {}}})
    assert [bool(re.search(r", hangs at cycle [\d,]+$", name)) for name in opened.panels.timeline.scene["names"]] == [
        True,
        True,
    ]
    words = opened.panels.waits.scene["words"]
    assert words.startswith("strict_blocking hangs at cycle ")
    assert " served_marks hangs at cycle " in words
    assert re.search(r"\d lack (wave slots|vector registers) \(group \d+: \d+ more on module \d\)", words)
    assert "which a run that hangs does not have: " in opened.histogram.scene["words"]
