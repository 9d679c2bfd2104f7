"""The cards on top of the dispatch page: each of the seven levers turns what it belongs to, on the side that moves."""

from __future__ import annotations

import html
import re

import pytest

import workbench as wb
from tests.depth import long
from workbench.dashboards.dispatch import OPENING
from workbench.dashboards.dispatch_levers import seven_levers
from workbench.dashboards.lever_bounds import blocks_allowed, waves_allowed
from workbench.dashboards.lever_cards import BOTH, LeverCards
from workbench.dashboards.sidebar import Sidebar
from workbench.errors import InputError
from workbench.experiments.mechanism import mechanism
from workbench.machine import read_machine
from workbench.workloads.read import read_workload
from workbench.workloads.synthetic.regimes import regimes


class Page:
    """The levers of the dispatch page and its cards, without pictures."""

    def __init__(self) -> None:
        self.sidebar = Sidebar(mechanism("dispatch"), OPENING)
        self.cards = LeverCards(seven_levers(), self.sidebar)
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


@pytest.fixture
def page() -> Page:
    return Page()


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


@pytest.mark.parametrize(
    ("letter", "value", "slot", "expected"),
    [
        ("Z", 16, "probe", ("grouped_run", {"groups": 16})),
        ("t", [400, 300, 20, 10], "priority", ("priority_windows", {"lengths": [400, 300, 20, 10]})),
        ("k", [1, 2, 4, 8], "probe", ("sampled_run", {"run_lengths": [1, 2, 4, 8]})),
        ("G", 8, "stuck", ("split_when_stuck", {"threshold": 8})),
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
    page.side(letter, side).off.click()
    assert page.words(letter, side) == ("as the baseline" if side == "other" else page.words(letter, "baseline"))
    assert page.side(letter, side).off.layout.visibility == "hidden"


def test_grouping_and_sampling_on_one_side_are_one_probe_and_part_again(page):
    page.type("Z", 16, "other")
    page.side("k", "other").control.chips.value = [8, 1, 2, 4]
    ((name, levers),) = page.policy("probe").items()
    assert (name, levers["groups"], levers["run_lengths"]) == ("grouped_sampled_run", 16, [1, 2, 4, 8])
    assert page.words("k", "other") == "grouped sampled run, in groups"
    page.side("Z", "other").off.click()
    assert page.words("Z", "other") == "off: sampled run"
    page.side("k", "other").off.click()
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


@pytest.mark.parametrize("name", list(regimes("groups")))
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


@long
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
    summary = wb.run(shown.sidebar.said()).summary()
    done = summary[(summary["measure"] == "groups_per_kilocycle") & summary["difference"].notna()]
    assert done["difference"].tolist() == pytest.approx([shown.histogram.scene["mean"]])
    shown.close()
