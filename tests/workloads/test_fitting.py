"""Which groups no empty module has room for: against putting waves there one by one, and what is said about them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import refusal
from tests.oracles.dispatch_fit import fits
from workbench.machine import Machine, Resource
from workbench.workloads.group_file import column_of, first_misfit, machine_resources

TICKETS = Resource(label="tickets", level="module", contiguous=False, blocks=3)
CACHE = Resource(label="cache", level="unit", contiguous=True, blocks=9)
MACHINES = st.builds(
    Machine,
    simds_a_unit=st.integers(1, 5),
    waves_a_unit=st.integers(5, 24),
    vgprs_a_unit=st.sampled_from([5120, 16_384, 65_536]),
    sgprs_a_unit=st.sampled_from([0, 400, 3200]),
    segments=st.integers(2, 12),
    more_resources=st.sampled_from([(), (TICKETS,), (CACHE, TICKETS)]),
)
LABELS = ("vgpr", "sgpr", "shared", "tickets", "cache", "nowhere")
GROUPS = st.lists(
    st.tuples(st.integers(1, 26), st.dictionaries(st.sampled_from(LABELS), st.integers(0, 14))), min_size=1, max_size=6
)


def columns(groups):
    waves = np.array([count for count, _ in groups])
    return waves, {label: np.array([demand.get(label, 0) for _, demand in groups]) for label in LABELS}


@given(MACHINES, GROUPS)
def test_the_first_misfit_is_the_first_that_waves_put_one_by_one_do_not_fit(machine, groups):
    misfit = first_misfit(machine, *columns(groups))
    fitting = [fits(machine, count, demand) for count, demand in groups]
    assert (misfit is None) == all(fitting)
    assert misfit is None or misfit.row == fitting.index(False)


@given(MACHINES, GROUPS)
def test_what_is_named_as_the_most_fits_and_one_more_does_not(machine, groups):
    misfit = first_misfit(machine, *columns(groups))
    if misfit is None:
        return
    waves, demand = groups[misfit.row]
    for requested, expected in ((misfit.most, True), (misfit.most + 1, False)):
        if misfit.label == "waves":
            assert fits(machine, requested, {}) == expected or requested == 0
        else:
            assert fits(machine, waves, {misfit.label: requested}) == expected
    assert misfit.requested > misfit.most
    assert misfit.requested == (waves if misfit.label == "waves" else demand[misfit.label])


@pytest.mark.parametrize(
    ("waves", "demand", "says"),
    [
        (41, {"vgpr": 99}, "waves must be at most 40, all that a module has slots for"),
        (9, {"vgpr": 22}, "vgpr must be at most 21, as 3 of its 9 waves share a unit of 64 blocks"),
        (1, {"shared": 129}, "shared must be at most 128, all that a module has"),
    ],
)
def test_the_reason_is_said_with_wave_slots_first(waves, demand, says):
    misfit = first_misfit(Machine(), np.array([waves]), {label: np.array([n]) for label, n in demand.items()})
    assert f"{misfit.label} {misfit.expected}" == says


def test_columns_are_called_by_their_resource():
    assert [column_of(label) for label in ("vgpr", "sgpr", "shared", "waves", "cache")] == [
        "vgpr_blocks",
        "sgpr_blocks",
        "shared_segments",
        "waves",
        "cache_blocks",
    ]


def test_a_machine_that_cannot_be_cut_is_refused_with_its_place():
    message = refusal(machine_resources, Machine(vgprs_a_unit=512), "a.yaml")
    assert message.startswith("a.yaml: machine.vgprs_a_unit must give each of the 4 SIMDs 1 to 4096 blocks of 256")
