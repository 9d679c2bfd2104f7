"""Widgets from levers: each kind, and every lever that the workbench declares, without a browser."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.dashboards._controls import ListControl, NameControl, SwitchControl, TextControl
from workbench.dashboards._spec_controls import ChoiceControl, LeversControl, alternatives, control_for, workloads
from workbench.engines.shared_memory import SharedMemoryOptions
from workbench.errors import InputError
from workbench.levers import Lever, Spec, lever
from workbench.machine import Machine, Resource
from workbench.machine.power import Heat, Power
from workbench.policies.dispatch.admission import Admission
from workbench.policies.dispatch.choice import Choice, LeastRecentEnergy, RoundRobin, WeightedChoice
from workbench.policies.dispatch.die import Die
from workbench.policies.dispatch.priority import Priority
from workbench.policies.dispatch.selection import Selection
from workbench.policies.dispatch.stuck import Stuck
from workbench.policies.dispatch.units import Units
from workbench.policies.placement import Compaction, FirstFit, NearestBoundary, Placement
from workbench.policies.placement.queueing import FifoLookahead, QueuePolicy, RetryPolicy
from workbench.policies.policy import policies, read_policy
from workbench.policies.probes import Probe
from workbench.workloads.generators import regimes
from workbench.workloads.synthetic.arrivals import Arrival
from workbench.workloads.synthetic.instructions import DEFAULT_MIXES, InstructionMix, Instructions
from workbench.workloads.synthetic.laws import Law, Uniform
from workbench.workloads.workload import Workload
from workbench.workloads.workload_key import read_workload

DEPTH = Lever("depth", "integer", 4, least=1, most=64, unit="entries", description="how many entries the ring holds")


class Counter:
    """How often something was told."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


def heard(control) -> Counter:
    counter = Counter()
    control.on_change(counter)
    return counter


def test_a_row_says_name_unit_and_meaning():
    label, *_ = control_for(DEPTH).widget.children
    assert (label.value, label.tooltip) == ("depth (entries)", "how many entries the ring holds")


def test_a_unit_that_repeats_the_name_is_said_once():
    label, *_ = control_for(Machine.levers["segments"]).widget.children
    assert label.value == "segments"


def test_slider_and_box_follow_each_other_and_tell_once():
    control = control_for(DEPTH)
    counter = heard(control)
    control.slider.value = control.stops.index(17)
    assert (control.box.value, control.plain(), counter.count) == (17, 17, 1)
    control.box.value = 5
    assert (control.stops[control.slider.value], control.plain(), counter.count) == (5, 5, 2)


def test_what_is_shown_by_the_program_tells_nobody():
    control = control_for(DEPTH)
    counter = heard(control)
    control.show(9)
    assert (control.plain(), control.stops[control.slider.value], counter.count) == (9, 9, 0)


def test_a_name_or_a_policy_that_the_program_shows_tells_nobody():
    name = control_for(Lever("tie", "choice", "low", choices=("low", "high")))
    policy = control_for(Lever("queue", "spec", "fifo_head_only", spec=QueuePolicy))
    messages = [heard(name), heard(policy)]
    name.show("high")
    policy.show(FifoLookahead(k=2))
    assert [counter.count for counter in messages] == [0, 0]
    assert (name.plain(), policy.plain()) == ("high", {"fifo_lookahead": {"k": 2}})


def test_a_value_between_two_stops_is_kept_exactly():
    control = control_for(Machine.levers["segments"])
    control.box.value = 1824
    assert control.plain() == 1824
    assert control.stops[control.slider.value] == 1792


def test_what_the_lever_refuses_cannot_be_shown():
    with pytest.raises(InputError, match=re.escape("depth must be a whole number from 1 to 64. Got 65. Nearest: 64.")):
        control_for(DEPTH).show(65)


@pytest.mark.parametrize(
    ("declared", "kind", "plain"),
    [
        (Lever("tie", "choice", "low", choices=("low", "high")), NameControl, "low"),
        (Lever("fast", "switch", True), SwitchControl, True),
        (Lever("file", "text", "a.csv"), TextControl, "a.csv"),
        (Lever("sizes", "integers", (1, 2, 4), least=1, most=9), ListControl, [1, 2, 4]),
        (Lever("weights", "numbers", (0.5, 2.0)), ListControl, [0.5, 2.0]),
    ],
)
def test_each_kind_has_its_control(declared, kind, plain):
    control = control_for(declared)
    assert isinstance(control, kind)
    assert control.plain() == plain


def test_a_list_that_was_mistyped_is_one_sentence():
    control = control_for(Lever("sizes", "integers", (1,), least=1, most=9))
    control.field.value = "1, two"
    with pytest.raises(InputError, match=re.escape("sizes must be numbers with commas between them. Got '1, two'.")):
        control.plain()
    control.field.value = "1, 12"
    with pytest.raises(InputError, match=re.escape("sizes[1] must be a whole number from 1 to 9. Got 12. Nearest: 9.")):
        control.plain()


