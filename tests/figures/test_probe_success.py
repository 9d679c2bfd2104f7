"""The chance of refusal against the demand: what is drawn, and that the cliff of the groups is in it."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.explain.probe_success import Setting, failure, simulated
from workbench.figures._probe_success import draw_probe_success, probe_success_data
from workbench.policies.probes import ExactRun, GroupedRun


def line(data, name, panel=0):
    return next(one for one in data.lines if one.panel == panel and one.name == name)


def test_every_point_is_the_exact_chance():
    demands = range(1, 10)
    data = probe_success_data([GroupedRun(groups=32), "exact_run"], demands, free=[0.5, 0.4], machines=0)
    assert [(one.panel, one.name) for one in data.lines] == [
        (panel, name) for panel in (0, 1) for name in ("grouped_run(groups=32)", "exact_run")
    ]
    for one in data.lines:
        probe = ExactRun() if one.name == "exact_run" else GroupedRun(groups=32)
        setting = Setting(free=data.free[one.panel])
        assert one.demand.tolist() == [*demands]
        assert one.log10_chance.tolist() == [failure(probe, d, setting).machine.log10_failure for d in demands]
        assert np.isnan(one.drawn.mean).all()


def test_the_cliffs_stand_above_multiples_of_the_group():
    data = probe_success_data(demands=range(1, 17), free=[0.8], machines=0)
    steps = np.diff(line(data, "grouped_run(groups=32)").log10_chance)
    assert (np.flatnonzero(steps) + 2).tolist() == [5, 9, 13]
    assert (np.diff(line(data, "exact_run").log10_chance) > 0).all()


@pytest.mark.parametrize("level", ["unit", "module", "machine"])
def test_what_was_drawn_at_random_is_beside_it(level):
    data = probe_success_data([GroupedRun(groups=32)], [4, 5], free=[0.5], level=level, machines=20, seed=2)
    drawn = [getattr(one, level) for one in simulated(GroupedRun(groups=32), [4, 5], machines=20, seed=2)]
    result = data.lines[0].drawn
    assert list(zip(*result)) == [one[:3] for one in drawn]
    assert data.columns()["drawn_share"].tolist() == [one.mean for one in drawn]
    exactly = 10 ** data.lines[0].log10_chance
    assert ((result.low <= exactly) & (exactly <= result.high)).all()


def test_what_cannot_be_drawn():
    with pytest.raises(InputError, match=r"unknown level 'units'; there are machine, module, unit\. Did you mean unit"):
        probe_success_data(level="units")
    with pytest.raises(InputError, match=r"demand must be a whole number from 1 to 128\. Got 129"):
        probe_success_data(demands=[129])
    with pytest.raises(InputError, match="unknown probe policy 'grouped'"):
        probe_success_data(["grouped"])
    with pytest.raises(InputError, match="probe_success needs 40 panels"):
        probe_success_data(free=[0.5] * 40)


def test_the_ink_shows_the_data():
    data = probe_success_data(demands=[3, 4, 5], free=[0.5], machines=30)
    (axes,) = draw_probe_success(data).axes
    displayed = {one.get_label(): one.get_ydata() for one in axes.get_lines()}
    assert set(displayed) == {"exact run", "grouped run (groups=32)", "sampled run"}
    grouped = 10 ** line(data, "grouped_run(groups=32)").log10_chance
    assert displayed["grouped run (groups=32)"] == pytest.approx(grouped)
    assert axes.get_yscale() == "log"
    assert axes.get_title(loc="left") == "50 % of the blocks occupied"
    assert axes.get_ylabel().replace("\n", " ") == "chance that all 16 modules refuse"


def test_other_levels_say_who_refuses():
    for level, who in (("unit", "a unit refuses"), ("module", "a module refuses")):
        (axes,) = draw_probe_success(probe_success_data(demands=[4], free=[0.5], level=level, machines=0)).axes
        assert axes.get_ylabel().replace("\n", " ") == f"chance that {who}"
