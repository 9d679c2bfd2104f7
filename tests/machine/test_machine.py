"""A machine's levers, its room for workgroups, and every way in which a sweep file may describe it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import refusal
from tests.oracles.residency import resident
from workbench.errors import InputError
from workbench.machine import Machine, Resource, preset, read_machine
from workbench.machine.occupancy import occupancy_of

MACHINES = st.fixed_dictionaries(
    {
        "segments": st.integers(2, 300),
        "granule_bytes": st.sampled_from([128, 256, 512, 1280]),
        "reserved_bytes": st.sampled_from([0, 100]),
        "wave_size": st.sampled_from([32, 64]),
        "simds_a_unit": st.sampled_from([1, 2, 4]),
        "waves_a_unit": st.integers(1, 64),
        "workgroups_a_unit": st.integers(1, 40),
        "vgprs_a_unit": st.sampled_from([16_384, 65_536, 131_072]),
        "vgpr_granule": st.sampled_from([4, 8]),
        "barriers_a_module": st.sampled_from([0, 0, 1, 5, 16]),
        "threads_a_workgroup": st.sampled_from([256, 1024, 4096]),
        "vgprs_a_thread": st.sampled_from([255, 512]),
    }
)
KINDS = st.lists(
    st.tuples(st.integers(-1, 60_000), st.just(-1) | st.integers(1, 2048), st.integers(-1, 512)), min_size=1, max_size=6
)


@given(MACHINES, KINDS)
def test_residency_is_what_putting_workgroups_one_by_one_gives(levers, kinds):
    shared_bytes, threads, vgprs = (np.array(column) for column in zip(*kinds, strict=True))
    values = Machine(**levers).resident(shared_bytes, threads, vgprs)
    assert values.tolist() == [resident(levers, s, t, v) for s, t, v in kinds]


def test_a_demand_that_is_not_given_does_not_bind():
    machine = Machine(segments=128, waves_a_unit=40, workgroups_a_unit=16)
    assert machine.resident().tolist() == 16
    assert machine.resident(threads=np.array([1024, 64])).tolist() == [2, 16]
    assert machine.resident(np.array([40_000]), np.array([-1])).tolist() == [1]


def test_v6_a_group_of_one_wave_takes_no_barrier():
    machine = Machine(waves_a_unit=32, workgroups_a_unit=32, barriers_a_module=16)
    assert machine.resident(threads=np.array([64, 128, 192])).tolist() == [32, 16, 10]
    assert occupancy_of(machine, threads=128).binding == ("waves", "barriers")
    assert machine.resources()[-1].short() == "resource(label=barriers, level=module, contiguous=False, blocks=16)"
    without = machine.but(barriers_a_module=0)
    assert "barriers" not in {resource.label for resource in without.resources()}
    assert without.but(waves_a_unit=64).resident(threads=np.array([128])).tolist() == [32]


SUPPLIES = st.fixed_dictionaries(
    {
        "wave_size": st.sampled_from([32, 64]),
        "simds_a_unit": st.integers(1, 8),
        "waves_a_unit": st.integers(8, 64),
        "vgprs_a_unit": st.integers(8 * 64 * 8, 200_000),
        "vgpr_granule": st.sampled_from([4, 8]),
        "sgprs_a_unit": st.just(0) | st.integers(128, 8000),
        "sgpr_granule": st.sampled_from([2, 8, 16]),
    }
)


@given(SUPPLIES)
def test_blocks_are_what_handing_them_to_every_simd_in_turn_gives(levers):
    resources = {resource.label: resource for resource in Machine(**levers).resources()}
    sizes = {
        "vgpr": levers["wave_size"] * levers["vgpr_granule"],
        "sgpr": levers["sgpr_granule"],
        "waves": 1,
    }
    for label, lever in (("vgpr", "vgprs_a_unit"), ("sgpr", "sgprs_a_unit"), ("waves", "waves_a_unit")):
        left, blocks = levers[lever], 0
        while left >= sizes[label] * levers["simds_a_unit"]:
            left -= sizes[label] * levers["simds_a_unit"]
            blocks += 1
        assert (label in resources) == (blocks > 0)
        assert blocks == 0 or (resources[label].blocks, resources[label].level) == (blocks, "unit")
    assert [(r.label, r.contiguous) for r in resources.values()][-2:] == [("shared", True), ("workgroups", False)]


@pytest.mark.parametrize(
    ("levers", "says"),
    [
        (
            {"vgprs_a_unit": 1023},
            "vgprs_a_unit must give each of the 4 SIMDs 1 to 4096 blocks of 256 registers. Got 1023. Nearest: 1024.",
        ),
        (
            {"sgprs_a_unit": 63},
            "sgprs_a_unit must give each of the 4 SIMDs 1 to 4096 blocks of 16 registers. Got 63. Nearest: 64.",
        ),
        ({"waves_a_unit": 3}, "waves_a_unit must give each of the 4 SIMDs 1 to 4096 wave slots. Got 3. Nearest: 4."),
        (
            {"vgprs_a_unit": 1 << 24, "simds_a_unit": 1},
            "vgprs_a_unit must give each of the 1 SIMDs 1 to 4096 blocks of "
            "256 registers. Got 16777216. Nearest: 1048576.",
        ),
    ],
)
def test_supplies_that_cannot_be_cut_into_blocks_are_refused_with_the_nearest_that_can(levers, says):
    machine = Machine(**levers)
    assert refusal(machine.resources) == f"machine.{says}"
    nearest = int(says.split("Nearest: ")[1].rstrip("."))
    assert machine.but(**{next(iter(levers)): nearest}).resources()


def test_further_resources_come_last_and_have_labels_of_their_own():
    tickets = Resource(label="tickets", level="module", contiguous=False, blocks=16)
    assert Machine(more_resources=(tickets,)).resources()[-1] == tickets
    config = {
        label: refusal(Machine, more_resources=(tickets, tickets.but(label=label))) for label in ("tickets", "vgpr")
    }
    assert config == {
        label: f"machine.more_resources must have labels of their own. Got '{label}' again." for label in config
    }
    assert refusal(Machine, more_resources=(tickets.but(label="barriers"),)).endswith(
        "have labels of their own. Got 'barriers' again. Nearest: machine.barriers_a_module."
    )
    for label in ("a b", "a,b", "3d", "größe"):
        assert refusal(tickets.but, label=label).startswith(
            "resource.label must be a word of letters, digits and _. Got"
        )
    assert refusal(read_machine, {"more_resources": [{"label": "a b"}]}, "machine", "a.yaml").startswith(
        "a.yaml: machine.more_resources[0].label must be a word"
    )


def test_a_preset_is_named_that_holds_a_workgroups_waves_and_registers_too():
    assert Machine.preset_holding(0, "AMD Instinct MI250X", threads=1024, vgprs=128) == "mi250x"
    assert Machine.preset_holding(0, "Radeon Instinct MI25", threads=1024, vgprs=128) == "mi250x"
    assert Machine.preset_holding(0, threads=1024, vgprs=129) is None


def test_granules_that_are_no_power_of_two_and_nvidias_reserve():
    assert preset("mi355x").machine().request_segments(156_672) == 123
    h100 = preset("h100").machine()
    assert (h100.segments, h100.request_segments(0), h100.request_segments(231_424)) == (1824, 8, 1816)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("mi355", "drain.yaml: machine: there is no preset 'mi355'"),
        ({"preset": "mi355"}, "drain.yaml: machine.preset: there is no preset 'mi355'"),
        ({"preset": ["mi355x"]}, "drain.yaml: machine.preset: there is no preset ['mi355x']"),
        ({"segment": 64}, "drain.yaml: machine: unknown key 'segment'"),
        ({"preset": "h100", "segmnts": 64}, "drain.yaml: machine: unknown key 'segmnts'"),
        ({"segments": 1}, "drain.yaml: machine.segments must be a whole number from 2 to 4096. Got 1. Nearest: 2."),
        ({"preset": "h100", "segments": 4097}, "drain.yaml: machine.segments must be a whole number from 2 to 4096."),
        (
            {"segments": 2, "reserved_bytes": 2048},
            "drain.yaml: machine.reserved_bytes must leave room",
        ),
        (7, "drain.yaml: machine must be a preset's name or a mapping of levers. Got 7."),
        (None, "drain.yaml: machine must be a preset's name or a mapping of levers. Got None."),
    ],
)
def test_a_wrong_machine_is_refused_with_its_path(given, says):
    with pytest.raises(InputError) as refusal:
        read_machine(given, "machine", "drain.yaml")
    assert str(refusal.value).startswith(says)


def test_a_preset_with_levers_of_its_own():
    machine = read_machine({"preset": "mi355x", "segments": 64, "clock_mhz": 1000})
    assert machine == preset("mi355x").machine().but(segments=64, clock_mhz=1000)
    assert read_machine(machine) is machine
    assert read_machine(machine.plain()) == machine
    assert read_machine({}) == Machine() == preset("patent").machine()


def test_the_schema_takes_what_a_sweep_file_may_say():
    named, levers = Machine.schema()["anyOf"]
    assert "mi355x" in named["enum"]
    assert levers["properties"]["preset"] == named
    assert levers["properties"]["segments"]["maximum"] == 4096
    assert levers["additionalProperties"] is False
    assert "required" not in levers


def test_dies_are_the_units_of_the_machine():
    assert Machine(compute_units=6, dies=(4, 2)).dies == (4, 2)
    expected = "machine.dies must be the units of 1 to 16 dies, 6 in all (compute_units)"
    assert refusal(Machine, compute_units=6, dies=(4, 3)) == f"{expected}. Got [4, 3]."
    assert "of 1 to 16 dies, 17 in all" in refusal(Machine, compute_units=17, dies=(1,) * 17)
    assert Machine(compute_units=16, dies=(1,) * 16).dies == (1,) * 16


def test_a_preset_with_other_units_has_one_die():
    whole = Machine.read("mi300x")
    assert whole.dies == (38,) * 8
    assert Machine.read({"preset": "mi300x", "compute_units": 8}).dies == whole.but(compute_units=8).dies == ()
    assert Machine.read({"preset": "mi300x", "compute_units": 8, "dies": [4, 4]}).dies == (4, 4)
    assert whole.but(clock_mhz=1000).dies == whole.dies
    assert whole.but(compute_units=76, dies=(38, 38)).dies == (38, 38)
