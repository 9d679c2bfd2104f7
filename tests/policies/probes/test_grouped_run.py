"""The grouped probe against its contract and its slow twin (spec 3, R39-R43, E27)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import probes as slow
from tests.policies.probes.test_exact_run import FORMS
from tests.policies.probes.together import compare, compare_on_every_state, free_maps
from workbench.errors import InputError
from workbench.policies.probes import GroupedRun
from workbench.policies.probes.contract import ProbeContract


class TestGroupedRun(ProbeContract):
    policy = GroupedRun()


class TestGroupedRunOfThree(ProbeContract):
    policy = GroupedRun(groups=3, timing="pipe_3cycle")
    sizes = (6, 63, 129, 1824)


CUTS = [(n, z) for n in range(2, 13) for z in range(1, n) if n % z == 0]


@pytest.mark.parametrize(("blocks", "groups"), CUTS)
def test_every_state_of_small_resources(blocks, groups):
    compare_on_every_state(GroupedRun(groups=groups), lambda free: slow.grouped_run(free, groups), blocks)


@st.composite
def cut_maps(draw, most=4096):
    groups = draw(st.integers(1, min(130, most // 2)))
    size = draw(st.integers(2, min(70, most // groups)))
    return groups, draw(free_maps(st.just(groups * size)))


@given(cut_maps())
def test_reports_as_its_twin(cut):
    groups, free = cut
    compare(GroupedRun(groups=groups), lambda free: slow.grouped_run(free, groups), free)


@given(st.integers(1, 12), st.integers(2, 6), st.data(), st.sampled_from(FORMS))
def test_every_wire_of_every_form(groups, size, data, form):
    free = data.draw(free_maps(st.just(groups * size)))
    state = slow.written(free, form["encoding"])
    wires = GroupedRun(groups=groups, **form).trace(state)
    bits = slow.group_bits(state, groups, form["encoding"])
    assert wires.f0 == bits
    assert wires.sa == tuple(slow.chained(slow.shifted(bits, form["direction"], form["encoding"]), form["encoding"]))
    assert wires.longest == slow.grouped_run(free, groups)


LARGE = [pytest.param(12, groups, marks=pytest.mark.slow) for groups in (2, 3, 4)]


@pytest.mark.parametrize(("blocks", "groups"), [(8, 4), (8, 2), *LARGE])
def test_r42_the_under_estimate_is_at_most_two_groups_less_two(blocks, groups):
    size, probe = blocks // groups, GroupedRun(groups=groups)
    short = [
        slow.longest_run(free) - probe.longest(free)
        for free in ([bool(k >> j & 1) for j in range(blocks)] for k in range(2**blocks))
    ]
    assert max(short) == (2 * size - 2 if groups > 1 else size - 1)
    assert min(short) == 0


@pytest.mark.parametrize(
    ("groups", "blocks", "sentence"),
    [
        (33, 128, "a.yaml: policy.probe.groups must divide vgpr (128 blocks). Got 33. Nearest: 32."),
        (128, 128, "a.yaml: policy.probe.groups must be smaller than vgpr (128 blocks). Got 128. Nearest: 64."),
        (200, 128, "a.yaml: policy.probe.groups must divide vgpr (128 blocks). Got 200. Nearest: 64."),
        (5, 12, "a.yaml: policy.probe.groups must divide vgpr (12 blocks). Got 5. Nearest: 4."),
    ],
)
def test_groups_that_do_not_divide_are_refused(groups, blocks, sentence):
    with pytest.raises(InputError) as refused:
        GroupedRun(groups=groups).check_blocks(blocks, "policy.probe", "a.yaml", "vgpr")
    assert str(refused.value) == sentence


def test_what_cannot_be_built_is_not_asked():
    for ask in (GroupedRun(groups=5).longest, GroupedRun(groups=5).trace):
        with pytest.raises(InputError, match=r"grouped_run\.groups must divide the 4 blocks\. Got 5\. Nearest: 2\."):
            ask("0110")
    with pytest.raises(InputError, match="Nearest: 4"):
        GroupedRun(groups=5).cost(8)