def test_powers_of_two_slide_over_powers_alone_and_refuse_others():
    control = control_for(Lever("width", "integer", 8, least=2, most=64, scale="power_of_two"))
    assert control.stops == [2, 4, 8, 16, 32, 64]
    control.box.value = 12
    with pytest.raises(InputError, match=re.escape("width must be a power of two from 2 to 64. Got 12. Nearest: 16.")):
        control.plain()


def test_a_policy_is_a_drop_down_of_all_with_the_levers_of_the_chosen_one():
    control = control_for(Lever("placement", "spec", "first_fit", spec=Placement))
    assert [name for _, name in control.names.options] == list(policies("placement"))
    assert (control.plain(), control.inside.children) == ("first_fit", ())
    counter = heard(control)
    control.names.value = "nearest_boundary"
    assert counter.count == 1
    displayed = {row.children[0].value.split(" (")[0].replace(" ", "_") for row in control.inside.children[0].children}
    assert displayed == set(NearestBoundary.levers)
    assert control.names.tooltip.startswith("Take the")


def test_levers_are_kept_while_another_member_is_looked_at():
    control = control_for(Lever("queue", "spec", "fifo_lookahead", spec=QueuePolicy))
    control.show(FifoLookahead(k=9))
    control.names.value = "fifo_head_only"
    control.names.value = "fifo_lookahead"
    assert control.plain() == {"fifo_lookahead": {"k": 9}}


def test_a_policy_inside_a_policy():
    control = control_for(Lever("placement", "spec", "compaction", spec=Placement))
    control.show(Compaction(base=NearestBoundary(tie="high"), cycles_per_moved_segment=3))
    read = read_policy("placement", control.plain())
    assert read == Compaction(base=NearestBoundary(tie="high"), cycles_per_moved_segment=3)


def test_a_law_counts_in_the_unit_of_its_place_and_ends_where_that_ends():
    control = control_for(Lever("size", "spec", Uniform(low=1, high=32), spec=Law, unit="segments"))
    high = control.inside.children[0].children[1]
    assert high.children[0].value == "high (segments)"
    assert high.children[-1].max == Machine.levers["segments"].most


def test_a_change_inside_is_told_outside():
    control = control_for(Lever("size", "spec", Uniform(low=1, high=32), spec=Law))
    counter = heard(control)
    control.inside.children[0].children[1].children[-1].value = 48
    assert (control.plain(), counter.count) == ({"uniform": {"low": 1, "high": 48}}, 1)


EVERY = [Placement, QueuePolicy, RetryPolicy, Probe, Priority, Selection, Stuck, Units, Choice, Admission, Die]


@pytest.mark.parametrize("base", EVERY)
def test_every_policy_is_shown_and_read_back(base):
    control = control_for(Lever(base.question, "spec", next(iter(policies(base.question))), spec=base))
    for name, cls in policies(base.question).items():
        control.show(cls())
        assert control.names.value == name
        assert read_policy(base.question, control.plain()) == cls()


@pytest.mark.parametrize("base", [Law, Arrival, Instructions, Power, Heat])
def test_every_member_of_a_family_is_shown_and_read_back(base):
    control = control_for(Lever(base.noun, "spec", next(iter(base.members)), spec=base))
    for name, cls in base.members.items():
        control.show(cls())
        assert control.names.value == name
        assert base.read(control.plain()) == cls()


@pytest.mark.parametrize("name", list(regimes()))
def test_every_regime_is_shown_and_read_back(name):
    control = control_for(Lever("workload", "spec", regimes()[name].workload, spec=Workload))
    assert read_workload(control.plain()) == regimes()[name].workload


def test_specs_are_items_that_can_be_added_and_taken_out():
    control = control_for(WeightedChoice.levers["choices"])
    counter = heard(control)
    assert [item.names.value for item in control.items] == ["most_residual", "least_recent_energy"]
    control.add.click()
    control.items[2].names.value = "round_robin"
    control.take_out(control.items[0])
    assert counter.count == 3
    assert [item.names.value for item in control.items] == ["least_recent_energy", "round_robin"]
    assert [line.children[0].value for line in control.inside.children] == ["1", "2"]
    assert control.inside.children[0].children[1] is control.items[0].widget
    control.items[0].chosen.controls["nx"].box.value = 64
    assert counter.count == 4
    read = WeightedChoice(choices=control.plain(), weights=(1, 2))
    assert read.choices == (LeastRecentEnergy(nx=64), RoundRobin())


def test_an_item_of_one_kind_is_a_line_whose_levers_are_made_when_it_is_opened():
    tickets = Resource(label="tickets", level="module", contiguous=False, blocks=16)
    control = control_for(Machine.levers["more_resources"])
    assert control.plain() == []
    control.show((tickets,))
    (item,) = control.items
    assert item.button.description == "▸ resource(label=tickets, level=module, contiguous=False, blocks=16)"
    assert Machine(more_resources=control.plain()).more_resources == (tickets,)
    assert item._levers is None
    item.button.click()
    assert (item.opened, control.plain()) == (True, [tickets.plain()])
    counter = heard(control)
    item.levers.controls["blocks"].box.value = 12
    assert (counter.count, item.button.description[:20]) == (1, "▾ resource(label=tic")
    item.button.click()
    assert (item.opened, control.plain()) == (False, [tickets.but(blocks=12).plain()])
    control.show((tickets, tickets.but(label="more")))
    assert [item["label"] for item in control.plain()] == ["tickets", "more"]


