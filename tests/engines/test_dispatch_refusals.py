"""What the engine `dispatch` refuses: groups that never fit, policies that do not go with it, wrong answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.engines.dispatch_cases import Case, Fixed, Row
from tests.engines.dispatch_users import (
    EverySeventh,
    FromTheTop,
    LongestUnused,
    MiddleFirst,
    OddOnesOut,
    OneShort,
    Thirds,
)
from tests.slow import compiled_only
from workbench.engines.dispatch import Dispatch
from workbench.errors import InputError, PolicyError, StarvedError
from workbench.levers import lever
from workbench.machine.machine import Resource
from workbench.policies.dispatch import (
    CoolestFirst,
    MostResidual,
    NoRotation,
    PriorityWindows,
    RoundRobin,
    StaticPriority,
    WeightedChoice,
)
from workbench.policies.placement import Buddy, Compaction
from workbench.policies.probes import GroupedRun, SampledRun
from workbench.workloads.workload import Groups

TICKETS = Resource(label="tickets", level="module", contiguous=False, blocks=3)


def refused(*rows: Row, **more: Any) -> str:
    with pytest.raises(InputError) as wrong:
        Case([Row(), *rows], modules=2, units=2, more=(TICKETS,), **more).engine()
    sentence = str(wrong.value)
    assert sentence.endswith(".")
    return sentence


@pytest.mark.parametrize("resource", ["vgpr", "sgpr", "shared", "tickets"])
def test_a_group_that_never_fits_is_refused_by_the_resource(resource: str) -> None:
    blocks = {"vgpr": 16, "sgpr": 16, "shared": 16, "tickets": 3}[resource]
    Case([Row(need={resource: blocks})], units=2, more=(TICKETS,)).engine()
    message = refused(Row(need={resource: blocks + 1}))
    assert message.startswith(f"group 1 needs {blocks + 1} blocks of {resource} in ")
    assert f"has {blocks}" in message


def test_waves_count_as_they_are_shared_out() -> None:
    """16 slots: 17 waves never fit; 3 waves of 6 blocks fit two units of 16, as 2 and 1, and 3 of 9 do not."""
    assert refused(Row(waves=17)).startswith("group 1 needs 9 blocks of waves in one unit, but one unit has 8")
    Case([Row(waves=3, need={"vgpr": 8})], units=2, policies={"units": NoRotation()}).engine()
    assert "needs 18 blocks of vgpr in one unit" in refused(Row(waves=3, need={"vgpr": 9}))


def test_each_wave_of_a_unit_counts_as_it_is_served() -> None:
    """Two waves of 5 blocks are two times 8 for a buddy: more than 12, of which 10 would do; 16 hold them."""
    alone: dict[str, Any] = {"policies": {"placement": Buddy()}, "options": {"blocks_on_a_unit": "per_wave"}}
    assert refused(Row(waves=3, need={"vgpr": 5}), vgpr=12, **alone) == (
        "group 1 needs 10 blocks of vgpr in one unit (served with 16), but one unit has 12: "
        "it could never be dispatched."
    )
    assert "served with 16" in refused(Row(need={"vgpr": 9}), vgpr=12, **alone)
    Case([Row(waves=3, need={"vgpr": 5})], units=2, **alone).engine()


def test_what_a_policy_makes_of_a_demand_counts() -> None:
    """Nine blocks are sixteen for a buddy, ten are not sampled, and fifteen are no whole group of four."""
    assert "served with 16" in refused(Row(need={"shared": 9}), shared=12, policies={"placement": Buddy()})
    sampled = {"probe": SampledRun(run_lengths=(1, 2, 4, 8))}
    assert "reports 8 when all are free" in refused(Row(need={"vgpr": 10}), policies=sampled)
    Case([Row(need={"vgpr": 15})], policies={"probe": GroupedRun(groups=4)}).engine()


class Edited(Fixed):
    """Two groups of one wave, with some columns changed."""

    def __init__(self, **columns: Any) -> None:
        super().__init__([Row(), Row()], ("vgpr",))
        object.__setattr__(self, "columns", columns)

    def groups(self, machine: Any, streams: Any) -> Groups:
        return super().groups(machine, streams)._replace(**self.columns)


WAVES = "a whole number from 1 to 1048576"
TABLES = [
    ({"demand": {"lds": np.array([1, 1])}}, "unknown resource of the machine 'lds'; there are"),
    ({"demand": {"shard": np.array([0, 0])}}, "Did you mean shared?"),
    (
        {"demand": {"vgpr": np.array([1, -1])}},
        "group 1: demand of vgpr must be a whole number from 0 to 1099511627776. ",
    ),
    ({"demand": {"vgpr": np.array([1.5, 1.0])}}, "group 0: demand of vgpr must be a whole number"),
    ({"demand": {"vgpr": np.array([1])}}, "the workload's demand of vgpr must have a number a group, 2. Got 1."),
    ({"arrival": np.array([0, -1])}, "group 1: arrival must be a whole number from 0 to 72057594037927935. Got -1. "),
    ({"arrival": np.array([0, 1 << 62])}, "Got 4611686018427387904. Nearest: 72057594037927935."),
    ({"arrival": np.array([0.0, np.nan])}, "group 0: arrival must be a whole number from 0 to"),
    ({"duration": np.array([1, 1 << 62])}, "group 1: duration must be a whole number from 1 to"),
    ({"duration": np.array([0, 1])}, "group 0: duration must be a whole number from 1 to"),
    ({"duration": np.array([np.nan, 1])}, "Got nan."),
    ({"priority": np.array([1, 0])}, "group 1: priority must be a whole number from 1 to 4096. Got 0. Nearest: 1."),
    ({"channel": np.array([-1, 0])}, "group 0: channel must be a whole number from 0 to 16777216. Got -1. Nearest: 0."),
    ({"waves": np.array([1, 0])}, f"group 1: waves must be {WAVES}. Got 0. Nearest: 1."),
    ({"waves": np.array([1.0, 2.0])}, f"group 0: waves must be {WAVES}. Got 1.0."),
    ({"independent": np.array([0, 2])}, "group 1: independent must be a whole number from 0 to 1. Got 2. Nearest: 1."),
    ({"instructions": np.zeros((2, 5), np.int64)}, "instructions must have 6 numbers a group, 2 x 6. Got 2 x 5."),
    ({"instructions": np.full((2, 6), -7)}, "group 0: instructions must be a whole number from 0 to 4398046511104. "),
    ({"arrival": np.array([0])}, "the workload's channel must have a number a group, 1. Got 2."),
    ({"duration": np.full(2, (1 << 56) - 1), "arrival": np.full(2, 5)}, None),
]


@pytest.mark.parametrize(("columns", "sentence"), TABLES, ids=lambda value: next(iter(value)) if value else "")
def test_a_table_of_groups_is_checked_before_anything_runs(columns: dict[str, Any], sentence: str | None) -> None:
    setup = Case([]).setup()._replace(workload=Edited(**columns))
    if sentence is None:
        assert Dispatch().simulate(setup, 1).group.size == 2
        return
    for call in (Dispatch().validate, Dispatch().simulate):
        with pytest.raises(InputError) as wrong:
            call(setup, 1)
        assert sentence in str(wrong.value) and str(wrong.value)[-1] in ".?"


def test_a_run_needs_a_group_and_an_end_that_can_be_counted() -> None:
    with pytest.raises(InputError, match=r"^the workload has no groups; a dispatcher needs at least one\.$"):
        Case([]).engine()
    with pytest.raises(InputError, match=r"last until cycle 1\.44e\+18 one after another; at most 2\^60"):
        Case([Row(duration=(1 << 56) - 1)] * 20).engine()


def test_policies_that_do_not_go_with_a_dispatcher() -> None:
    assert "moves live ranges" in refused(policies={"placement": Compaction()})
    assert "temperatures" in refused(policies={"choice": CoolestFirst()})
    assert "groups" in refused(policies={"probe": GroupedRun(groups=3)})


class Anywhere(MiddleFirst):
    """Answer the first block, free or not."""

    def answer(see: Any) -> int:
        return 0


class Nowhere(MiddleFirst):
    """Refuse everything."""

    def answer(see: Any) -> int:
        return -1


class Twice(OneShort):
    """Report twice as many blocks as there are."""

    def answer(see: Any) -> int:
        return 2 * see.blocks


class Divides(EverySeventh):
    """Divide by the cycle."""

    def answer(see: Any) -> int:
        return see.priority // see.cycle


class Last(OddOnesOut):
    """Take the last group, whether it fits or not."""

    def answer(see: Any) -> int:
        return see.count - 1


class TooMany(Thirds):
    """Split into more parts than there are waves."""

    def answer(see: Any) -> int:
        return see.waves + 1


class OneLost(FromTheTop):
    """Leave a wave out."""

    def answer(see: Any) -> int:
        for t in range(see.units):
            see.counts[t] = 0
        see.counts[0] = see.waves - 1
        return see.pointer


class NoNumber(LongestUnused):
    """Score with something that is no number."""

    def answer(see: Any) -> None:
        for k in range(see.count):
            see.scores[k] = np.nan


class Nobody(OddOnesOut):
    """Dispatch nothing, whatever the order."""

    def answer(see: Any) -> int:
        return -1


WRONG = [
    ("placement", Anywhere(), r"answered 0, which is not the start of a free range.* at cycle 1, group 1 "),
    ("placement", Nowhere(), r"wait for ever at cycle \d+ although all modules are empty: .*nowhere"),
    ("probe", Twice(), "reported 32 free blocks in a row"),
    ("priority", Divides(), "raised ZeroDivisionError"),
    ("selection", Last(), r"answered 1, which is not the position of a waiting group that fits.* cycle 1"),
    ("stuck", TooMany(), r"answered 3 parts"),
    ("units", OneLost(), r"shared out 1 waves"),
    ("choice", NoNumber(), "score that is no number"),
]


@pytest.mark.parametrize(("slot", "policy", "said"), WRONG, ids=lambda value: getattr(value, "name", None))
def test_a_wrong_answer_is_an_error_that_names_the_policy(slot: str, policy: Any, said: str) -> None:
    """Two groups take eight of sixteen blocks each; a third one, which comes a cycle later, wants all of them."""
    rows = [
        Row(waves=2, need={"vgpr": 4}, duration=30),
        Row(waves=2, need={"vgpr": 4}, duration=30),
        Row(arrival=1, channel=1, waves=2, independent=True, need={"vgpr": 8}, duration=30),
    ]
    with pytest.raises(PolicyError, match=said) as wrong:
        Case(rows, policies={slot: policy}).engine()
    assert policy.name in str(wrong.value)
    assert isinstance(wrong.value, StarvedError) == ("for ever" in said)


@pytest.mark.parametrize("priority", [StaticPriority(), PriorityWindows(shortest=4), EverySeventh()])
def test_who_refuses_in_every_order_does_not_hang(priority: Any) -> None:
    """Windows open for ever, and an order that is asked for in every cycle never comes to an end either."""
    rows = [Row(arrival=5, duration=10), Row(channel=1, priority=2)]
    with pytest.raises(PolicyError, match=r"2 channels wait for ever .* one of nobody, "):
        Case(rows, policies={"selection": Nobody(), "priority": priority}).engine()


class Doubled(FromTheTop):
    """Give every unit all the waves."""

    def answer(see: Any) -> int:
        for t in range(see.units):
            see.counts[t] = see.waves
        return see.pointer


class BelowZero(FromTheTop):
    """Give the waves to the first unit, and take one from the last to give it to the first."""

    def answer(see: Any) -> int:
        for t in range(see.units):
            see.counts[t] = 0
        see.counts[0], see.counts[see.units - 1] = see.waves + 1, -1
        return see.pointer


@pytest.mark.parametrize("per_wave", [False, True])
@pytest.mark.parametrize(
    ("policy", "counts", "together"),
    [(Doubled(), "[6, 6]", 12), (BelowZero(), "[7, -1]", 6)],
    ids=["doubled", "below 0"],
)
def test_a_policy_that_shares_out_wrongly_is_blamed_and_not_the_workload(
    policy: Any, counts: str, together: int, per_wave: bool
) -> None:
    """Six waves of which each unit could hold four: what the policy says is no reason to call the group too large."""
    options = {"blocks_on_a_unit": "per_wave" if per_wave else "aggregated"}
    rows = [Row(arrival=4, waves=6, need={"vgpr": 1})]
    case = Case(rows, modules=2, units=2, slots=4, policies={"units": policy}, options=options)
    Dispatch().validate(case.setup(), 1)
    with pytest.raises(PolicyError) as wrong:
        case.engine()
    assert str(wrong.value) == (
        f"{policy.name} (units) shared out {together} waves over the units of module 0 as {counts}: the counts must be "
        "6 in all and none below 0; at cycle 4, group 0 (6 waves)."
    )


class RefusesAndCounts(MiddleFirst):
    """Refuse everything, and remember how often."""

    def answer(see: Any) -> int:
        see.memory[0] += 1
        return -1


def test_who_refuses_for_ever_is_stopped_however_much_it_remembers() -> None:
    case = Case([Row(need={"vgpr": 2})], policies={"placement": RefusesAndCounts()})
    with pytest.raises(
        PolicyError, match=r"1 channels wait for ever .* refuses what would fit, 200\d times in a row\."
    ):
        case.engine()


class AsksForMore(OneShort):
    """Divide by nothing."""

    def answer(see: Any) -> int:
        return see.blocks // (see.blocks - see.blocks)


class NeverReports(OneShort):
    """Never come to an end."""

    def answer(see: Any) -> int:
        blocks = see.blocks
        while blocks > 0:
            blocks += 1
        return blocks


class OutOfBounds(FromTheTop):
    """Give a wave to a unit that is not there."""

    def answer(see: Any) -> int:
        see.counts[see.units + 5] = see.waves
        return see.pointer


AT_ONCE = [
    ("probe", AsksForMore(), "raised ZeroDivisionError"),
    pytest.param("probe", NeverReports(), "did not end within 1,000,000,000 loop turns", marks=compiled_only),
    ("units", OutOfBounds(), "raised IndexError"),
]


@pytest.mark.parametrize(("slot", "policy", "said"), AT_ONCE, ids=lambda value: getattr(value, "name", None))
def test_what_is_asked_before_a_run_is_stopped_as_in_it(slot: str, policy: Any, said: str) -> None:
    """Groups are admitted by what the probe and the units policy say of an empty module, which may fail as well."""
    setup = Case([Row(waves=2, need={"vgpr": 4})], policies={slot: policy}).setup()
    Dispatch().validate(setup, 1)
    with pytest.raises(PolicyError, match=said):
        Dispatch().simulate(setup, 1)


class NoSuchModule(LongestUnused):
    """Read what is not there."""

    def answer(see: Any) -> None:
        see.scores[0] = see.free[1000 * see.totals.size]


class NoSuchSlot(MiddleFirst):
    """Remember more than there is room for."""

    def answer(see: Any) -> int:
        see.memory[100 + see.length] = 1
        return 0


class CellByLever(MiddleFirst):
    """Read the cell of the memory that a lever names."""

    cell: int = lever(0, least=0, most=500, description="which cell is read")

    def answer(see: Any) -> int:
        return 0 * see.memory[see.levers.cell]


@compiled_only
def test_every_run_of_a_users_policy_tests_every_index_also_after_one_without_a_fault() -> None:
    def setup(cell: int) -> Any:
        row = Row(waves=1, need={"vgpr": 4})
        return Case([row], policies={"placement": CellByLever(cell=cell)}).setup()

    Dispatch().simulate(setup(0), 1)
    with pytest.raises(PolicyError, match=r"raised IndexError \(index 500 is out of bounds .* with size 1\)"):
        Dispatch().simulate(setup(500), 1)


class BadNotice(MiddleFirst):
    """Divide by nothing when told of a grant."""

    def granted(see: Any) -> None:
        see.memory[0] = see.start // (see.length - see.length)


RAISING = [
    ("choice", NoSuchModule(), r"raised IndexError \(.*\) in .*, line \d+, for .*; at cycle 0, group 0 "),
    (
        "placement",
        NoSuchSlot(),
        r"raised IndexError \(index 108 .*\) in .*, for 8 segments in the state 1+; at cycle 0, group 0 ",
    ),
    ("placement", BadNotice(), r"raised ZeroDivisionError .*, for \[4, 12\) in the state 1+0+1+; at cycle 0\."),
]


@pytest.mark.parametrize(("slot", "policy", "said"), RAISING, ids=lambda value: getattr(value, "name", None))
def test_an_exception_is_named(slot: str, policy: Any, said: str) -> None:
    """Compiled code tells only that there was one; a notice cannot be given again as it was."""
    with pytest.raises(PolicyError, match=said):
        Case([Row(waves=2, need={"vgpr": 4})], policies={slot: policy}).engine()


def test_the_nearest_number_of_groups_goes_with_every_resource() -> None:
    """16 and 12 blocks, and 20 of shared memory: 8 groups cut only the first; 4, not 6 or 10, cut them all."""
    message = refused(sgpr=12, shared=20, policies={"probe": GroupedRun(groups=8)})
    assert message == "policy.probe.grouped_run.groups must divide sgpr (12 blocks). Got 8. Nearest: 4."
    Case([Row()], sgpr=12, shared=20, policies={"probe": GroupedRun(groups=4)}).engine()


def test_a_lever_is_named_by_its_whole_path() -> None:
    inner = WeightedChoice(choices=(RoundRobin(), MostResidual(weights=(1.0,))), weights=(1.0, 1.0))
    assert refused(policies={"choice": inner}).startswith(
        "policy.choice.weighted_choice.choices[1].most_residual.weights must be 6 weights"
    )
    windows = PriorityWindows(lengths=(8, 4))
    assert refused(policies={"priority": windows}).startswith("policy.priority.priority_windows.lengths must hold one")
