"""What probes miss against their gates: every point from the probes themselves."""

from __future__ import annotations

import itertools

import pytest

from workbench.figures.probes import draw_probe_accuracy_against_gates, probe_accuracy_against_gates_data
from workbench.policies.probes import GroupedRun, SampledRun, ShiftDoubling
from workbench.studies.probe_success import Setting, lost_dispatches, octave_lengths, under_report

DATA = probe_accuracy_against_gates_data()
FAMILIES = {family.name: family for family in DATA.families}


def test_who_is_there():
    exact = ["exact_run", "shift_doubling", "prefix_suffix_tree", "bit_serial"]
    assert [*FAMILIES] == ["grouped", "sampled", *exact]
    assert FAMILIES["grouped"].probes == tuple(f"Z={z}" for z in (2, 4, 8, 16, 32, 64))
    assert FAMILIES["sampled"].probes == tuple(f"W={w}" for w in (8, 14, 24, 40, 64, 96))
    for name in exact:
        assert len(FAMILIES[name].probes) == 1
        assert (FAMILIES[name].under_report.tolist(), FAMILIES[name].lost.tolist()) == ([0], [0])
    assert FAMILIES["bit_serial"].cycles.tolist() == [128]


def test_points_are_those_of_the_probes():
    groups, samples = FAMILIES["grouped"], FAMILIES["sampled"]
    for family, place, probe in (
        (groups, 4, GroupedRun(groups=32, chain="doubling", decode="scan")),
        (samples, 1, SampledRun(run_lengths=octave_lengths(128, 2), decode="scan")),
        (FAMILIES["shift_doubling"], 0, ShiftDoubling()),
    ):
        cost = probe.cost(128)
        assert (family.gates[place], family.cycles[place], family.depth[place]) == (cost.gates, cost.cycles, cost.depth)
        assert family.under_report[place] == under_report(probe, DATA.setting)
        assert family.lost[place] == lost_dispatches(probe, range(1, 17), DATA.setting)


def test_more_gates_never_miss_more_within_a_family():
    for family in DATA.families:
        assert (family.gates[1:] > family.gates[:-1]).all()
        assert (family.under_report[1:] <= family.under_report[:-1]).all()
        assert (family.lost[1:] <= family.lost[:-1] + 1e-12).all()


def test_another_resource_has_its_own_groups():
    data = probe_accuracy_against_gates_data(Setting(blocks=12, free=0.6), [3])
    assert data.families[0].probes == ("Z=2", "Z=3", "Z=4", "Z=6")
    assert data.demands == (3,)
    assert (
        draw_probe_accuracy_against_gates(data).axes[0].get_title(loc="left") == "40 % of 12 blocks occupied, demand 3"
    )


@pytest.mark.parametrize("steps", [1, 2, 4, 8, 64])
@pytest.mark.parametrize("most", [2, 12, 128])
def test_octaves_keep_the_step_rule(most, steps):
    lengths = octave_lengths(most, steps)
    apart = [b - a for a, b in itertools.pairwise(lengths)]
    assert lengths[0] == 1 and max(lengths) <= most < max(lengths) + max(apart, default=1) * 2
    assert apart == sorted(apart) and all(step & (step - 1) == 0 for step in apart)
    assert SampledRun(run_lengths=lengths).lengths(most) == lengths


def test_the_ink_shows_the_data():
    figure = draw_probe_accuracy_against_gates(DATA)
    above, below = figure.axes
    for axes, column, scale in ((above, "under_report", 1), (below, "lost", 100)):
        displayed = {one.get_label(): one for one in axes.get_lines()}
        assert [*displayed] == [
            "grouped",
            "sampled",
            "exact run",
            "shift doubling",
            "prefix suffix tree",
            "bit serial (128 cycles)",
        ]
        for name, family in zip(displayed, DATA.families):
            assert displayed[name].get_xdata().tolist() == family.gates.tolist()
            assert displayed[name].get_ydata() == pytest.approx(scale * getattr(family, column))
    assert {"Z=16", "Z=32", "W=14"} <= {text.get_text() for text in below.texts}
    assert above.get_title(loc="left") == "30 % of 128 blocks occupied, demands 1 to 16"
