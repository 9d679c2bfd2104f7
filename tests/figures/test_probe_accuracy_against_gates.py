"""What probes miss against their gates: every point from the probes themselves."""

from __future__ import annotations

import itertools

import pytest

from workbench.explain.probe_success import Setting, lost_dispatches, octave_lengths, under_report
from workbench.figures.probe_accuracy import draw_accuracy, probe_accuracy_against_gates_data
from workbench.policies.probes import GroupedRun, SampledRun, ShiftDoubling

DATA = probe_accuracy_against_gates_data()
MISSED = ("under_report_blocks", "lost_dispatches")
FAMILIES = {family.name: family for family in DATA.families}


def test_who_is_there():
    exact = ["exact_run", "shift_doubling", "prefix_suffix_tree", "bit_serial"]
    assert [*FAMILIES] == ["grouped", "sampled", *exact]
    assert FAMILIES["grouped"].probes == tuple(f"Z={z}" for z in (2, 4, 8, 16, 32, 64))
    assert FAMILIES["sampled"].probes == tuple(f"W={w}" for w in (8, 14, 24, 40, 64, 96))
    for name in exact:
        assert len(FAMILIES[name].probes) == 1
        assert [FAMILIES[name].columns[one].tolist() for one in MISSED] == [[0], [0]]
    assert FAMILIES["bit_serial"].columns["cycles"].tolist() == [128]


def test_points_are_those_of_the_probes():
    groups, samples = FAMILIES["grouped"], FAMILIES["sampled"]
    for family, place, probe in (
        (groups, 4, GroupedRun(groups=32, chain="doubling", decode="scan")),
        (samples, 1, SampledRun(run_lengths=octave_lengths(128, 2), decode="scan")),
        (FAMILIES["shift_doubling"], 0, ShiftDoubling()),
    ):
        cost = probe.cost(128)
        row = {name: column[place] for name, column in family.columns.items()}
        assert (row["gates"], row["cycles"], row["gate_levels"]) == (cost.gates, cost.cycles, cost.depth)
        assert row["under_report_blocks"] == under_report(probe, DATA.setting)
        assert row["lost_dispatches"] == lost_dispatches(probe, range(1, 17), DATA.setting)


def test_more_gates_never_miss_more_within_a_family():
    for family in DATA.families:
        gates, short, lost = (family.columns[name] for name in ("gates", *MISSED))
        assert (gates[1:] > gates[:-1]).all()
        assert (short[1:] <= short[:-1]).all()
        assert (lost[1:] <= lost[:-1] + 1e-12).all()


@pytest.mark.slow
def test_another_resource_has_its_own_groups():
    data = probe_accuracy_against_gates_data(Setting(blocks=12, free=0.6), [3])
    assert data.families[0].probes == ("Z=2", "Z=3", "Z=4", "Z=6")
    assert data.demands == (3,)
    assert draw_accuracy(data).axes[0].get_title(loc="left") == "40 % of 12 blocks occupied, demand 3"


@pytest.mark.parametrize("steps", [1, 2, 4, 8, 64])
@pytest.mark.parametrize("most", [2, 12, 128])
def test_octaves_keep_the_step_rule(most, steps):
    lengths = octave_lengths(most, steps)
    apart = [b - a for a, b in itertools.pairwise(lengths)]
    assert lengths[0] == 1 and max(lengths) <= most < max(lengths) + max(apart, default=1) * 2
    assert apart == sorted(apart) and all(step & (step - 1) == 0 for step in apart)
    assert SampledRun(run_lengths=lengths).lengths(most) == lengths


@pytest.mark.slow
def test_the_ink_shows_the_data():
    figure = draw_accuracy(DATA)
    above, below = figure.axes
    for axes, column, scale in ((above, MISSED[0], 1), (below, MISSED[1], 100)):
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
            assert displayed[name].get_xdata().tolist() == family.columns["gates"].tolist()
            assert displayed[name].get_ydata() == pytest.approx(scale * family.columns[column])
    assert {"Z=16", "Z=32", "W=14"} <= {text.get_text() for text in below.texts}
    assert above.get_title(loc="left") == "30 % of 128 blocks occupied, demands 1 to 16"
