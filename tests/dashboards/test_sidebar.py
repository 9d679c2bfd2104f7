"""The sidebar's value is a sweep, whatever is turned."""

from __future__ import annotations

import functools
import importlib

import pytest

from tests.slow import thinned
from workbench.dashboards._shared_memory import CONFIG
from workbench.dashboards._sidebar import Sidebar
from workbench.errors import InputError
from workbench.experiments.plan import make_plan, plan_different_runs
from workbench.experiments.sweep import read_sweep
from workbench.machine import Machine, presets, read_machine
from workbench.mechanisms.mechanism import mechanism
from workbench.workloads.generators import regimes


@pytest.fixture
def sidebar() -> Sidebar:
    return Sidebar(mechanism("shared_memory"), CONFIG)


@functools.cache
def turned(page: str) -> Sidebar:
    """The sidebar of a page, which several tests turn one after the other as a user does."""
    return Sidebar(mechanism(page), importlib.import_module(f"workbench.dashboards._{page}").CONFIG)


def planned(sidebar):
    return make_plan(read_sweep(sidebar.config()))


def test_it_opens_with_the_document_s_own_question(sidebar):
    baseline, other = planned(sidebar).points
    assert baseline.setup.policies["placement"].short() == "first_fit"
    assert other.setup.policies["placement"].short() == "nearest_boundary"
    assert other.baseline == baseline.id
    assert baseline.setup.machine == read_machine("patent")
    assert baseline.setup.workload == regimes()["large_uniform"].workload
    assert len(planned(sidebar).sweep.seeds) == 20


def test_everything_that_is_turned_is_in_the_sweep(sidebar):
    sidebar.machine.levers.controls["segments"].box.value = 256
    sidebar.policies.common["queue"].names.value = "fifo_lookahead"
    sidebar.policies.common["retry"].names.value = "on_release"
    sidebar.options.controls["same_cycle_order"].field.value = "allocate_first"
    sidebar.seeds.box.value = 7
    _, other = planned(sidebar).points
    assert other.setup.machine.segments == 256
    assert other.setup.policies["queue"].short() == "fifo_lookahead"
    assert other.setup.policies["retry"].short() == "on_release"
    assert other.setup.options.same_cycle_order == "allocate_first"
    assert planned(sidebar).sweep.seeds == list(range(7))


PAGES = ("dispatch", "malloc", "node", "pool", "translation")
REGIMES = [
    pytest.param(f"{page} {name}", marks=[pytest.mark.slow] * (page == "translation"))
    for page in PAGES
    for name in regimes(mechanism(page).engine.workload_kind)
]


@pytest.mark.parametrize("regime", thinned(REGIMES, 4))
def test_every_regime_can_be_turned_to_and_is_as_long_as_the_page_has_it(regime):
    page, name = regime.split()
    opening = importlib.import_module(f"workbench.dashboards._{page}").CONFIG
    sidebar = turned(page)
    sidebar.workload.names.value = name
    workload = regimes(sidebar.workload.kind)[name].workload
    length = {workload.counted_by: opening.length} if isinstance(opening.length, int) else opening.length
    bounded = workload.but(**{lever: value for lever, value in length.items() if lever in workload.levers})
    assert {point.setup.workload for point in plan_different_runs(read_sweep(sidebar.config())).points} == {bounded}
    assert sidebar.workload.names.value == name


def test_every_control_tells_of_a_change(sidebar):
    messages = []
    sidebar.on_change(lambda: messages.append(1))
    sidebar.machine.names.value = "h100"
    sidebar.workload.names.value = "bimodal"
    sidebar.policies.baseline["placement"].names.value = "best_fit"
    sidebar.policies.other["placement"].names.value = "worst_fit"
    sidebar.measure.field.value = "wear_gini"
    sidebar.drawn.box.value = 3
    assert len(messages) == 6


@pytest.mark.parametrize("name", [row["name"] for row in presets(Machine)])
def test_a_preset_gives_its_machine(name):
    sidebar = turned("shared_memory")
    sidebar.machine.names.value = name
    assert read_machine(sidebar.machine.plain()) == read_machine(name)
    assert sidebar.machine.levers.controls["segments"].box.value == read_machine(name).segments


def test_segments_may_be_set_apart_from_the_preset(sidebar):
    sidebar.machine.names.value = "h100"
    sidebar.machine.levers.controls["segments"].box.value = 100
    machine = read_machine(sidebar.machine.plain())
    assert (machine.segments, machine.granule_bytes) == (100, read_machine("h100").granule_bytes)
    assert sidebar.machine.contents.value == f"100 segments of {machine.granule_bytes} B: 12,800 B a unit"


def test_a_regime_sets_the_levers_and_a_turned_lever_leaves_it(sidebar):
    sidebar.workload.names.value = "bimodal"
    assert planned(sidebar).points[0].setup.workload == regimes()["bimodal"].workload
    count = sidebar.workload.levers.chosen.controls["count"].box
    count.value = 17
    assert sidebar.workload.names.value == "(own)"
    count.value = 300
    assert sidebar.workload.names.value == "bimodal"


def test_the_same_policy_twice_is_one_point(sidebar):
    sidebar.policies.other["placement"].names.value = "first_fit"
    assert len(planned(sidebar).points) == 1


def test_a_request_above_the_memory_is_refused_with_its_cure(sidebar):
    sidebar.machine.levers.controls["segments"].box.value = 32
    with pytest.raises(InputError, match=r"size must draw at most 32 segments.* Nearest: uniform\.high = 32\."):
        planned(sidebar)


def test_only_measures_that_can_be_better_are_compared(sidebar):
    offered = {name for _, name in sidebar.measure.field.options}
    measures = mechanism("shared_memory").measures
    assert offered == {name for name, measure in measures.items() if measure.better != "neither"}
