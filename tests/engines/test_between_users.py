"""Policies of a user for dies and admission: they run compiled in a sweep, and a wrong answer is one sentence."""

from __future__ import annotations

import re
from typing import Any

import pytest

import workbench as wb
from tests.engines.dispatch_cases import Case, Row
from tests.slow import compiled_only
from workbench.errors import InputError
from workbench.levers import lever
from workbench.policies.dispatch import ChannelRoundRobin, FirstModule, MostFreeDie, PartitionByChannel

GROUPS = """arrival,channel,priority,waves,independent,duration,vgpr_blocks,sgpr_blocks,shared_segments
0,0,1,1,0,10,1,1,0
0,0,1,1,0,10,1,1,0
0,1,1,2,0,20,1,1,0
3,1,1,2,0,20,1,1,0
"""
USUAL = {"choice": FirstModule(), "selection": ChannelRoundRobin()}
MACHINE = {"compute_units": 4, "dies": [1, 3]}


class OddModules(wb.policies.Admission):
    """Admit to odd modules, and channel 1 to those alone that have fewer groups than a limit."""

    limit: int = lever(1, least=1, most=8, unit="groups", description="the most groups of a module")

    def answer(see):
        return int(see.module % 2 == 1 and (see.channel == 0 or see.groups < see.levers.limit))


class LastDie(wb.policies.Die):
    """Take the highest die that fits."""

    def answer(see):
        for die in range(see.dies - 1, -1, -1):
            if see.fits[die] > 0:
                return die
        return -2


class Wraps(wb.policies.Admission):
    """Admit where whole numbers wrap at 64 bits: in compiled code, and nowhere in plain Python."""

    def answer(see):
        return int((1 << 62) * (2 + 0 * see.module) < 0)


class Tells(wb.policies.Admission):
    """Answer with the module, so that neither of two answers is right for modules from 2 on."""

    def answer(see):
        return see.module


class Raises(wb.policies.Admission):
    """Refuse to answer for module 2."""

    def answer(see):
        if see.module == 2:
            raise ValueError("no luck")
        return 1


class NoSuchDie(wb.policies.Die):
    """Take the die behind the last one."""

    def answer(see):
        return see.dies


class BelowWaiting(wb.policies.Die):
    """Answer one less than what lets a group wait."""

    def answer(see):
        return -3


class Divides(wb.policies.Die):
    """Divide by the groups before in the channel."""

    def answer(see):
        return 1 // see.of_channel


@pytest.fixture
def sweep(tmp_path) -> dict[str, Any]:
    (tmp_path / "groups.csv").write_text(GROUPS)
    workload = {"file": str(tmp_path / "groups.csv")}
    return {"engine": "dispatch", "machine": MACHINE, "workload": workload, "seeds": 1, "measures": ["makespan_cycles"]}


def ran(sweep: dict[str, Any], **policies: Any) -> Any:
    (row,) = wb.run({**sweep, "policy": {**USUAL, **policies}}, workers=0).rows.values()
    return row


def test_policies_of_ones_own_decide_in_a_sweep(sweep):
    """Groups go to modules 1 and 3. With a limit of 1 the last group waits until module 1 is empty at cycle 12."""
    row = ran(sweep, admission=OddModules(), die=LastDie())
    assert (row.status, row.error) == ("done", "")
    assert row.measures["makespan_cycles"] == 32
    assert ran(sweep, admission=OddModules(limit=8), die=LastDie()).measures["makespan_cycles"] == 23


@compiled_only
def test_they_are_compiled(sweep):
    assert ran(sweep, admission=Wraps(), die=LastDie()).measures["makespan_cycles"] == 23


WRONG = [
    (
        "admission",
        Tells(),
        "tells (admission) answered 2; it must be 1 (the group may go there) or 0 (it may not); at cycle 0, group 0 "
        "(1 waves).",
    ),
    (
        "die",
        NoSuchDie(),
        "no_such_die (die) answered 2, which is no die; -1 lets all dies compete, -2 lets the group wait; at cycle 0, "
        "group 0 (1 waves).",
    ),
    (
        "die",
        BelowWaiting(),
        "below_waiting (die) answered -3, which is no die; -1 lets all dies compete, -2 lets the group wait; at "
        "cycle 0, group 0 (1 waves).",
    ),
]


@pytest.mark.parametrize(("slot", "policy", "sentence"), WRONG, ids=lambda value: getattr(value, "name", None))
def test_a_wrong_answer_is_one_sentence_that_names_the_policy(sweep, slot, policy, sentence):
    with pytest.warns(UserWarning, match="1 of 1 runs failed"):
        row = ran(sweep, **{slot: policy})
    assert (row.status, row.error) == ("failed", sentence)


RAISING = [
    (
        "admission",
        Raises(),
        r"^raises \(admission\) raised ValueError \(no luck\) in test_between_users\.py, line \d+, for channel 0, "
        r"kernel 0, priority 1, module 2, die 1, modules 4, groups 0, same_kernel 0, modules_held 0, .*; "
        r"at cycle 0, group 0 \(1 waves\)\.$",
    ),
    (
        "die",
        Divides(),
        r"^divides \(die\) raised ZeroDivisionError \(.*\) in test_between_users\.py, line \d+, for kernel 0, "
        r"channel 0, group 0, groups 2, of_channel 0, of_all 0, dies 2, resources 5, fits \[1, 3\], .*; "
        r"at cycle 0, group 0 \(1 waves\)\.$",
    ),
]


@pytest.mark.parametrize(("slot", "policy", "sentence"), RAISING, ids=lambda value: getattr(value, "name", None))
def test_an_exception_is_named_with_all_that_the_answer_saw(sweep, slot, policy, sentence):
    with pytest.warns(UserWarning, match="1 of 1 runs failed"):
        row = ran(sweep, **{slot: policy})
    assert row.status == "failed"
    assert re.match(sentence, row.error), row.error


def test_levers_that_do_not_go_with_the_machine_are_refused_before_the_run():
    with pytest.raises(InputError) as wrong:
        Case([Row()], modules=2, policies={"admission": PartitionByChannel(parts="0-2")}).engine()
    assert str(wrong.value) == (
        "policy.admission.partition_by_channel.parts names module 2; the machine has 0 to 1."
    )  # fmt: skip
    with pytest.raises(InputError) as wrong:
        Case([Row()], policies={"die": MostFreeDie(resource="tickets")}).engine()
    assert str(wrong.value).startswith("unknown resource of policy.die.most_free_die 'tickets'; there are ")
