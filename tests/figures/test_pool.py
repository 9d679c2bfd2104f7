"""The figures of a memory pool: their data against a replay of every event, their ink, what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.oracles import pool_memory as slow
from workbench.errors import InputError
from workbench.explain.remote_bound import over_bound
from workbench.figures import figure
from workbench.metrics.pool import regions_of
from workbench.runs.run import run_id

pytestmark = pytest.mark.slow

MIB, GIB = 1 << 20, 1 << 30
LARGE = {"log_uniform": [256 * MIB, 2 * GIB]}
FULL = {"synthetic": "full_card", "footprint": 2.0, "others": 0.3, "renewed": 40, "size": LARGE}
SWEEP = {
    "engine": "pool",
    "machine": "dgx_1v",
    "workload": FULL,
    "policy": {"target": {"vary": ["max_bandwidth", "local_only"]}},
    "options": {"path_metric": "bottleneck"},
    "measures": ["completed_rate"],
    "seeds": 2,
}


@pytest.fixture(scope="module")
def found():
    return wb.run(SWEEP, workers=0)


@pytest.fixture(scope="module")
def stitched():
    policies = {"cache": {"vary": ["stitching", "pytorch_caching"]}}
    jobs = {"synthetic": "mixed_jobs", "jobs": 30, "arrival": {"poisson_load": 1.3}, "size": LARGE}
    return wb.run({**SWEEP, "policy": policies, "workload": jobs, "seeds": 1}, workers=0)


@pytest.fixture(scope="module")
def crowd():
    """As many panels or lines as no page holds."""
    many = {
        "target": "max_bandwidth",
        "cache": {"vary": [{"split_and_coalesce": {"align": 1 << k}} for k in range(13)]},
    }
    machines = {"vary": ["dgx_1v", "pcie4_x8"]}
    tiny = {**FULL, "footprint": 0.1, "others": 0.0, "renewed": 0}
    return wb.run({**SWEEP, "machine": machines, "policy": many, "workload": tiny, "seeds": 1}, workers=0)


def record(result, point, seed=0):
    return result.record(run_id(result.points[point].id, seed))


def test_memory_by_card_is_what_a_replay_of_the_events_says(found):
    data = figure("memory_by_card").choose(found, seed=1)
    assert data.seed == 1 and [panel.title for panel in data.panels] == ["max_bandwidth", "local_only"]
    for place, panel in enumerate(data.panels):
        kept = record(found, place, 1)
        cards = [card for card, size in enumerate(kept.capacity) if size]
        assert panel.cards == tuple(kept.cards[card] for card in cards)
        used, got = slow.used(kept), slow.got(kept)
        for row, percent, idle in zip(panel.request, panel.used_percent, panel.cached_percent, strict=True):
            sizes = kept.capacity[cards]
            assert percent == pytest.approx(100 * np.array([used[row][card] for card in cards]) / sizes)
            assert idle == pytest.approx(100 * np.array([got[row][card] - used[row][card] for card in cards]) / sizes)
        assert panel.request[0] == 0 and panel.request[-1] == len(kept.time) - 1
    assert data.panels[0].used_percent[:, 2].max() > 99 and data.panels[1].used_percent[:, 3].max() < 60


def test_memory_by_card_ink_and_columns(found):
    data = figure("memory_by_card").data(found)
    drawn = figure("memory_by_card").draw(data)
    assert [axes.get_title(loc="left") for axes in drawn.axes[:2]] == ["max bandwidth", "local only"]
    assert [label.get_text() for label in drawn.axes[0].get_yticklabels()] == list(data.panels[0].cards)
    assert np.asarray(drawn.axes[0].images[0].get_array()).shape == data.panels[0].used_percent.T.shape
    columns = data.columns()
    assert len({len(column) for column in columns.values()}) == 1
    first = data.panels[0].used_percent
    assert columns["used_percent"][: first.size].tolist() == first.ravel().tolist()
    assert columns["card"][: first.shape[1]].tolist() == list(data.panels[0].cards)


def test_reserved_over_requests_is_what_a_replay_says(stitched):
    data = figure("reserved_over_requests").data(stitched)
    assert [line.name for line in data.lines] == ["asked for", "stitching", "pytorch_caching"]
    for place, line in enumerate(data.lines[1:]):
        got = slow.got(record(stitched, place))
        assert (line.means.mean * MIB).tolist() == [sum(got[row]) for row in line.x]
    requested = slow.used(record(stitched, 0), "asked")
    assert (data.lines[0].means.mean * MIB).tolist() == [sum(requested[row]) for row in data.lines[0].x]


def test_what_is_asked_for_is_the_same_whoever_refuses_it(tmp_path):
    steps = ["alloc,0,80", "alloc,1,60", "free,1,0", "free,1,0", "alloc,2,10", "free,0,0"]
    rows = [f"{time},0,gpu0,{step}" for time, step in enumerate(steps)]
    (tmp_path / "jobs.csv").write_text("\n".join(["time,app,card,action,handle,bytes", *rows]))
    board = {"cards": [{"id": "gpu0", "memory_bytes": 100}], "links": []}
    workload = {"file": str(tmp_path / "jobs.csv")}
    runs = wb.run({**SWEEP, "machine": board, "workload": workload, "seeds": 1}, workers=0)
    requested = figure("reserved_over_requests").data(runs).lines[0]
    assert (requested.means.mean * MIB).tolist() == [80, 140, 80, 80, 90, 10]


def test_reserved_over_requests_ink_and_columns(stitched):
    recipe = figure("reserved_over_requests")
    data = recipe.data(stitched)
    drawn = recipe.draw(data)
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["asked for", "stitching", "pytorch caching"]
    assert drawn.axes[0].get_ylabel() == "memory (MiB)" and drawn.axes[0].get_ylim()[0] == 0
    columns = data.columns()
    assert columns["mib"].tolist() == [value for line in data.lines for value in line.means.mean]


def test_lending_graph_counts_every_borrowed_region(found):
    data = figure("lending_graph").data(found)
    alone, lending = data.panels[1], data.panels[0]
    assert (lending.n, alone.lent_gib.max()) == (2, 0)
    each = [slow.lent(record(found, 0, seed)) for seed in (0, 1)]
    for pair in {*each[0], *each[1]}:
        i, j = map(lending.cards.index, pair)
        assert lending.lent_gib[i, j] == pytest.approx(sum(one.get(pair, 0) for one in each) / 2 / GIB)
    assert np.count_nonzero(lending.lent_gib) == len({*each[0], *each[1]})
    board = found.points[0].setup.machine
    for link in board.links:
        i, j = map(lending.cards.index, link.ends)
        assert lending.gbps[i, j] == lending.gbps[j, i] == link.total_gbps


def test_lending_graph_ink_and_columns(found):
    recipe = figure("lending_graph")
    data = recipe.data(found)
    drawn = recipe.draw(data)
    lending = data.panels[0]
    arrows = [text for text in drawn.axes[0].texts if getattr(text, "arrow_patch", None)]
    assert len(arrows) == np.count_nonzero(lending.lent_gib)
    says = [text.get_text() for text in drawn.axes[0].texts if text.get_text()]
    settings = {text.split("\n")[0]: float(text.split("\n")[1]) for text in says if "\n" in text}
    lent = dict(zip(lending.cards, lending.lent_gib.sum(axis=1), strict=True))
    assert settings == {name: pytest.approx(gib, rel=5e-3) for name, gib in lent.items() if gib}
    assert len(drawn.axes[0].lines) == np.count_nonzero(np.triu(lending.gbps))
    columns = data.columns()
    assert len(columns["lender"]) == 2 * len(lending.cards) * (len(lending.cards) - 1)
    assert columns["lent_gib"].sum() == pytest.approx(lending.lent_gib.sum())
    nothing = recipe.draw(data._replace(panels=data.panels[1:]))
    assert nothing.get_supxlabel() == "nothing is lent; mean of 2 seeds"


def cut(record, rows):
    """The first requests of a record alone: some regions are never released."""
    columns = [name for name, column in record._asdict().items() if np.shape(column)[:1] == record.time.shape]
    return record._replace(**{name: getattr(record, name)[:rows] for name in columns if name != "calls"})


def test_regions_are_those_of_a_replay(found, stitched):
    for runs, point in [(found, 0), (stitched, 0), (stitched, 1)]:
        whole = record(runs, point)
        for kept in (whole, cut(whole, 200)):
            for card in range(len(kept.cards)):
                rows = zip(*(column.tolist() for column in regions_of(kept, card)), strict=True)
                assert [*rows] == slow.regions(kept, card)
    assert regions_of(record(found, 0), 3).borrowed.any()
    assert "stitched" in {slow.OUTCOMES[it] for it in record(stitched, 0).outcome}


@pytest.mark.parametrize("side", ["early", "late"])
def test_region_layout_shows_what_lies_in_its_span(found, side):
    """One region begins with the last request of the picture, one ends with its first but one."""
    recipe = figure("region_layout")
    kept = record(found, 0, 1)
    every = slow.regions(kept, 3)
    begin, end = sorted(one[0] for one in every)[20], sorted(one[1] for one in every)[20]
    first, last = (0, begin + 1) if side == "early" else (end - 1, len(kept.time))
    data = recipe.choose(found, card="gpu1", requests=(first, last), seed=1)
    assert (data.seed, data.card, data.first, data.last) == (1, "gpu1", first, last)
    expected = [one for one in every if one[0] < last and one[1] > first]
    displayed = zip(*(column.tolist() for column in data.panels[0].regions), strict=True)
    assert [*displayed] == expected and 0 < len(expected) < len(every)
    drawn = recipe.draw(data)
    assert len(drawn.axes[0].collections[0].get_paths()) == len(expected)
    assert drawn.axes[0].get_xlim() == (first, last)
    assert data.columns()["address_bytes"][: len(expected)].tolist() == [one[2] for one in expected]


def test_region_layout_by_default_shows_the_end_of_the_busiest_card(found):
    data = figure("region_layout").data(found)
    kept = record(found, 0)
    grants = [kept.cards[event["card"]] for event in slow.events(kept) if event["outcome"] in slow.GRANTED]
    assert data.card == max(kept.cards, key=grants.count)
    assert data.last == len(kept.time) and data.first == max(data.last - 400, 0)


def test_what_region_layout_refuses(found, monkeypatch):
    recipe = figure("region_layout")
    for choices, sentence in [
        ({"card": "gpu9"}, "unknown card 'gpu9'; there are .*Did you mean gpu"),
        ({"requests": (9, 9)}, r"region_layout shows requests=\(from, to\) with 0 <= from < to\. Got \(9, 9\)"),
        ({"seed": 7}, r"a seed that every point finished\. Got 7\. Nearest: 0"),
    ]:
        with pytest.raises(InputError, match=sentence):
            recipe.choose(found, **choices)
    monkeypatch.setattr("workbench.figures._region_layout.MOST_REGIONS", 3)
    sentence = r"region_layout draws 3 regions a panel; max_bandwidth has \d+ from request 0 to 200\. Choose fewer"
    with pytest.raises(InputError, match=sentence):
        recipe.choose(found, card="gpu0", requests=(0, 200))


@pytest.mark.parametrize("name", ["memory_by_card", "reserved_over_requests", "lending_graph", "region_layout"])
def test_more_than_a_page_is_refused(name, crowd):
    with pytest.raises(InputError, match=name):
        figure(name).data(crowd)


def test_reading_over_bound_is_the_measure_over_the_bounds(found):
    data = figure("reading_over_bound").data(found)
    (panel,) = data.panels
    runs = over_bound(found)
    near, none = runs[:2], runs[2:]
    assert panel.names == ("max_bandwidth", "local_only") and panel.n.tolist() == [2, 2]
    assert panel.over.mean[0] == pytest.approx(np.median([it.value_ns / it.bound_ns for it in near]))
    assert panel.fixed_over[0] == pytest.approx(np.median([it.fixed_bound_ns / it.bound_ns for it in near]))
    assert np.isnan(panel.over.mean[1]) and np.isnan(panel.fixed_over[1])
    assert panel.granted_percent.tolist() == [100, np.mean([it.granted_percent for it in none])]
    columns = data.columns()
    assert len({len(column) for column in columns.values()}) == 1
    assert columns["value_over_bound"][0] == panel.over.mean[0] and columns["bound_ns"][1] == 0
    drawn = figure("reading_over_bound").draw(data)
    assert [label.get_text() for label in drawn.axes[0].get_yticklabels()] == ["max bandwidth", "local only"]
