"""The cards on top of the dispatch page: each of the seven levers turns what it belongs to, on the side that moves."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

import workbench as wb
from tests.slow import thinned
from workbench.dashboards._card_levers import BOTH
from workbench.dashboards._dispatch import CONFIG
from workbench.dashboards._dispatch_levers import dispatch_card_levers
from workbench.dashboards._dispatch_limits import blocks_allowed, waves_allowed
from workbench.dashboards._lever_cards import LeverCards
from workbench.dashboards._sidebar import Sidebar
from workbench.errors import InputError
from workbench.machine import read_machine
from workbench.mechanisms.mechanism import mechanism
from workbench.workloads.generators import regimes
from workbench.workloads.workload_key import read_workload

pytestmark = pytest.mark.slow


class Page:
    """The levers of the dispatch page and its cards, without pictures."""

    def __init__(self) -> None:
        self.sidebar = Sidebar(mechanism("dispatch"), CONFIG)
        self.cards = LeverCards(dispatch_card_levers(), self.sidebar)
        self.sidebar.on_change(self.cards.refresh)

    def side(self, letter, side=BOTH):
        return self.cards.cards[letter].sides[side]

    def stops(self, letter, side=BOTH):
        return list(self.side(letter, side).control.stops)

    def type(self, letter, value, side=BOTH):
        self.side(letter, side).control.box.value = value

    def words(self, letter, side=BOTH):
        return html.unescape(re.sub("<.*?>", "", self.side(letter, side).words.value)).removeprefix(f"{side} ")

    def policy(self, slot, side="other"):
        return self.sidebar.setting()[side][slot]


@pytest.fixture(scope="module")
def opened() -> tuple[Page, dict[str, Any]]:
    page = Page()
    return page, page.sidebar.setting()


@pytest.fixture
def page(opened: tuple[Page, dict[str, Any]]) -> Page:
    """The one page of these tests, as it opens: to show a setting again takes a third of what a page does."""
    page, setting = opened
    page.sidebar.show(setting)
    return page


def test_every_card_begins_with_what_the_page_opens_with(page):
    begun = {
        (letter, side): row.control.plain()
        for letter, card in page.cards.cards.items()
        for side, row in card.sides.items()
    }
    sampled = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128]
    once = {"Z": 32, "k": sampled, "t": [256, 192, 128, 64], "G": 256, "nx": 1024}
    sides = {(letter, side): value for letter, value in once.items() for side in ("baseline", "other")}
    assert begun == {("N", BOTH): 128, ("M", BOTH): 32, **sides}
    assert (page.words("Z", "baseline"), page.words("Z", "other")) == ("off: exact run", "as the baseline")
    assert page.words("t", "baseline") == "priority windows"


WINDOWS = [400, 300, 20, 10]


@pytest.mark.parametrize(
    ("letter", "value", "slot", "expected"),
    [
        ("Z", 16, "probe", ("grouped_run", {"groups": 16})),
        pytest.param("t", WINDOWS, "priority", ("priority_windows", {"lengths": WINDOWS}), marks=pytest.mark.slow),
        pytest.param(
            "k", [1, 2, 4, 8], "probe", ("sampled_run", {"run_lengths": [1, 2, 4, 8]}), marks=pytest.mark.slow
        ),
        pytest.param("G", 8, "stuck", ("split_when_stuck", {"threshold": 8}), marks=pytest.mark.slow),
        ("nx", 64, "choice", ("least_recent_energy", {"nx": 64})),
    ],
)
@pytest.mark.parametrize("side", ["baseline", "other"])
def test_a_move_turns_on_the_policy_on_the_side_that_is_moved(page, letter, value, slot, expected, side):
    neutral = {"probe": "exact_run", "priority": "static_priority", "stuck": "never_split", "choice": "first_module"}
    page.sidebar.turn({f"policy.{slot}": neutral[slot]})
    before = page.policy(slot, {"baseline": "other", "other": "baseline"}[side])
    control = page.side(letter, side).control
    control.turn(value)
    (name, levers) = next(iter(page.policy(slot, side).items()))
    assert (name, {key: levers[key] for key in expected[1]}) == expected
    assert page.policy(slot, {"baseline": "other", "other": "baseline"}[side]) == before
    assert page.words(letter, side) == name.replace("_", " ")
    page.side(letter, side).switch.click()
    assert page.words(letter, side) == ("as the baseline" if side == "other" else page.words(letter, "baseline"))
    assert page.side(letter, side).switch.description == "on"


@pytest.mark.parametrize(
    ("letter", "value", "slot", "name"),
    [
        ("Z", 32, "probe", "grouped_run"),
        pytest.param("t", [256, 192, 128, 64], "priority", "priority_windows", marks=pytest.mark.slow),
        pytest.param("G", 256, "stuck", "split_when_stuck", marks=pytest.mark.slow),
        ("nx", 1024, "choice", "least_recent_energy"),
    ],
)
def test_a_lever_that_is_off_is_turned_on_with_the_value_that_its_card_shows(page, letter, value, slot, name):
    neutral = {"probe": "exact_run", "priority": "static_priority", "stuck": "never_split", "choice": "first_module"}
    page.sidebar.turn({f"policy.{slot}": neutral[slot], f"other.{slot}": ""})
    switch = page.side(letter, "other").switch
    assert (page.words(letter, "other"), switch.description) == ("as the baseline", "on")
    assert switch.layout.visibility == "visible"
    assert page.side(letter, "other").control.plain() == value
    switch.click()
    assert (page.words(letter, "other"), switch.description) == (name.replace("_", " "), "×")
    assert page.side(letter, "other").control.plain() == value
    page.side(letter, "other").switch.click()
    assert page.policy(slot) == ""


def test_what_counts_by_the_baselines_policy_or_the_machine_has_no_switch():
    hidden = {
        (letter, side)
        for letter, card in Page().cards.cards.items()
        for side, row in card.sides.items()
        if row.switch.layout.visibility == "hidden"
    }
    assert hidden == {("N", BOTH), ("M", BOTH), ("t", "other"), ("G", "other"), ("nx", "other")}


def test_grouping_and_sampling_on_one_side_are_one_probe_and_part_again(page):
    page.type("Z", 16, "other")
    assert page.side("k", "other").control.plain() == [1, 2, 3, 4, 6, 8, 12, 16]
    page.side("k", "other").control.chips.value = [8, 1, 2, 4]
    ((name, levers),) = page.policy("probe").items()
    assert (name, levers["groups"], levers["run_lengths"]) == ("grouped_sampled_run", 16, [1, 2, 4, 8])
    assert page.words("k", "other") == "grouped sampled run, in groups"
    page.side("Z", "other").switch.click()
    assert page.words("Z", "other") == "off: sampled run"
    page.side("k", "other").switch.click()
    assert page.policy("probe") == ""


def test_a_lever_within_a_sum_is_moved_where_it_stands(page):
    page.type("nx", 64, "other")
    assert page.policy("choice")["weighted_choice"]["choices"][1]["least_recent_energy"]["nx"] == 64
    assert page.policy("choice", "baseline")["weighted_choice"]["choices"][1]["least_recent_energy"]["nx"] == 1024


def test_waves_are_drawn_in_and_given_back(page):
    law = page.sidebar.setting()["workload"]["random_groups"]["waves"]
    for most in (28, 20, 3, 1, 36):
        page.type("M", most)
        assert read_workload(page.sidebar.setting()["workload"], wants="groups").waves.span()[1] == most
    page.type("M", 32)
    assert page.sidebar.setting()["workload"]["random_groups"]["waves"] == law
    assert page.sidebar.workload.names.value == "head_of_line"


def test_stops_follow_the_other_levers(page):
    assert (page.stops("N")[0], page.stops("M")[-1], page.stops("Z", "other")) == (112, 36, [1, 2, 4, 8, 16, 32])
    page.type("Z", 16, "other")
    assert page.stops("N")[:4] == [112, 128, 144, 160]
    page.type("N", 112)
    assert (page.stops("M")[-1], page.stops("Z", "baseline")) == (32, [1, 2, 4, 8, 16])
    page.type("M", 4)
    assert page.stops("N")[:3] == [32, 48, 64]


@pytest.mark.parametrize("name", thinned(list(regimes("groups")), 3))
def test_what_a_card_offers_fits_in_every_regime_and_nothing_beyond(page, name):
    page.sidebar.workload.names.value = name
    setting = page.sidebar.setting()
    machine, most = read_machine(setting["machine"]), waves_allowed(setting)[-1]

    def drawn(waves):
        page.type("M", waves)
        return read_workload(page.sidebar.setting()["workload"], wants="groups")

    drawn(most).check_machine(machine)
    least = blocks_allowed(page.sidebar.setting())[0]
    granule = machine.vgprs_a_unit // 128
    drawn(most).check_machine(machine.but(vgprs_a_unit=least * granule))
    with pytest.raises(InputError, match="must be at most"):
        drawn(most).check_machine(machine.but(vgprs_a_unit=(least - 1) * granule))
    with pytest.raises(InputError, match="must be at most"):
        drawn(most + 1).check_machine(machine)


def test_the_seven_moved_give_what_the_page_s_own_sweep_gives():
    shown = wb.dashboard("dispatch")
    for letter, side, value in (
        ("N", BOTH, 160),
        ("M", BOTH, 28),
        ("Z", "other", 16),
        ("k", "other", [1, 2, 4, 8, 16]),
        ("t", "other", [300, 200, 100, 50]),
        ("G", "other", 16),
        ("nx", "other", 256),
    ):
        control = shown.cards.cards[letter].sides[side].control
        control.turn(value)
    summary = wb.run(shown.sidebar.config()).summary()
    done = summary[(summary["measure"] == "groups_per_kilocycle") & summary["mean_difference"].notna()]
    assert done["mean_difference"].tolist() == pytest.approx([shown.histogram.scene["mean"]])
    shown.close()


class Refused:
    """What the cards of a dashboard say of a setting that cannot be."""

    def __init__(self, displayed) -> None:
        self.displayed = displayed

    def side(self, letter, side=BOTH):
        return self.displayed.cards.cards[letter].sides[side].control

    def says(self):
        """Return the letter, the sentence and the buttons of every card that says something."""
        cards = self.displayed.cards.cards.items()
        texts = {letter: card.refusal.children for letter, card in cards if card.refusal.children}
        return [
            (letter, html.unescape(re.sub("<.*?>", "", words.value)), [one.description for one in buttons])
            for letter, (words, *buttons) in texts.items()
        ]

    def press(self, letter, place=0):
        self.displayed.cards.cards[letter].refusal.children[1 + place].click()


@pytest.fixture
def refused(two_seeds):
    shown = wb.dashboard("dispatch")
    yield Refused(shown)
    shown.close()


def test_a_refusal_stands_beside_the_lever_that_was_moved_and_its_cures_mend_it(refused):
    refused.displayed.sidebar.policies.other["probe"].names.value = "grouped_run"
    refused.side("N").box.value = 112
    assert refused.says() == [("N", "Z = 32 must divide N = 112 (vgpr).", ["set N = 128", "set Z = 16"])]
    assert "wb-stale" in refused.displayed.board._dom_classes
    refused.press("N", 1)
    assert refused.says() == []
    assert "wb-stale" not in refused.displayed.board._dom_classes
    assert (refused.side("N").plain(), refused.side("Z", "other").plain()) == (112, 16)


def test_a_cure_that_another_refusal_would_follow_is_not_offered(refused):
    refused.displayed.sidebar.policies.other["probe"].names.value = "grouped_run"
    refused.side("N").box.value = 100  # 28 waves would fit, but 32 groups do not divide it
    (said,) = refused.says()
    assert (said[0], said[2]) == ("N", ["set N = 128"])
    assert said[1].startswith("vgpr blocks must be at most 12, as 8 of its 32 waves share a unit of 100 blocks.")


def test_a_group_that_is_too_large_can_be_cut_or_the_machine_widened(refused):
    refused.side("M").box.value = 40
    assert [(letter, cures) for letter, _, cures in refused.says()] == [("M", ["set M = 36", "set N = 140"])]
    refused.press("M", 1)
    assert (refused.side("M").plain(), refused.side("N").plain(), refused.says()) == (40, 140, [])


def test_windows_that_grow_are_turned_nowhere_and_can_be_sorted(refused):
    before = refused.displayed.sidebar.setting()
    refused.side("t", "other").boxes[1].value = 900
    sentence = "t = (256, 900, 128, 64) must not increase from one window to the next (or set increasing)."
    assert refused.says() == [("t", sentence, ["set t = 900, 256, 128, 64"])]
    assert refused.displayed.sidebar.setting() == before
    assert "wb-stale" not in refused.displayed.board._dom_classes
    refused.press("t")
    assert refused.displayed.sidebar.setting()["other"]["priority"]["priority_windows"]["lengths"] == [
        900,
        256,
        128,
        64,
    ]
    assert refused.says() == []


def test_lengths_that_no_group_fits_are_completed(refused):
    refused.side("k", "baseline").chips.value = [1, 2, 4, 8, 16]
    ((letter, sentence, cures),) = refused.says()
    assert (letter, cures) == ("k", ["set k = 1, 2, 4, 8, 16, 64, 128"])
    assert sentence.startswith("group ")
    assert "reports 16 when all are free: it could never be dispatched." in sentence
    refused.press("k")
    assert refused.says() == []
    refused.side("k", "other").chips.value = [2, 4, 8]
    assert refused.says() == [("k", "k = (2, 4, 8) must begin with 1.", ["set k = 1, 2, 4, 8, 64, 128"])]
