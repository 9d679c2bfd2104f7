"""The figures of a dispatcher: their data against slow twins, their ink, what they refuse."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import workbench as wb
from tests.oracles import dispatch_measures as slow
from tests.toy_dispatch import toy
from tests.toy_engine import SWEEP, toy_engine
from workbench.errors import InputError
from workbench.figures import figure
from workbench.figures.estimates import mean_curve
from workbench.figures.marks import fills
from workbench.figures.run_curves import places
from workbench.metrics.dispatch_modules import spread_after
from workbench.palette import LIGHT, contrast
from workbench.runs.run import run_id

TWO = {"policy": {"placement": {"vary": ["first_fit", "best_fit"]}}}


@pytest.fixture(autouse=True, scope="module")
def _toy():
    with toy_engine():
        yield


def results(**changed):
    return wb.run({**SWEEP, "measures": ["makespan_cycles"], **changed}, workers=0)


@pytest.fixture(scope="module")
def one():
    """One run of a policy."""
    return results(seeds=1)


@pytest.fixture(scope="module")
def two():
    """Three runs of two policies each."""
    return results(**TWO)


def records(result, point=0):
    return result.records(result.points[point])


@pytest.fixture
def without(monkeypatch):
    """The toy without power, or without heat."""

    def changed(**left_out):
        monkeypatch.setattr("tests.toy_engine.toy", lambda *a, **k: toy(*a, **{**k, **left_out}))
        return results()

    return changed


def test_timeline_data_say_who_runs_where_at_every_cycle():
    result = results(seeds=2, options={"count": 60}, **TWO)
    data = figure("dispatch_timeline").choose(result, by="priority", cycles=(5, 90), modules=(1, 3), seed=1)
    assert (data.seed, data.by, data.modules, data.cycles) == (1, "priority", (1, 3), (5, 90))
    record = result.record(run_id(result.points[0].id, 1))
    panel = data.panels[0]
    assert (panel.units, panel.slots) == (4, 4)
    assert (panel.kind != record.priority[panel.group]).any()  # of sub-groups
    held = {}
    for group, module, unit, slot, waves, begin, end, kind in zip(
        panel.group, panel.module, panel.unit, panel.slot, panel.waves, panel.begin, panel.end, panel.kind, strict=True
    ):
        for cycle in range(begin, end):
            for place in range(slot, slot + waves):
                assert 0 <= place < 4 and (cycle, module, unit, place) not in held
                held[cycle, module, unit, place] = group, kind
    for cycle in range(5, 90):
        drawn = Counter((m, u, *what) for (c, m, u, _), what in held.items() if c == cycle)
        expected: Counter[tuple[int, ...]] = Counter()
        for d in slow.dispatches(record):
            if cycle in d["cycles"] and d["module"] in (1, 2):
                expected.update({(d["module"], u, d["group"], d["level"]): n for u, n in enumerate(d["sent"])})
        assert drawn == +expected


def test_neighbouring_slots_of_a_dispatch_are_one_rectangle(one):
    panel = figure("dispatch_timeline").data(one).panels[0]
    which = zip(panel.group, panel.module, panel.unit, panel.begin, panel.slot, panel.slot + panel.waves, strict=True)
    ends = {(*key, int(above)) for *key, _, above in which}
    starts = zip(panel.group, panel.module, panel.unit, panel.begin, panel.slot, strict=True)
    assert not ends & {(*key, int(slot)) for *key, slot in starts}
    assert panel.waves.max() > 1


def test_timeline_by_default_shows_four_modules_until_150_dispatches(one, monkeypatch):
    result = one
    data = figure("dispatch_timeline").data(result)
    (record,) = records(result)
    assert data.by == "channel" and data.modules == (0, 3) and data.cycles == (0, slow.makespan(record))
    assert data.kinds() == [0, 1, 2]
    monkeypatch.setattr("workbench.figures.dispatch_timeline.DISPATCHES", 10)
    assert figure("dispatch_timeline").data(result).cycles == (0, int(record.cycle[10]))


def test_timeline_ink_and_columns():
    result = results(seeds=1, **TWO)
    recipe = figure("dispatch_timeline")
    data = recipe.data(result)
    drawn = recipe.draw(data)
    assert [axes.get_title(loc="left") for axes in drawn.axes] == ["first fit", "best fit"]
    assert [label.get_text() for label in drawn.axes[0].get_yticklabels()] == ["0", "1", "2"]
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["channel 0", "channel 1", "channel 2", "idle"]
    assert len(drawn.axes[0].collections[0].get_paths()) == len(data.panels[0].kind)
    columns = data.columns()
    assert len({len(column) for column in columns.values()}) == 1
    assert columns["channel"].tolist() == [*data.panels[0].kind, *data.panels[1].kind]


def test_what_the_timeline_refuses(one, monkeypatch):
    result = one
    for choices, sentence in [
        ({"by": "unit"}, "unknown colouring of dispatch_timeline 'unit'; there are channel, priority"),
        ({"cycles": (4, 4)}, r"dispatch_timeline shows cycles=\(from, to\) with 0 <= from < to\. Got \(4, 4\)"),
        ({"modules": 2}, r"dispatch_timeline shows modules=\(from, to\) with 0 <= from < to\. Got 2"),
        ({"modules": (3, 5)}, r"there is no module 3; the last one is 2\."),
        ({"seed": 7}, r"a seed that every point finished\. Got 7\. Nearest: 0"),
    ]:
        with pytest.raises(InputError, match=sentence):
            figure("dispatch_timeline").choose(result, **choices)
    monkeypatch.setattr("workbench.figures.dispatch_timeline.MOST_PIECES", 5)
    with pytest.raises(InputError, match=r"draws 5 rectangles a panel; first_fit has \d+ from cycle 0 to 50\. Choose"):
        figure("dispatch_timeline").choose(result, cycles=(0, 50))


def test_many_kinds_have_a_scale_of_colours_and_a_short_legend():
    assert fills(4) == LIGHT.kinds[:4] and len(set(fills(30))) == 30
    assert all(contrast(color, LIGHT.paper) >= 3 for color in fills(30))
    result = results(seeds=1)
    recipe = figure("dispatch_timeline")
    data = recipe.data(result)
    many = data._replace(panels=(data.panels[0]._replace(kind=np.arange(len(data.panels[0].kind)) % 30),))
    messages = [text.get_text() for text in recipe.draw(many).legends[0].get_texts()]
    assert messages == ["channel 0", "channel 15", "channel 29", "idle"]


def test_waits_against_a_varied_number_have_a_line_a_priority():
    result = results(options={"count": {"vary": [10, 20, 40]}}, **TWO)
    data = figure("waits_by_priority").data(result)
    assert data.titles == ("first_fit", "best_fit")
    assert [(line.panel, line.name) for line in data.lines] == [
        (panel, f"priority {level}" + " (most urgent)" * (level == 1)) for panel in (0, 1) for level in (1, 2, 3)
    ]
    line = data.lines[1]
    assert line.x.tolist() == [10, 20, 40] and line.n.tolist() == [3, 3, 3]
    point = next(p for p in result.points if p.coordinates["options.count"] == 20)
    waits = [slow.wait_measures(record)["wait_p99_cycles[2]"] for record in result.records(point)]
    assert line.means.mean[1] == pytest.approx(np.mean(waits))
    drawn = figure("waits_by_priority").draw(data)
    assert drawn.axes[0].get_ylabel().startswith("p99 wait")
    assert drawn.axes[-1].get_xlabel() == "count (groups)"


def test_waits_without_a_varied_number_have_a_line_a_policy(two):
    result = two
    data = figure("waits_by_priority").choose(result, measure="wait_mean_cycles")
    assert [line.name for line in data.lines] == ["first_fit", "best_fit"]
    assert data.lines[0].x.tolist() == [1, 2, 3] and data.x_label == "priority (1 = most urgent)"
    waits = [slow.wait_measures(record)["wait_mean_cycles[3]"] for record in records(result)]
    assert data.lines[0].means.mean[2] == pytest.approx(np.mean(waits))
    assert data.columns()["priority"].tolist() == [1, 2, 3] * 2
    drawn = figure("waits_by_priority").draw(data)
    assert drawn.axes[0].get_xticks().tolist() == [1, 2, 3]


def test_waits_far_apart_are_shown_on_a_logarithmic_axis():
    data = figure("waits_by_priority").data(results())
    far = data.lines[0]._replace(means=data.lines[0].means._replace(mean=np.array([1.0, 10.0, 1000.0])))
    near = data.lines[0]._replace(means=data.lines[0].means._replace(mean=np.array([10.0, 20.0, 200.0])))
    scales = [figure("waits_by_priority").draw(data._replace(lines=(one,))).axes[0].get_yscale() for one in (far, near)]
    assert scales == ["log", "linear"]


def test_what_waits_refuse():
    result = results(options={"count": {"vary": [10, 20]}, "levels": {"vary": [2, 3]}})
    with pytest.raises(InputError, match="waits_by_priority has one varied number on its axis; none was named"):
        figure("waits_by_priority").data(result)
    with pytest.raises(InputError, match="unknown waiting of waits_by_priority 'splits'; there are wait_max_cycles"):
        figure("waits_by_priority").choose(result, measure="splits", lever="options.count")
    with pytest.raises(InputError, match="needs wait_p99_cycles, which is not defined"):
        figure("waits_by_priority").data(results(options={"count": 0}))


def test_unit_spread_after_every_dispatch():
    record = toy(3, groups=60, modules=2, units=3)
    after, sent = [], {m: [np.zeros(3, int)] for m in range(2)}
    for d in slow.dispatches(record):
        sent[d["module"]].append(sent[d["module"]][-1] + d["sent"])
    fewest = min(len(each) for each in sent.values()) - 1
    for n in range(1, fewest + 1):
        after.append(np.mean([max(each[n]) - min(each[n]) for each in sent.values()]))
    assert fewest > 5 and spread_after(record).tolist() == pytest.approx(after)


@pytest.mark.slow
def test_unit_spread_figure():
    result = results(options={"count": 60}, **TWO)
    recipe = figure("unit_spread_over_rounds")
    data = recipe.data(result)
    line = data.lines[0]
    curves = [spread_after(record) for record in records(result)]
    assert line.x[-1] == min(map(len, curves)) and line.n == 3
    expected = mean_curve(np.stack([curve[line.x - 1] for curve in curves]))
    assert line.means.mean.tolist() == expected.mean.tolist()
    drawn = recipe.draw(data)
    assert drawn.axes[0].get_xlabel() == "dispatches to a module" and drawn.axes[0].get_yscale() == "symlog"
    assert len({len(column) for column in data.columns().values()}) == 1
    with pytest.raises(InputError, match="needs dispatches to every module; with first_fit one had none"):
        recipe.data(results(options={"count": 1}))


def test_places_are_evenly_apart_and_hold_the_first_and_the_last():
    assert places(1).tolist() == [1] and places(0).tolist() == []
    assert places(10).tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 10]
    assert len(places(10**6)) < 90


def test_power_over_modules(two):
    result = two
    recipe = figure("power_over_modules")
    data = recipe.data(result)
    each = []
    for record in records(result):
        spent = np.array(slow.energies(record)).sum(axis=0) * 1e-12
        each.append(record.power.idle() + spent / (slow.makespan(record) / 1e9))
    assert data.lines[0].means.mean == pytest.approx(np.mean(each, axis=0))
    assert recipe.draw(data).axes[0].get_ylabel() == "power (W)"
    assert data.columns()["module"].tolist() == [0, 1, 2] * 2


def test_temperature_over_time(two):
    result = two
    recipe = figure("temperature_over_time")
    data = recipe.data(result)
    panel, record = data.panels[0], records(result)[0]
    assert panel.cycle.tolist() == [*range(0, slow.makespan(record) + 5, 5)][: len(panel.cycle)]
    assert (panel.coolest[0], panel.hottest[0]) == (45, 45)
    assert (panel.coolest <= panel.mean).all() and (panel.mean <= panel.hottest).all()
    expected = slow.heat_measures(record)
    assert (panel.hottest - panel.coolest)[1:].mean() == pytest.approx(expected["temperature_spread_k"])
    assert panel.hottest.max() - 45 == pytest.approx(expected["temperature_peak_k"])
    assert recipe.draw(data).axes[0].get_ylabel() == "temperature (°C)"
    assert len({len(column) for column in data.columns().values()}) == 1


def test_without_power_or_heat_the_sentence_says_what_to_ask_for(without):
    chunks = without(power=None)
    for name in ("power_over_modules", "temperature_over_time"):
        with pytest.raises(InputError, match=rf"{name} needs power, which first_fit does not simulate\. Say options"):
            figure(name).data(chunks)
    with pytest.raises(InputError, match="needs heat, which first_fit does not simulate"):
        figure("temperature_over_time").data(without(heat=None))
