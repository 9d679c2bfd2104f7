"""Generators of applications: what is drawn for each kernel, and by which names."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.machine import Board
from workbench.streams import Streams
from workbench.workloads.application import Launch
from workbench.workloads.generators import read_generator, regimes


def kernels(name, seed=1, **levers):
    made = read_generator(name, levers, wants="applications").applications(Board(), Streams(seed))
    return [step.kernel for one in made for step in one.steps(Launch)]


def test_demand_is_drawn_for_each_kernel_and_constant_by_default():
    assert {tuple(one.demand.items()) for one in kernels("stencil_steps")} == {(("vgpr", 4), ("shared", 8))}
    drawn = kernels("stencil_steps", vgpr_blocks={"uniform": [2, 16]}, shared_segments={"uniform": [4, 48]})
    demands = {(one.demand["vgpr"], one.demand["shared"]) for one in drawn}
    assert len(demands) > len(drawn) // 2
    assert all(2 <= vgpr <= 16 and 4 <= shared <= 48 for vgpr, shared in demands)


def test_a_kernel_draws_the_same_whatever_other_kernels_do():
    few, many = (kernels("stencil_steps", count=1, steps=steps, vgpr_blocks={"uniform": [2, 16]}) for steps in (2, 5))
    assert [one.demand for one in few] == [one.demand for one in many[:2]]


def test_nothing_is_executed_unless_it_is_said():
    assert {phase.instructions for one in kernels("small_kernels") for phase in one.phases} == {(0,) * 6}


def test_groups_execute_a_mix_for_the_mean_of_their_cycles():
    """One mix of 100 moves a thousand cycles and wave: waves x mean cycles / 10."""
    mix = {"instruction_mix": {"mixes": [{"move": 100}]}}
    (one,) = kernels("stencil_steps", count=1, steps=1, waves=3, instructions=mix)
    (phase,) = one.phases
    assert phase.instructions == (round(3 * round(float(phase.cycles.mean())) / 10), 0, 0, 0, 0, 0)
    several = kernels("stencil_steps", instructions="instruction_mix")
    assert len({np.argmax(phase.instructions) for one in several for phase in one.phases}) > 1


@pytest.mark.parametrize("independent", [False, True])
def test_waves_may_run_apart_where_it_is_said(independent):
    assert {one.independent for one in kernels("graph_steps", independent=independent)} == {independent}


def test_lanes_of_a_wave_ask_in_one_call():
    calls = {phase.mallocs for one in kernels("small_kernels", lanes=3, size=48) for phase in one.phases}
    assert calls == {(48, 48, 48)}


@pytest.mark.parametrize("name", regimes("applications"))
def test_a_family_has_some_hundreds_of_groups_and_two_applications_a_card(name):
    made = regimes("applications")[name].workload.applications(Board(), Streams(0))
    groups = sum(step.kernel.groups for one in made for step in one.steps(Launch))
    assert len(made) == 8 and 200 <= groups <= 2000
    executed = [phase.instructions for one in made for step in one.steps(Launch) for phase in step.kernel.phases]
    assert all(sum(one) for one in executed)
