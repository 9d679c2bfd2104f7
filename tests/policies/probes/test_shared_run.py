"""The shared probe: its contract, its periods, and its forms (spec 3, R51-R59, E16, E18)."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import shared_probe as twin
from tests.slow import examples
from workbench.errors import InputError
from workbench.policies.policy import read_policy
from workbench.policies.probes import ExactRun, GroupedRun, SampledRun, SharedRun, reports
from workbench.policies.probes.contract import ProbeContract
from workbench.structures.bitmaps import packed

TYPES = [128, 64, 48]
LOW, HIGH = "0" * 60 + "1111", "111" + "0" * 45
FORMS = [
    {"direction": direction, "encoding": encoding, "decode": decode, "masks": masks}
    for direction, encoding, decode, masks in product(
        ("right", "left"), ("free1", "free0"), ("lut", "scan"), ("every_shift", "first_crossing")
    )
]


class TestSharedRun(ProbeContract):
    policy = SharedRun(width=2048, periods=(0, 1, 1), stale="forget", alone=GroupedRun(groups=32))


def bits(text: str) -> list[bool]:
    return [bit == "1" for bit in text]


def opposite(text: str) -> str:
    return text.translate(str.maketrans("01", "10"))


def test_v17_the_documents_periods():
    result = SharedRun(width=128).schedule(TYPES)
    assert result.period.tolist() == [0, 1, 1]
    assert (result.periods, result.cycles_a_period, result.forget) == (2, 1, False)


def test_periods_last_and_reports_are_forgotten_as_asked():
    result = SharedRun(cycles_a_period=3, stale="forget", width=240).schedule(TYPES)
    assert (result.period.tolist(), result.periods, result.cycles_a_period, result.forget) == ([0, 0, 0], 1, 3, True)


def test_periods_can_be_given():
    assert SharedRun(periods=(1, 2, 0)).schedule(TYPES).period.tolist() == [1, 2, 0]
    assert SharedRun().schedule([]).periods == 1


@pytest.mark.parametrize(
    ("levers", "blocks", "sentence"),
    [
        ({}, [129, 4], "shared_run.width must be at least the 129 blocks of a resource. Got 128. Nearest: 129."),
        (
            {"periods": (0, 1)},
            TYPES,
            "shared_run.periods must name a period for each of the 3 resources. Got [0, 1]. Nearest: [0, 1, 1].",
        ),
        (
            {"periods": (0, 2, 2)},
            TYPES,
            "shared_run.periods must give every period a resource; 1 has none. Got [0, 2, 2]. Nearest: [0, 1, 1].",
        ),
        (
            {"periods": (0, 0, 1)},
            TYPES,
            "shared_run.periods must put at most 128 blocks into a period; 0 has 192. "
            "Got [0, 0, 1]. Nearest: [0, 1, 1].",
        ),
        (
            {"alone": {"grouped_run": {"groups": 33}}},
            TYPES,
            "shared_run.alone.groups must divide the 128 blocks. Got 33. Nearest: 32.",
        ),
        (
            {"alone": "bit_serial", "cycles_a_period": 3},
            TYPES,
            "shared_run.cycles_a_period must be at least the 128 that bit_serial takes for 128 blocks. "
            "Got 3. Nearest: 128.",
        ),
    ],
)
def test_schedules_that_cannot_be(levers, blocks, sentence):
    with pytest.raises(InputError) as refused:
        SharedRun(**levers).schedule(blocks)
    assert str(refused.value) == sentence


def test_a_resource_is_refused_by_name():
    with pytest.raises(InputError) as refused:
        SharedRun(width=64).check_blocks(128, "policy.probe", "a.yaml", "vgpr")
    expected = "a.yaml: policy.probe.width must be at least the 128 blocks of vgpr. Got 64. Nearest: 128."
    assert str(refused.value) == expected


def test_r55_a_period_for_itself_uses_another_probe():
    probe = SharedRun(alone=SampledRun())
    assert [one.name for one in probe.serving(TYPES)] == ["sampled_run", "shared_run", "shared_run"]
    assert [one.name for one in probe.serving([64, 64])] == ["shared_run", "shared_run"]
    assert ExactRun().serving(TYPES) == (ExactRun(),) * 3
    assert probe.longest_each(["1" * 5 + "0" * 11]) == [4]
    assert probe.longest_each(["1" * 5 + "0" * 11, "1" * 7 + "0" * 9]) == [5, 7]


def test_r55_the_other_probe_is_asked_in_the_encoding_of_this_one():
    probe = SharedRun(alone=GroupedRun(groups=4), encoding="free0")
    assert probe.longest_each([opposite("0111100111111100")]) == [4]


def test_a_shared_probe_is_not_used_within_another():
    assert SharedRun().short() == "shared_run"
    with pytest.raises(InputError, match=r"^shared_run\.alone must be a probe of one resource\. Got 'shared_run'"):
        SharedRun(alone=SharedRun())
    with pytest.raises(InputError, match=r"^policy\.probe\.shared_run\.alone must be a probe of one resource"):
        read_policy("probe", {"shared_run": {"alone": "shared_run"}}, "policy.probe")


def test_v21_in_both_encodings():
    assert SharedRun().longest_each([LOW, HIGH]) == [4, 3]
    assert SharedRun(encoding="free0").longest_each([opposite(LOW), opposite(HIGH)]) == [4, 3]


@examples(16, 250)
@given(
    st.lists(st.text("01", min_size=2, max_size=12), min_size=2, max_size=4), st.integers(0, 9), st.sampled_from(FORMS)
)
def test_r53_each_as_if_alone(states, spare, form):
    displayed = [opposite(one) if form["encoding"] == "free0" else one for one in states]
    expected = [twin.sequence(bits(one)).count("1") for one in states]
    probe = SharedRun(width=sum(map(len, states)) + spare, **form)
    assert probe.longest_each(displayed) == expected
    assert [probe.longest(one) for one in displayed] == expected


def test_no_form_changes_the_report_but_the_wrong_padding():
    for form in FORMS:
        assert SharedRun(**form).function() is SharedRun.answer
        wrong = SharedRun(**form, padding="occupied")
        assert (wrong.function() is SharedRun.answer) == wrong.never_more()


@pytest.mark.slow
def test_e16_wrong_padding_reports_what_is_not_there():
    wrong = SharedRun(padding="occupied", encoding="free0", width=8)
    assert not wrong.never_more()
    assert wrong.exact(8) and not wrong.exact(4)
    assert wrong.longest(opposite("1110")) == 4  # 8 at the table, cut to the four blocks that there are
    assert wrong.longest_each([opposite("1110"), opposite("0000")]) == [8, 8]
    assert wrong.longest(opposite("11101101")) == 3
    assert wrong.gate_list(4) is None
    states = packed([True, True, True, False]).reshape(1, 1)
    assert reports(wrong, states, 4).tolist() == [4]
    for right in (wrong.but(padding="zero"), wrong.but(encoding="free1"), wrong.but(decode="scan")):
        assert right.never_more() and right.exact(4)
        assert reports(right, states, 4).tolist() == [3]


def test_what_does_not_fit_side_by_side_is_refused():
    assert SharedRun().short() == "shared_run"
    with pytest.raises(InputError, match=r"^shared_run\.width must be at least the 176 blocks of one period\. Got 128"):
        SharedRun().longest_each(["1" * 128, "1" * 48])
    with pytest.raises(InputError, match="a period must have at least one free map"):
        SharedRun().longest_each([])


def test_h3_12_gates_by_the_schedule():
    cost = SharedRun(masks="first_crossing").sharing_cost(TYPES)
    assert (cost.chain_gates, cost.separate_chain_gates, cost.mask_gates) == (8_128, 11_272, 64)
    assert (cost.periods, round(100 * cost.saved, 1), round(100 * cost.saved_with_masks, 1)) == (2, 27.9, 27.3)
    assert SharedRun(periods=(0, 1, 2)).sharing_cost(TYPES).mask_gates == 0  # nothing side by side