def test_a_new_item_is_open_and_asks_for_what_it_needs():
    control = control_for(Machine.levers["more_resources"])
    control.add.click()
    (item,) = control.items
    assert (item.opened, item.button.description) == (True, "▾ resource")
    with pytest.raises(InputError, match=re.escape("label must be a text of one line. Got ''.")):
        control.plain()
    item.levers.controls["label"].field.value = "tickets"
    assert Machine(more_resources=control.plain()).more_resources[0].label == "tickets"


def test_the_button_of_an_item_takes_it_out():
    control = control_for(InstructionMix.levers["mixes"])
    counter = heard(control)
    _, _, out = control.inside.children[1].children
    out.click()
    assert counter.count == 1
    assert InstructionMix(mixes=control.plain()).mixes == (DEFAULT_MIXES[0], DEFAULT_MIXES[2])


def test_the_workloads_offered_are_of_the_kind_that_the_engine_serves():
    assert {"random_groups", "waiting_kernels", "group_file", "trace_groups", "trace_blocks"} == set(
        workloads("groups")
    )
    assert not set(workloads("groups")) & set(workloads("workgroups"))


def test_words_may_stand_before_the_members():
    lever = Lever("other", "spec", spec=QueuePolicy, description="what is compared")
    control = ChoiceControl(lever, stand_ins={"": "as the baseline"})
    assert control.names.options[0] == ("as the baseline", "")
    assert (control.plain(), control.inside.children, control.names.tooltip) == ("", (), "what is compared")
    control.names.value = "fifo_lookahead"
    assert list(control.plain()) == ["fifo_lookahead"]
    control.names.value = ""
    control.refresh()
    assert (control.plain(), control.inside.children) == ("", ())


def test_files_and_traces_are_workloads_too():
    names = set(alternatives(Workload))
    assert {"random_workgroups", "workgroup_file", "trace_workgroups"} <= names
    control = control_for(Lever("workload", "spec", regimes()["bimodal"].workload, spec=Workload))
    control.names.value = "trace_workgroups"
    with pytest.raises(InputError, match=re.escape("trace must be a text of one line. Got ''.")):
        control.plain()


def test_engine_options_and_machine_are_levers_like_any():
    options = control_for(Lever("options", "spec", SharedMemoryOptions(), spec=SharedMemoryOptions))
    assert isinstance(options, LeversControl)
    assert options.plain() == SharedMemoryOptions().plain()
    machine = control_for(Lever("machine", "spec", Machine(), spec=Machine))
    assert Machine.read(machine.plain()) == Machine()


@given(st.data())
def test_any_valid_value_is_shown_and_read_back(data):
    low, high = sorted(data.draw(st.tuples(st.integers(-100, 5000), st.integers(-100, 5000))))
    control = control_for(Lever("n", "integer", low, least=low, most=high))
    value = data.draw(st.integers(low, high))
    control.show(value)
    assert control.plain() == value


def test_what_is_defined_later_is_offered_after_a_look(own_policy):
    control = control_for(Lever("placement", "spec", FirstFit(), spec=Placement))
    before = [name for _, name in control.names.options]
    cls = own_policy("LeftHand", "return 0")
    assert cls.name not in before
    counter = heard(control)
    control.refresh()
    assert cls.name in [name for _, name in control.names.options]
    assert (control.plain(), counter.count) == ("first_fit", 0)


def test_what_is_defined_again_is_built_anew(own_policy):
    own_policy("RightHand", "return 0")
    control = control_for(Lever("placement", "spec", "right_hand", spec=Placement))
    assert control.plain() == "right_hand"
    own_policy("RightHand", "return 0", reach=lever(3, least=0, most=9, description="how far"))
    control.refresh()
    assert control.plain() == {"right_hand": {"reach": 3}}


def test_a_chosen_member_that_is_gone_gives_way(own_policy):
    own_policy("GoneHand", "return 0")
    control = control_for(Lever("placement", "spec", "gone_hand", spec=Placement))
    own_policy.forget()
    control.refresh()
    chosen = control.plain()
    assert (chosen if isinstance(chosen, str) else next(iter(chosen))) in policies("placement")


class Nest(Spec):
    """Levers of levers, for the test below."""

    options: SharedMemoryOptions = lever(SharedMemoryOptions(latency_cycles=3), description="nested")


def test_levers_hold_levers():
    control = control_for(Lever("nest", "spec", Nest(), spec=Nest))
    assert Nest(options=SharedMemoryOptions(**control.plain()["options"])) == Nest()
