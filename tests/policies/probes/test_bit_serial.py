"""The rival: the bit-serial scan (spec 3, section 7)."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.oracles import probes as slow
from tests.policies.probes.together import compare, compare_on_every_state, free_maps
from tests.slow import LONG
from workbench.policies.probes import BitSerial
from workbench.policies.probes.contract import ProbeContract


class TestBitSerial(ProbeContract):
    policy = BitSerial()
    sizes = tuple(size for size in ProbeContract.sizes if LONG or size not in (127, 128, 129))

    @pytest.mark.slow
    def test_gates_compute_the_report(self) -> None:
        super().test_gates_compute_the_report()


@pytest.mark.parametrize("blocks", range(1, 12))
def test_every_state_of_small_resources(blocks):
    compare_on_every_state(BitSerial(), slow.longest_run, blocks)


@given(free_maps())
def test_reports_as_its_twin(free):
    compare(BitSerial(), slow.longest_run_by_text, free)


def test_a_round_takes_as_long_as_its_largest_resource():
    assert BitSerial().round_cycles([128, 64, 104]) == 128
    assert BitSerial().cost(64).cycles == 64
