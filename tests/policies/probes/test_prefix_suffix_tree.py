"""The rival: the (prefix, suffix, best) tree (spec 3, section 7)."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.oracles import probes as slow
from tests.policies.probes.together import compare, compare_on_every_state, free_maps
from workbench.policies.probes import PrefixSuffixTree
from workbench.policies.probes.contract import ProbeContract


class TestPrefixSuffixTree(ProbeContract):
    policy = PrefixSuffixTree()

    @pytest.mark.slow
    def test_gates_compute_the_report(self) -> None:
        super().test_gates_compute_the_report()


@pytest.mark.parametrize("blocks", range(1, 12))
def test_every_state_of_small_resources(blocks):
    compare_on_every_state(PrefixSuffixTree(), slow.longest_run, blocks)


@given(free_maps())
def test_reports_as_its_twin(free):
    compare(PrefixSuffixTree(), slow.longest_run_by_text, free)


class TestPrefixSuffixTreeByLevel(ProbeContract):
    policy = PrefixSuffixTree(timing="step_a_cycle")
    sizes = (2, 3, 16, 63, 64, 65, 127, 128, 129)


@pytest.mark.parametrize("blocks", [*range(1, 20), 127, 128, 129, 1000])
def test_n_blocks_take_n_minus_one_nodes(blocks):
    assert PrefixSuffixTree().nodes(blocks) == blocks - 1


def test_a_level_a_cycle():
    assert PrefixSuffixTree(timing="step_a_cycle").round_cycles([128, 64]) == 7
    assert PrefixSuffixTree().round_cycles([128]) == 1
