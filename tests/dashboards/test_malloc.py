"""The dashboard `malloc` whole, without a browser: what it opens with, and what a turned lever changes."""

from __future__ import annotations

import gc
import html
import re
import sys

import pytest

import workbench as wb
from workbench.dashboards._dashboard_config import NoViewLevers
from workbench.dashboards._malloc import CONFIG, MallocPanels
from workbench.dashboards._paired_dashboard import PairedDashboard
from workbench.errors import InputError


@pytest.fixture(scope="module")
def shown():
    made = wb.dashboard("malloc")
    yield made
    made.close()


def status(displayed) -> str:
    return html.unescape(re.sub("<.*?>", "", displayed.status.value))


def test_it_opens_with_the_document_s_question(shown):
    assert status(shown) == "8 paired runs."
    assert "warp_aggregated against per_thread: " in shown.histogram.scene["words"]
    for panel in (shown.panels.waiting, shown.panels.held, shown.panels.latency):
        assert [line["place"] for line in panel.scene["lines"]] == [0, 1]
    alone, together = shown.panels.waiting.scene["lines"]
    assert max(alone["mean"]) == max(together["mean"]) == 256
    assert alone["x"][-1] == together["x"][-1] == 256 * 400
    assert "mean of 8 seeds" in shown.panels.seeds.value


def test_a_turned_lever_changes_every_panel(shown):
    def pictures():
        return [panel.scene for panel in (shown.panels.waiting, shown.panels.held, shown.panels.latency)]

    before = pictures()
    shown.sidebar.workload.names.value = "sparse_lanes"
    after = pictures()
    assert all(one != other for one, other in zip(before, after, strict=True))


def test_a_machine_without_a_preset_opens_where_one_is_the_same():
    made = PairedDashboard(CONFIG._replace(machine={"wave_size": 32}), MallocPanels())
    assert made.sidebar.config()["machine"] == {"preset": "patent", "wave_size": 32}
    made.close()


@pytest.mark.parametrize("machine", [{"compute_units": 9}, {"preset": "h100", "compute_units": 9}])
@pytest.mark.usefixtures("looks_at_new_objects")
def test_a_machine_that_no_preset_gives_is_one_sentence(machine, monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", raised.append)
    expected = (
        "machine must be a preset or a rule that this page offers, such as {preset: a100}, changed in no lever but "
        f"its own (wave_size). Got {machine}."
    )
    with pytest.raises(InputError, match=f"^{re.escape(expected)}$"):
        PairedDashboard(CONFIG._replace(machine=machine), MallocPanels())
    gc.collect()
    assert not raised


def test_nobody_calls_is_a_sentence():
    from tests.engines.malloc_cases import simulate

    panels = MallocPanels()
    panels.show_seed(("a", "b"), [simulate([]), simulate([])], NoViewLevers())
    assert panels.held.scene["words"] == "No thread calls: there is nothing to see."
