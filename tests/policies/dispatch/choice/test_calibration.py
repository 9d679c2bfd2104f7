"""Calibration against meters that are made up, the vector V36, and a power model (spec 3, R73, R79, E21)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.machine import ClassPower, NoPower
from workbench.policies.dispatch.choice import InstructionCalibrator, LeastRecentEnergy, ResourceCalibrator
from workbench.policies.dispatch.choice.weighted_choice import metered

POWERS = st.lists(st.floats(0.5, 1000), min_size=6, max_size=6)
NAMES = ("vgpr", "sgpr", "waves")


def meter(of_class=(0,) * 6, a_block=(0,) * 3, idle=10.0, seen=None):
    """Watts of a module that draws so much for an instruction a cycle, and for a block that is held."""

    def measure(trial):
        if seen is not None:
            seen.append(trial)
        executed = sum(w * n / trial.cycles for w, n in zip(of_class, trial.instructions, strict=True))
        return (
            idle + executed + sum(w * n * trial.tasks for w, n in zip(a_block, trial.demand or (0,) * 3, strict=True))
        )

    return measure


def test_v36_instructions():
    measure = meter(of_class=(2, 8, 32, 2, 8, 32))
    assert InstructionCalibrator().calibrate(measure).weights == (1, 4, 16, 1, 4, 16)
    assert InstructionCalibrator(subtract_idle=False).calibrate(measure).weights == (1, 1.5, 3.5, 1, 1.5, 3.5)


def test_v36_resources():
    literal = ResourceCalibrator(tasks=1, subtract_base=False)
    measure = meter(a_block=(2, 8, 32))
    assert literal.calibrate(measure, NAMES).weights == (1, 4, 16)
    assert literal.but(subtract_idle=False).calibrate(measure, NAMES).weights == (1, 1.5, 3.5)
    assert ResourceCalibrator().calibrate(measure, NAMES).weights == (1, 4, 16)


def test_a_trial_runs_one_class_na_times_in_one_module():
    seen = []
    calibration = InstructionCalibrator(nx=64).calibrate(meter((1,) * 6, seen=seen), modules=16, seed=3)
    assert [trial.instructions for trial in seen] == [
        (0,) * 6,
        *(tuple(64 * (k == s) for k in range(6)) for s in range(6)),
    ]
    assert {(trial.module, trial.cycles, trial.tasks) for trial in seen} == {(calibration.module, 64, 0)}


def test_tasks_need_the_base_and_one_resource():
    seen = []
    ResourceCalibrator(tasks=5).calibrate(meter(a_block=(1, 1, 1), seen=seen), NAMES)
    assert [(trial.tasks, trial.demand) for trial in seen[1:]] == [(5, (1, 0, 1)), (5, (0, 1, 1)), (5, (0, 0, 1))]
    seen.clear()
    ResourceCalibrator(tasks=5, subtract_base=False).calibrate(meter(a_block=(1, 1, 1), seen=seen), NAMES)
    assert [trial.demand for trial in seen[1:]] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


@given(POWERS, st.floats(0, 500))
def test_idle_power_does_not_matter_once_it_is_subtracted(powers, idle):
    weights = InstructionCalibrator().calibrate(meter(powers, idle=idle)).weights
    assert weights == pytest.approx([power / min(powers) for power in powers], rel=1e-6)


def test_a_power_model_is_measured_like_a_module():
    power = ClassPower(idle_watts=7, instr_move_pj=100, instr_matrix_pj=1600, instr_load_pj=0)
    calibration = InstructionCalibrator().calibrate(metered(power, clock_mhz=2000))
    energies = power.energies_pj()
    assert calibration.idle_watts == 7
    assert calibration.watts == pytest.approx(7 + energies * 2e-3)
    assert calibration.weights == pytest.approx(energies / 50, rel=1e-9)  # a jump is the least that is not 0
    assert LeastRecentEnergy(weights=calibration.weights).choose([(17, 0, 0, 0, 0, 0), (0, 9, 0, 1, 0, 0)]) == 1


def test_every_module_may_be_drawn_and_a_seed_draws_the_same():
    drawn = [InstructionCalibrator().calibrate(meter((1,) * 6), modules=4, seed=seed).module for seed in range(64)]
    assert set(drawn) == {0, 1, 2, 3}
    assert drawn[5] == InstructionCalibrator().calibrate(meter((1,) * 6), modules=4, seed=5).module


def test_what_cannot_be_weighed_is_refused():
    with pytest.raises(InputError, match=r"calibration: no trial draws more than the idle module"):
        InstructionCalibrator().calibrate(metered(NoPower()))
    with pytest.raises(InputError, match=r"calibration: load draws -3 W less"):
        InstructionCalibrator().calibrate(meter((1, -3, 1, 1, 1, 1)))
    with pytest.raises(InputError, match=r"unknown resource 'slots'; there are sgpr, vgpr, waves\."):
        ResourceCalibrator(base="slots").calibrate(meter(), NAMES)
