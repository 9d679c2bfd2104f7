"""Grouping and sampling together against the contract and the slow twin (spec 3, R50)."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.oracles import probes as slow
from tests.policies.probes.test_grouped_run import cut_maps
from tests.policies.probes.test_sampled_run import legal
from tests.policies.probes.together import compare, compare_on_every_state
from workbench.errors import InputError
from workbench.policies.probes import GroupedSampledRun
from workbench.policies.probes.contract import ProbeContract


class TestGroupedSampledRun(ProbeContract):
    policy = GroupedSampledRun()


@pytest.mark.parametrize("lengths", [(1,), (1, 2), (1, 2, 4), (1, 3, 5)])
def test_every_state_of_a_small_resource(lengths):
    for groups in (2, 3, 6):
        probe = GroupedSampledRun(groups=groups, run_lengths=lengths)
        compare_on_every_state(probe, lambda free, z=groups: slow.grouped_sampled_run(free, z, lengths), 12)


@given(cut_maps(), legal(2048))
def test_reports_as_its_twin(cut, lengths):
    groups, free = cut
    probe = GroupedSampledRun(groups=groups, run_lengths=lengths)
    compare(probe, lambda free: slow.grouped_sampled_run(free, groups, lengths), free)


def test_groups_that_do_not_divide_are_refused():
    with pytest.raises(
        InputError, match=r"^policy\.probe\.groups must divide sgpr \(64 blocks\)\. Got 33\. Nearest: 32"
    ):
        GroupedSampledRun(groups=33).check_blocks(64, "policy.probe", "", "sgpr")
