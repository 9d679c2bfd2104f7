"""What probes miss against their synthesised area: the figures are the synthesiser's, the losses the probes'."""

from __future__ import annotations

import pytest

from workbench.circuits import circuit_of
from workbench.circuits.synthesis import synthesised
from workbench.explain.probe_success import Setting, lost_dispatches
from workbench.figures.probe_accuracy import Accuracy, draw_accuracy, probe_accuracy_against_area_data
from workbench.policies.probes import BitSerial, GroupedRun

SETTING = Setting(blocks=16, free=0.7)
"""Whose figures come with the package, so that nothing is synthesised here."""
DEMANDS = (1, 2, 3)


@pytest.fixture(scope="module")
def data() -> Accuracy:
    return probe_accuracy_against_area_data(SETTING, DEMANDS)


def test_points_are_those_of_the_synthesiser_and_of_the_probes(data):
    families = {family.name: family for family in data.families}
    assert [*families][:2] == ["grouped", "sampled"] and "prefix_suffix_tree" in families
    grouped, probe = families["grouped"], GroupedRun(groups=4, chain="doubling", decode="scan")
    place = grouped.probes.index("Z=4")
    circuit = circuit_of(probe, 16)
    counts, row = synthesised(circuit), {name: column[place] for name, column in grouped.columns.items()}
    assert (row["gates"], row["levels"], row["registers"]) == (counts.area_gates, counts.levels, counts.registers)
    assert (row["relative_area"], row["delay_fo4"]) == (counts.relative_area, row["cycles"] * counts.relative_delay)
    assert (row["gates_as_written"], row["levels_as_written"]) == (circuit.gates, circuit.levels)
    assert row["lost_dispatches"] == lost_dispatches(probe, DEMANDS, SETTING)
    for family in data.families:
        area = family.columns["relative_area"]
        assert (area[1:] >= area[:-1]).all()
    serial = synthesised(circuit_of(BitSerial(), 16))
    assert families["bit_serial"].columns["delay_fo4"].tolist() == [16 * serial.relative_delay]


def test_both_prices_stand_beside_each_other(data):
    columns = data.columns()
    assert len({len(column) for column in columns.values()}) == 1
    assert any(a != b for a, b in zip(columns["gates_as_written"], columns["gates"], strict=True))


@pytest.mark.slow
def test_the_ink_shows_the_data(data):
    above, below = draw_accuracy(data).axes
    for axes, times, column in ((above, 100, "lost_dispatches"), (below, 1, "delay_fo4")):
        lines = axes.get_lines()
        assert len(lines) == len(data.families)
        for line, family in zip(lines, data.families, strict=True):
            assert line.get_xdata().tolist() == family.columns["relative_area"].tolist()
            assert line.get_ydata() == pytest.approx(times * family.columns[column])
    assert above.get_title(loc="left") == "30 % of 16 blocks occupied, demands 1 to 3"
