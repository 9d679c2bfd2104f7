"""What probes miss against their synthesised area: the figures are the synthesiser's, the losses the probes'."""

from __future__ import annotations

import pytest

from workbench.circuits import circuit_of
from workbench.circuits.synthesis import synthesised
from workbench.figures.probes import (
    AccuracyAgainstArea,
    draw_probe_accuracy_against_area,
    probe_accuracy_against_area_data,
)
from workbench.policies.probes import GroupedRun
from workbench.studies.probe_success import Setting, lost_dispatches

SETTING = Setting(blocks=8, free=0.7)
DEMANDS = (1, 2, 3)


@pytest.fixture(scope="module")
def data() -> AccuracyAgainstArea:
    return probe_accuracy_against_area_data(SETTING, DEMANDS)


def test_points_are_those_of_the_synthesiser_and_of_the_probes(data):
    families = {family.name: family for family in data.families}
    assert [*families][:2] == ["grouped", "sampled"] and "prefix_suffix_tree" in families
    grouped, probe = families["grouped"], GroupedRun(groups=4, chain="doubling", decode="scan")
    place = grouped.probes.index("Z=4")
    circuit = circuit_of(probe, 8)
    assert grouped.counts[place] == synthesised(circuit)
    assert (grouped.gates_as_written[place], grouped.levels_as_written[place]) == (circuit.gates, circuit.levels)
    assert grouped.lost[place] == lost_dispatches(probe, DEMANDS, SETTING)
    for family in data.families:
        assert (family.area()[1:] >= family.area()[:-1]).all()
    assert families["bit_serial"].delay()[0] == 8 * families["bit_serial"].counts[0].relative_delay


def test_both_prices_stand_beside_each_other(data):
    columns = data.columns()
    assert len({len(column) for column in columns.values()}) == 1
    assert any(a != b for a, b in zip(columns["gates_as_written"], columns["gates"], strict=True))


def test_the_ink_shows_the_data(data):
    above, below = draw_probe_accuracy_against_area(data).axes
    for axes, of in ((above, lambda family: 100 * family.lost), (below, lambda family: family.delay())):
        lines = axes.get_lines()
        assert len(lines) == len(data.families)
        for line, family in zip(lines, data.families, strict=True):
            assert line.get_xdata().tolist() == family.area().tolist()
            assert line.get_ydata() == pytest.approx(of(family))
    assert above.get_title(loc="left") == "30 % of 8 blocks occupied, demands 1 to 3"
