"""The dashboard `translation` whole, without a browser: what the user turns, what the panels are told."""

from __future__ import annotations

import html
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import yaml

import workbench as wb
from workbench.dashboards._interval_panels import Side, intervals_scene
from workbench.dashboards._sidebar import Sidebar
from workbench.dashboards._translation import CONFIG, hierarchy_line, latency_note, load_note
from workbench.engines.translation import Translation
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.figures.estimates import Means
from workbench.figures.run_curves import pages_percent
from workbench.figures.translation import served_percent
from workbench.machine import TranslationMachine
from workbench.mechanisms.mechanism import mechanism
from workbench.records.translation import OVER_TIME, SERVED_BY, events

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def record():
    """A short run of the other side, with its single accesses."""
    plan = make_plan(read_sweep(Sidebar(mechanism("translation"), CONFIG._replace(length=1600)).config()))
    return Translation().simulate(plan.points[1].setup, 0, events=True)


@pytest.fixture
def shown(monkeypatch):
    monkeypatch.setattr("workbench.dashboards._translation.CONFIG", CONFIG._replace(length=1600, seeds=2))
    made = wb.dashboard("translation")
    yield made
    made.close()


def status(displayed) -> str:
    return html.unescape(re.sub("<.*?>", "", displayed.status.value))


def complete(displayed) -> None:
    assert status(displayed) == f"{displayed.sidebar.seeds.plain()} paired runs."


def panels(displayed):
    drawn = displayed.panels
    return [drawn.served, drawn.latency, drawn.load, drawn.degrees]


@pytest.mark.usefixtures("sent_whole")
def test_it_opens_with_the_document_s_first_claim(shown):
    complete(shown)
    assert "directory against no_directory: " in shown.histogram.scene["words"]
    for panel in panels(shown):
        assert [line["place"] for line in panel.scene["lines"]] == [0, 1]
        assert panel.scene["words"] == ""
    assert shown.panels.served.scene["names"] == list(SERVED_BY)
    assert shown.panels.latency.scene["names"] == ["50 %", "75 %", "90 %", "95 %", "99 %", "99.9 %"]
    assert shown.panels.degrees.scene["lines"][0]["x"] == list(range(1, 9))
    assert "mean of 2 seeds with its 95 % interval" in shown.panels.seeds.value
    assert "latency mean (cycles) ↓" in shown.table.value


def test_a_turned_lever_changes_every_panel(shown):
    before = [*(panel.scene for panel in panels(shown)), shown.histogram.scene, shown.table.value]
    shown.sidebar.machine.levers.controls["cores"].box.value = 6
    complete(shown)
    after = [*(panel.scene for panel in panels(shown)), shown.histogram.scene, shown.table.value]
    assert all(a != b for a, b in zip(before, after, strict=True))


def test_policies_of_one_side_and_their_levers(shown):
    served = shown.panels.served.scene["lines"]
    shown.sidebar.policies.other["eviction"].names.value = "mru"
    complete(shown)
    assert "directory, mru against no_directory, lru" in shown.histogram.scene["words"]
    assert shown.panels.served.scene["lines"][0] == served[0]
    assert shown.panels.served.scene["lines"][1] != served[1]


def test_what_cannot_be_is_a_sentence_and_the_panels_stay(shown):
    before = shown.panels.served.scene
    shown.sidebar.policies.other["eviction"].names.value = "sharing_aware_eviction"
    shown.sidebar.policies.other["eviction"].chosen.controls["share_threshold"].box.value = 9
    assert "share_threshold must be at most cores (8), or it is never reached. Got 9. Nearest: 8." in status(shown)
    assert "wb-stale" in shown.board._dom_classes
    assert shown.panels.served.scene != before
    shown.sidebar.policies.other["eviction"].chosen.controls["share_threshold"].box.value = 3
    complete(shown)
    assert "wb-stale" not in shown.board._dom_classes


def test_what_is_seen_is_what_the_sweep_below_it_gives(shown):
    shown.folded.selected_index = 0
    summary = wb.run(yaml.safe_load(shown.sweep.value)).summary()
    latency = summary[(summary["measure"] == "shared_per_kilo") & summary["mean_difference"].notna()]
    assert latency["mean_difference"].tolist() == pytest.approx([shown.histogram.scene["mean"]])


def accesses(record):
    columns = events(record)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [row for row in rows if row["kind"] == "access"]


def test_notes_are_those_of_single_accesses(record):
    result = accesses(record)
    counts = Counter(row["served_by"] for row in result)
    assert served_percent(record).tolist() == pytest.approx([100 * counts[part] / len(result) for part in SERVED_BY])
    latencies = sorted(row["latency"] for row in result)
    upto = [int(np.ceil(share * len(result))) for share in (0.5, 0.75, 0.9, 0.95, 0.99, 0.999)]
    assert latency_note(record).tolist() == [latencies[place - 1] for place in upto]


def test_degrees_are_shares_of_the_pages(record):
    pages = [count / (k or 1) for k, count in enumerate(record.degrees.tolist())][1:]
    assert pages_percent(record).tolist() == pytest.approx([100 * count / sum(pages) for count in pages])


def test_the_load_of_all_slices_is_all_messages(record):
    slices = load_note(record)
    assert slices.shape == (50,)
    span = record.last_cycle - record.first_cycle
    sent, wide = record.over_time[:, OVER_TIME.index("messages")], record.window_cycles
    assert sent.sum() == record.messages.sum()
    within = np.clip(span - wide * np.arange(len(sent)), 0, wide) / wide  # news of the last fill leaves at the very end
    assert slices.sum() * span / 50 == pytest.approx((sent * within).sum())


def test_places_with_names_have_no_line_between_them():
    side = Side(0, np.arange(2), Means(*np.ones((3, 2))))
    assert intervals_scene("Served by", "", "%", [side], names=("a", "b"))["names"] == ["a", "b"]
    assert intervals_scene("Latency", "", "%", [side])["names"] == []


def test_a_hierarchy_says_what_it_is():
    notes = [hierarchy_line(TranslationMachine(cores=cores)) for cores in (4, 8)]
    assert all(a != b for a, b in pairwise(notes))
    assert notes[0].startswith("4 cores of 32 entries, 512 shared, 12 cycles away; ")
