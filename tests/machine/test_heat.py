"""Heat against what physics says of it, and against the same network solved another way."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import heat as slow
from workbench.errors import InputError
from workbench.machine.power import Heat, NoHeat, RcHeat, module_grid
from workbench.units import seconds

HEATS = st.builds(
    RcHeat,
    resistance_k_per_w=st.floats(0.1, 100),
    capacity_j_per_k=st.floats(1e-4, 10),
    coupling_w_per_k=st.just(0.0) | st.floats(1e-3, 10),
    step_cycles=st.sampled_from([1, 1024, 10**6, 10**9]),
)
MODULES = st.sampled_from([1, 2, 3, 4, 6, 7, 9, 12, 16, 20])
CLOCK = 1700.0


def network(heat, modules):
    return slow.conductances(*module_grid(modules), heat.resistance_k_per_w, heat.coupling_w_per_k)


@given(HEATS, MODULES)
def test_a_step_is_the_exponential_of_the_network(heat, modules):
    keeps, gains = heat.matrices(modules, CLOCK)
    expected = slow.step(network(heat, modules), heat.capacity_j_per_k, seconds(heat.step_cycles, CLOCK))
    assert np.allclose(keeps, expected[0], rtol=1e-9, atol=1e-12)
    assert np.allclose(gains, expected[1], rtol=1e-9, atol=1e-12 * gains.max())


def test_a_single_module_warms_and_cools_exponentially():
    heat = RcHeat(resistance_k_per_w=3, capacity_j_per_k=0.01, step_cycles=10**6)
    keeps, gains = heat.matrices(1, 1000.0)
    at = 1e-3 * np.arange(1, 101)
    warm = np.array([0.0])
    for moment in at:
        warm = keeps @ warm + gains @ np.array([5.0])
        assert warm[0] == pytest.approx(15 * (1 - np.exp(-moment / 0.03)), rel=1e-12)
    cool = warm
    for moment in at:
        cool = keeps @ cool
        assert cool[0] == pytest.approx(warm[0] * np.exp(-moment / 0.03), rel=1e-12)


@given(HEATS, MODULES, st.data())
def test_it_settles_where_what_comes_in_goes_out(heat, modules, data):
    keeps, gains = heat.matrices(modules, CLOCK)
    power = np.array(data.draw(st.lists(st.floats(0, 100), min_size=modules, max_size=modules)))
    settled = np.linalg.solve(network(heat, modules), power)
    assert np.allclose(keeps @ settled + gains @ power, settled, rtol=1e-9, atol=1e-9)


@given(HEATS, MODULES, st.data())
def test_energy_is_conserved(heat, modules, data):
    """Neighbours only exchange heat: the sum over the modules is that of one node whose loss is to the ambient."""
    keeps, gains = heat.matrices(modules, CLOCK)
    powers = np.array(data.draw(st.lists(st.lists(st.floats(0, 100), min_size=modules, max_size=modules), max_size=6)))
    tau = heat.resistance_k_per_w * heat.capacity_j_per_k
    decay = seconds(heat.step_cycles, CLOCK) / tau
    warm, total = np.zeros(modules), 0.0
    for power in powers:
        warm = keeps @ warm + gains @ power
        total = np.exp(-decay) * total - heat.resistance_k_per_w * np.expm1(-decay) * power.sum()
    assert warm.sum() == pytest.approx(total, rel=1e-9, abs=1e-12)


def test_two_half_steps_are_a_step():
    half, whole = RcHeat(step_cycles=10**6), RcHeat(step_cycles=2 * 10**6)
    keeps, gains = half.matrices(12, CLOCK)
    assert np.allclose(whole.matrices(12, CLOCK)[0], keeps @ keeps, rtol=1e-12)
    assert np.allclose(whole.matrices(12, CLOCK)[1], keeps @ gains + gains, rtol=1e-12)


def test_small_steps_of_the_equations_agree():
    heat = RcHeat(coupling_w_per_k=0.3, step_cycles=10**7)
    keeps, gains = heat.matrices(6, 1000.0)
    before, power = np.array([1.0, 0, 4, 0, 2, 9]), np.array([3.0, 0, 1, 0, 0, 2])
    after = slow.integrate(network(heat, 6), heat.capacity_j_per_k, before, power, 1e-2)
    assert np.allclose(keeps @ before + gains @ power, after, rtol=1e-6)


def test_no_power_no_heat_and_never_below_the_ambient():
    keeps, gains = RcHeat().matrices(304, CLOCK)
    assert (keeps >= 0).all()
    assert (gains >= 0).all()
    assert (keeps @ np.zeros(304) + gains @ np.zeros(304) == 0).all()


def test_symmetric_power_gives_symmetric_temperatures():
    gains = RcHeat(coupling_w_per_k=1).matrices(16, CLOCK)[1]
    warm = gains @ np.eye(16)[5]
    assert np.allclose(warm.reshape(4, 4), warm.reshape(4, 4).T, rtol=1e-12)
    assert warm[5] > warm[6] > warm[7]


@given(st.integers(1, 600))
def test_the_grid_holds_every_module_and_is_the_squarest(modules):
    rows, columns = module_grid(modules)
    assert rows * columns == modules
    assert rows <= columns
    assert not [r for r in range(rows + 1, columns) if modules % r == 0 and r <= modules // r]


_DIGEST = """
import hashlib
from workbench.machine import RcHeat
print(hashlib.sha256(b"".join(m.tobytes() for m in RcHeat().matrices(512, 1700.0))).hexdigest())
"""


@pytest.mark.slow
def test_the_bits_do_not_depend_on_threads():
    digests = set()
    for threads in ("1", "2"):
        env = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        done = subprocess.run([sys.executable, "-c", _DIGEST], env=env, capture_output=True, text=True, check=True)
        digests.add(done.stdout)
    assert len(digests) == 1


def test_read_and_refused():
    assert Heat.read({"rc_heat": {"ambient_c": 35}}) == RcHeat(ambient_c=35)
    assert Heat.read("no_heat") == NoHeat()
    assert (NoHeat().simulated, RcHeat().simulated, RcHeat().ambient(), RcHeat().cycles()) == (False, True, 45.0, 1024)
    with pytest.raises(InputError, match=r"a\.yaml: heat\.rc_heat\.step_cycles must be a whole number from 1"):
        Heat.read({"rc_heat": {"step_cycles": 0}}, "heat", "a.yaml")
    with pytest.raises(InputError, match=r"unknown thermal model 'rcheat'; .* Did you mean rc_heat\?"):
        Heat.read("rcheat")
