"""The dashboard whole, without a browser: what the user turns, what the panels are told."""

from __future__ import annotations

import asyncio
import html
import re

import pytest
import yaml

import workbench as wb
from tests.work_counts import instructions
from workbench.dashboards import _paired_dashboard as paired_dashboard
from workbench.dashboards._page import Heartbeat
from workbench.dashboards.paired_runs import PairedRuns
from workbench.dashboards.served_notebook import SERVED
from workbench.errors import InputError

pytestmark = pytest.mark.slow


@pytest.fixture
def shown():
    made = wb.dashboard("shared_memory")
    yield made
    made.close()


def status(displayed) -> str:
    return html.unescape(re.sub("<.*?>", "", displayed.status.value))


def is_stale(displayed) -> bool:
    return "wb-stale" in displayed.board._dom_classes


def segments(displayed):
    return displayed.sidebar.machine.levers.controls["segments"].box


def largest(displayed):
    return size(displayed)["high"].box


def size(displayed):
    return displayed.sidebar.workload.levers.chosen.controls["size"].chosen.controls


def pictures(displayed):
    return displayed.panels.time.scene, displayed.histogram.scene, displayed.table.value


def test_it_opens_with_everything_drawn(shown):
    assert status(shown) == "20 paired runs."
    assert (shown.panels.time.drawn, shown.histogram.drawn) == (1, 1)
    assert "nearest_boundary against first_fit: " in shown.histogram.scene["words"]
    assert "drain (cycles)" in shown.table.value


def test_a_turned_lever_changes_every_panel(shown):
    before = pictures(shown)
    segments(shown).value = 160
    assert shown.panels.time.scene["rows"] == 160
    assert (shown.panels.time.drawn, shown.histogram.drawn) == (2, 2)
    assert all(a != b for a, b in zip(before, pictures(shown), strict=True))


def test_a_request_above_the_memory_is_a_sentence_and_mending_it_recovers(shown):
    before = shown.panels.time.scene
    segments(shown).value = 32
    assert "size must draw at most 32 segments" in status(shown)
    assert 'class="wb-mistake"' in shown.status.value
    assert is_stale(shown)
    assert shown.panels.time.scene == before
    largest(shown).value = 20
    assert status(shown) == "20 paired runs."
    assert not is_stale(shown)
    assert shown.panels.time.scene["rows"] == 32


def test_two_levers_that_do_not_go_together_are_a_sentence(shown):
    size(shown)["low"].box.value = 90
    assert "high must be at least low (90)" in status(shown)


def test_one_policy_against_itself_has_nothing_to_compare(shown):
    shown.sidebar.policies.other["placement"].names.value = "first_fit"
    assert status(shown) == "20 paired runs."
    assert shown.histogram.scene["words"] == "Both sides are the same: there is nothing to compare."
    assert shown.panels.time.scene["names"] == ["first_fit", "first_fit"]


def test_a_measure_that_is_not_defined_is_said_where_it_would_be(shown):
    shown.sidebar.measure.field.value = "wear_gini"
    shown.sidebar.policies.other["placement"].names.value = "byte_counter"
    assert "wear_gini, which is not defined for" in shown.histogram.scene["words"]
    assert status(shown) == "20 paired runs."
    assert "byte_counter" in shown.table.value


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("return see.segments", "which is not the start of a free range"),
        ("return 1 // (see.length - see.length)", "raised ZeroDivisionError"),
        ("return -1", "refuses for ever: nothing is left that could be released; at workgroup 0"),
    ],
)
def test_a_policy_that_breaks_its_contract_is_named(shown, own_policy, body, sentence):
    own_policy("BadHand", body)
    shown.sidebar.refresh()
    shown.sidebar.policies.other["placement"].names.value = "bad_hand"
    assert status(shown).startswith("bad_hand")
    assert sentence in status(shown)
    assert is_stale(shown)
    shown.sidebar.policies.other["placement"].names.value = "best_fit"
    assert not is_stale(shown)


def test_a_run_that_fails_at_another_seed_than_the_drawn_one_is_said_too(shown, own_policy, monkeypatch):
    own_policy("BadHand", "return see.segments")
    shown.sidebar.refresh()
    fine = PairedRuns(shown.sidebar.config()).records(0)
    monkeypatch.setattr(PairedRuns, "records", lambda runs, seed: fine)
    shown.sidebar.policies.other["placement"].names.value = "bad_hand"
    assert re.match(r"\d+ of \d+ runs failed; seed 0: bad_hand answered 128, which is not", status(shown))
    assert is_stale(shown)


def test_what_is_seen_is_what_the_sweep_below_it_gives(shown):
    shown.sidebar.policies.other["placement"].names.value = "best_fit"
    assert shown.sweep.value == ""
    shown.folded.selected_index = 0
    message = yaml.safe_load(shown.sweep.value)
    drain = wb.run(message).summary().set_index(["measure", "policy.placement"]).loc["drain_cycles"]
    assert drain.loc["best_fit"].mean_difference == pytest.approx(shown.histogram.scene["mean"])
    segments(shown).value = 200
    assert yaml.safe_load(shown.sweep.value)["machine"]["segments"] == 200


def test_the_seed_that_is_drawn_can_be_chosen(shown):
    before, rows = shown.panels.time.scene, shown.histogram.scene
    shown.sidebar.drawn.box.value = 11
    assert shown.panels.time.scene != before
    assert shown.histogram.scene == rows


