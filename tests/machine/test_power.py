"""Power: sums of energies, and the conversion to watts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.machine.power import ClassPower, NoPower, Power

ENERGIES = st.lists(st.floats(0, 1e5), min_size=6, max_size=6)
NAMES = ("move", "load", "store", "matrix", "compare", "jump")


def power_of(energies, idle=0.0):
    return ClassPower(idle_watts=idle, **{f"instr_{n}_pj": e for n, e in zip(NAMES, energies, strict=True)})


@given(ENERGIES, st.lists(st.floats(0, 10), min_size=6, max_size=6), st.floats(0, 10), st.floats(100, 3000))
def test_watts_are_joules_a_second(energies, rates, idle, clock):
    joules = sum(e * 1e-12 * r for e, r in zip(energies, rates, strict=True))
    expected = idle + joules / (1 / (clock * 1e6))
    assert power_of(energies, idle).watts(np.array(rates), clock) == pytest.approx(expected, rel=1e-9)


def test_every_module_by_itself():
    rates = np.array([[1.0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 2.0], [0, 0, 0, 0, 0, 0]])
    assert power_of([10, 0, 0, 0, 0, 3], idle=1).watts(rates, 1000.0).tolist() == [1.01, 1.006, 1.0]


def test_classes_in_their_order():
    assert power_of([1, 2, 3, 4, 5, 6]).energies_pj().tolist() == [1, 2, 3, 4, 5, 6]
    assert [lv for lv in ClassPower.levers if lv.endswith("_pj")] == [f"instr_{name}_pj" for name in NAMES]


def test_no_power_is_none():
    assert (NoPower().idle(), NoPower().energies_pj().tolist(), NoPower().simulated) == (0.0, [0.0] * 6, False)


def test_defaults_follow_from_the_cited_figures():
    register, add, multiply_add, access, lanes = 2, 0.4, 40, 50, 64
    memory = lanes * 4 * 8 // 256 * access
    expected = [
        lanes * 2 * register + access,
        memory + lanes * 2 * register + access,
        memory + lanes * 2 * register + access,
        16**3 * multiply_add / 16 + access,
        lanes * (3 * register + add) + access,
        access,
    ]
    assert ClassPower().energies_pj() == pytest.approx(expected, abs=0.5)


def test_read_and_refused():
    assert Power.read({"class_power": {"idle_watts": 2}}) == ClassPower(idle_watts=2)
    assert Power.read("no_power") == NoPower()
    with pytest.raises(InputError, match=r"power\.class_power\.instr_move_pj must be a number from 0 .* Nearest: 0"):
        Power.read({"class_power": {"instr_move_pj": -1}}, "power")
