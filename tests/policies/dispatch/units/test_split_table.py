"""The split table: rows, look-up = formula, refusals (spec 3, R60-R61)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.dispatch_units import dealt
from workbench.errors import InputError
from workbench.policies.dispatch.units import NoRotation, RotatedSplit, SplitTable


def test_the_table_of_section_4():
    expected = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    expected += [[2, 1, 1, 1], [2, 2, 1, 1], [2, 2, 2, 1], [2, 2, 2, 2]]
    assert SplitTable(units=4, waves_a_unit=2).rows().tolist() == expected


@given(st.integers(1, 64), st.integers(1, 20), st.data())
def test_every_row_is_dealt_out(units, waves_a_unit, data):
    table = SplitTable(units=units, waves_a_unit=waves_a_unit)
    waves = data.draw(st.integers(1, table.most))
    assert list(table.row(waves)) == dealt(waves, units, 0)


@given(st.integers(1, 64), st.integers(1, 20), st.data())
def test_looking_up_and_rotating_is_what_the_policies_compute(units, waves_a_unit, data):
    table = SplitTable(units=units, waves_a_unit=waves_a_unit)
    waves, at = data.draw(st.integers(1, table.most)), data.draw(st.integers(0, units - 1))
    row = table.row(waves)
    assert NoRotation().split(waves, units)[0] == list(row)
    rotated = [0] * units
    for entry in range(units):
        rotated[(entry + at) % units] = row[entry]  # R62
    assert RotatedSplit(pointer="head").split(waves, units, at)[0] == rotated


@pytest.mark.parametrize(("waves", "nearest"), [(0, 1), (-3, 1), (9, 8)])
def test_rows_that_there_are_not(waves, nearest):
    with pytest.raises(InputError, match=rf"waves must be from 1 to 8.*Got {waves}\. Nearest: {nearest}\."):
        SplitTable(units=4, waves_a_unit=2).row(waves)