def test_what_takes_long_is_coarse_first_and_complete_after_a_rest(monkeypatch):
    monkeypatch.setattr(paired_dashboard, "COARSE_SECONDS", 0.0)
    monkeypatch.setattr(paired_dashboard, "REST_SECONDS", 0.05)
    monkeypatch.setattr(paired_dashboard, "SLICE_SECONDS", 0.0)

    async def watch() -> list[str]:
        made = wb.dashboard("shared_memory")
        seen = []
        while not seen or seen[-1] != "20 paired runs.":
            await asyncio.sleep(0)
            if not seen or seen[-1] != status(made):
                seen.append(status(made))
        made.close()
        return seen

    seen = asyncio.run(watch())
    assert "1 of 20 paired runs." in seen
    assert seen[-1] == "20 paired runs."


def test_a_new_move_comes_before_the_rest_of_the_last(monkeypatch):
    monkeypatch.setattr(paired_dashboard, "COARSE_SECONDS", 0.0)
    monkeypatch.setattr(paired_dashboard, "REST_SECONDS", 60.0)

    async def turn() -> str:
        made = wb.dashboard("shared_memory")
        await asyncio.sleep(0)
        while status(made).startswith("The first"):
            await asyncio.sleep(0)
        segments(made).value = 256
        first = status(made), made.panels.time.scene["rows"]
        made.close()
        return first

    assert asyncio.run(turn()) == ("1 of 20 paired runs.", 256)


def test_the_seeds_that_are_left_can_be_called_off(monkeypatch):
    monkeypatch.setattr(paired_dashboard, "COARSE_SECONDS", 0.0)
    monkeypatch.setattr(paired_dashboard, "REST_SECONDS", 60.0)

    async def called_off() -> list[str]:
        made = wb.dashboard("shared_memory")
        while "of 20" not in status(made):
            await asyncio.sleep(0)
        seen = [made.stop.layout.visibility]
        made.stop.click()
        seen += [status(made), made.stop.layout.visibility]
        waiting = made._rest._waiting
        segments(made).value = 256
        seen += [status(made), made.stop.layout.visibility]
        made.close()
        assert waiting is None
        return seen

    stopped = "1 of 20 paired runs: stopped."
    assert asyncio.run(called_off()) == ["visible", stopped, "hidden", "1 of 20 paired runs.", "visible"]


def test_nothing_is_to_be_called_off_where_all_is_done(shown):
    assert shown.stop.layout.visibility == "hidden"


def test_the_kernel_answers_the_page(monkeypatch):
    answers = []
    monkeypatch.setattr(Heartbeat, "send", lambda _pulse, message: answers.append(message))
    Heartbeat()._handle_custom_msg({"what": "there?"}, [])
    assert answers == [{"what": "here"}]


def test_a_page_of_its_own_is_there_before_its_first_run(monkeypatch):
    """It asks for its widgets when it is loaded: with a kernel that computes by then, for each of them by itself."""
    monkeypatch.setenv(SERVED, "1")

    async def statuses() -> list[str]:
        made = wb.dashboard("shared_memory")
        for _ in range(3):
            await asyncio.sleep(0)
        seen = [status(made)]
        made.heartbeat._handle_custom_msg({"what": "there?"}, [])
        while "paired runs" not in status(made):
            await asyncio.sleep(0)
        made.close()
        return [*seen, status(made)]

    before, after = asyncio.run(statuses())
    assert "recorded run" in before
    assert "paired runs" in after


def test_the_rest_of_an_earlier_move_does_not_hide_a_mistake(monkeypatch):
    monkeypatch.setattr(paired_dashboard, "COARSE_SECONDS", 0.0)
    monkeypatch.setattr(paired_dashboard, "REST_SECONDS", 0.05)

    async def err() -> tuple[str, bool]:
        made = wb.dashboard("shared_memory")
        while "of 20" not in status(made):
            await asyncio.sleep(0)
        segments(made).value = 16
        await asyncio.sleep(0.1)  # stands for a lever at rest: in a loop what is due earlier comes first
        result = status(made), is_stale(made)
        made.close()
        return result

    sentence, stale = asyncio.run(err())
    assert "must draw at most 16 segments" in sentence
    assert stale


def test_the_first_picture_is_left_to_the_kernel_so_that_the_page_comes_first():
    async def build() -> tuple[int, str]:
        made = wb.dashboard("shared_memory")
        result = made.panels.time.drawn, status(made)
        made.close()
        return result

    assert asyncio.run(build()) == (1, "This is a recorded run of the first setting; the runs of this machine follow.")


def test_a_policy_of_a_cell_appears_when_the_cell_was_run(shown, own_policy):
    own_policy(
        "CellHand",
        "return -1 if see.length > see.segments else 0",
    )
    shown._watch._after_cell()
    assert "cell_hand" in [name for _, name in shown.sidebar.policies.other["placement"].names.options]


def test_python_does_nothing_for_a_single_workgroup():
    """The figure in milliseconds is in benchmarks/dashboard_latency.py."""
    config = {
        "engine": "shared_memory",
        "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
        "baseline": {"placement": "first_fit"},
        "seeds": 3,
    }
    few, many = ({**config, "workload": {"regime": "large_uniform", "count": count}} for count in (100, 1000))
    PairedRuns(few).advance(600)
    work = [instructions(lambda config=config: PairedRuns(config).advance(600)) for config in (few, many)]
    assert work[1] < 1.1 * work[0]


def test_an_unknown_dashboard_is_named():
    with pytest.raises(
        InputError,
        match=r"unknown dashboard 'shared'; there are dispatch, malloc, node, pool, shared_memory, translation\.",
    ):
        wb.dashboard("shared")
