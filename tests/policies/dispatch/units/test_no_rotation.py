"""No rotation against its contract and its slow twin (spec 3, section 7)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.dispatch_units import dealt
from workbench.policies.dispatch.units import NoRotation, UnitsContract


class TestNoRotation(UnitsContract):
    policy = NoRotation()


@given(st.integers(1, 600), st.integers(1, 64), st.integers(0, 1 << 40))
def test_always_begins_at_unit_0(waves, units, pointer):
    assert NoRotation().split(waves, units, pointer) == (dealt(waves, units, 0), pointer)
