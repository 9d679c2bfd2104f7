"""The figures of address translation: their data against counts of single accesses, their ink, what they refuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.engines.translation import Translation
from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.figures import figure
from workbench.figures.estimates import Means, mean_curve
from workbench.metrics.translation import counted_over_time
from workbench.records.translation import KINDS, SERVED_BY, WITHOUT_MIDDLE, TranslationRecord, events

SAMPLE = 50
CORES = 4
NAMES = ("served_by", "latency_distribution", "network_load", "sharing_degrees", "core_affinity")
SWEEP: dict[str, Any] = {
    "engine": "translation",
    "machine": {"preset": "patent_pilot", "cores": CORES, "private_entries": 6, "level_cycles": 20, "link_cycles": 2},
    "workload": {"synthetic": "zipf_mixture", "count": 430, "sharing": {"vary": [0.25, 0.75]}},
    "policy": {"locate": {"vary": ["no_directory", {"directory": {"scope": "oracle"}}]}},
    "options": {"sample_accesses": SAMPLE},
    "seeds": 2,
}


@pytest.fixture(scope="module")
def found() -> Results:
    return wb.run(SWEEP, workers=0)


def simulated(runs: Results, point: int) -> list[TranslationRecord]:
    """The records of a point with the log of what happened, seed by seed."""
    return [Translation().simulate(runs.points[point].setup, seed, events=True) for seed in (0, 1)]


def logged(record: TranslationRecord) -> list[dict[str, Any]]:
    columns = events(record)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def accesses(record: TranslationRecord) -> list[dict[str, Any]]:
    return [event for event in logged(record) if event["kind"] == "access"]


def looks(record: TranslationRecord) -> Iterator[dict[int, set[int]]]:
    """Who holds which page at every look: at the end of the event that serves the n-th access, and at the end of all.

    An answer serves its miss and those that joined it, then fills its core, all at its cycle; a copy comes on its own.
    """
    held: dict[int, set[int]] = {core: set() for core in range(CORES)}
    served, due, answer = 0, False, (-1, -1)
    rows = record.log.tolist()
    for (cycle, kind, core, page, source, _, latency), after in zip(rows, [*rows[1:], [0, 0]], strict=True):
        event = (cycle + latency if KINDS[kind] == "access" else cycle, core)
        if KINDS[after[1] if KINDS[kind] == "evict" else kind] == "push":
            event = (-2, -2)
        if due and (event != answer or (KINDS[kind] == "access" and SERVED_BY[source] != "merged")):
            yield held
            due = False
        if KINDS[kind] == "access":
            served += 1
            due, answer = due or served % SAMPLE == 0, event if SERVED_BY[source] != "private" else (-1, -1)
        elif KINDS[kind] in ("fill", "push"):
            held[core].add(page)
        else:
            held[core].remove(page)
    if due:
        yield held
    yield held


def same(means: Means, values: list[list[float]]) -> None:
    expected = mean_curve(np.array(values))
    assert means.mean == pytest.approx(expected.mean)
    assert means.low == pytest.approx(expected.low)
    assert means.high == pytest.approx(expected.high)


def test_shares_are_those_of_single_accesses(found):
    data = figure("served_by").data(found)
    assert data.titles == ("sharing = 0.25", "sharing = 0.75")
    assert [(bar.panel, bar.n) for bar in data.bars] == [(0, 2), (0, 2), (1, 2), (1, 2)]
    for point, bar in enumerate(data.bars):
        counts = [Counter(event["served_by"] for event in accesses(r)) for r in simulated(found, point)]
        same(bar.percent, [[100 * count[part] / 430 for part in data.parts] for count in counts])
    assert data.bars[1].percent.mean[2] > 0 == data.bars[0].percent.mean[2]


def test_the_distribution_counts_the_accesses_that_are_served_by_then(found):
    data = figure("latency_distribution").data(found)
    for point, line in enumerate(data.lines):
        taken = [event["latency"] for record in simulated(found, point) for event in accesses(record)]
        assert line.x.tolist() == sorted(set(taken))
        share = [sum(latency <= at for latency in taken) / len(taken) for at in line.x]
        assert line.means.mean.tolist() == pytest.approx(share)


def test_the_load_is_what_is_sent_in_slices_of_the_time(found):
    data = figure("network_load").data(found)
    for panel in (0, 1):
        lines = [k for k, line in enumerate(data.lines) if line.panel == panel]
        last = max(record.last_cycle for point in lines for record in simulated(found, point))
        for point in lines:
            line = data.lines[point]
            edges = [*line.x.tolist(), last]
            assert line.n == 2 and line.x[0] == 0 and len(line.x) == 300
            same(line.means, [rates(record, edges) for record in simulated(found, point)])


def rates(record: TranslationRecord, edges: list[int]) -> list[float]:
    """Messages a cycle between two edges, window by window."""
    sent, wide = counted_over_time(record, "messages").tolist(), record.window_cycles
    assert sum(sent) == record.messages.sum()
    result = []
    for begin, end in pairwise(edges):
        total = 0.0
        for window, count in enumerate(sent):
            start = record.first_cycle + window * wide
            total += count * max(min(end, start + wide) - max(begin, start), 0) / wide
        result.append(total / (end - begin))
    return result


def test_degrees_are_those_of_the_pages_held_at_every_look(found):
    data = figure("sharing_degrees").data(found)
    for point, line in enumerate(data.lines):
        percent = []
        for record in simulated(found, point):
            holders: Counter[int] = Counter()
            for held in looks(record):
                holders.update(Counter(page for pages in held.values() for page in pages).values())
            percent.append([100 * holders[k] / holders.total() for k in range(1, CORES + 1)])
        same(line.means, percent)


def test_the_affinity_of_two_cores_is_what_they_hold_in_common(found):
    data = figure("core_affinity").data(found)
    assert [panel.title for panel in data.panels][:2] == [
        "sharing = 0.25: no_directory",
        "sharing = 0.25: directory(scope=oracle)",
    ]
    for point, panel in enumerate(data.panels):
        means = []
        for record in simulated(found, point):
            common = np.zeros((CORES, CORES))
            seen = 0
            for held in looks(record):
                seen += 1
                for one, other in combinations(range(CORES), 2):
                    common[[one, other], [other, one]] += len(held[one] & held[other])
            means.append(common / seen)
        assert panel.n == 2
        assert panel.pages.tolist() == np.mean(means, axis=0).tolist()


@pytest.mark.parametrize("name", NAMES)
def test_columns_are_of_one_length_and_name_what_is_drawn(name, found):
    columns = figure(name).data(found).columns()
    assert len({len(column) for column in columns.values()}) == 1
    assert set(columns["runs"].tolist()) == {2}
    assert len(set(columns["line"])) == (4 if name == "core_affinity" else 2)


def drawn(name: str, runs: Results) -> Any:
    recipe = figure(name)
    return recipe.draw(recipe.data(runs))


def test_bars_are_as_long_as_the_shares(found):
    data = figure("served_by").data(found)
    axes = drawn("served_by", found).axes
    for place, one in enumerate(axes):
        bars = [bar for bar in data.bars if bar.panel == place]
        lengths = [[part.get_width() for part in kind] for kind in one.containers]
        assert pytest.approx(np.array([bar.percent.mean for bar in bars])) == np.array(lengths).T
        assert sum(part[0].get_width() for part in one.containers) == pytest.approx(100)
    assert [text.get_text() for text in axes[0].figure.legends[0].get_texts()] == list(SERVED_BY[:WITHOUT_MIDDLE])


def test_steps_end_at_all_accesses(found):
    axes = drawn("latency_distribution", found).axes
    assert axes[0].get_xscale() == "log"
    for one in axes:
        assert [line.get_ydata()[-1] for line in one.lines] == [100, 100]
        assert all((np.diff(line.get_ydata()) >= 0).all() for line in one.lines)


def test_a_network_without_messages_says_so(found):
    silent = wb.run({**SWEEP, "policy": {"locate": "no_directory", "fill": "demand_always"}, "seeds": 1}, workers=0)
    assert drawn("network_load", silent).axes[0].texts[-1].get_text() == "no messages between cores"
    assert [len(one.lines) for one in drawn("network_load", found).axes] == [2, 2]


def test_dots_and_squares(found):
    dots = drawn("sharing_degrees", found).axes
    assert dots[-1].get_xlabel() == "cores that hold the page"
    degrees = figure("sharing_degrees").data(found)
    heights = [line.get_ydata().tolist() for one in dots for line in one.lines]
    assert heights == [line.means.mean.tolist() for line in degrees.lines]
    affinity = figure("core_affinity").data(found)
    squares = [one for one in figure("core_affinity").draw(affinity).axes if one.images]
    assert len(squares) == 4
    for one, panel in zip(squares, affinity.panels, strict=True):
        displayed = np.ma.filled(one.images[0].get_array(), np.nan)
        assert np.isnan(np.diag(displayed)).all()
        apart = ~np.eye(CORES, dtype=bool)
        assert displayed[apart].tolist() == panel.pages[apart].tolist()


@pytest.mark.parametrize("name", NAMES)
def test_what_they_refuse(name, monkeypatch):
    many = {"synthetic": "zipf_mixture", "count": 1, "sharing": {"vary": [k / 10 for k in range(10)]}}
    with pytest.raises(InputError, match=rf"{name} needs \d+ panels for this sweep; a page holds 8\. Narrow the sweep"):
        figure(name).data(wb.run({**SWEEP, "workload": many, "seeds": 1}, workers=0))

    def broken(*_: Any, **__: Any) -> None:
        raise InputError("a fault")

    monkeypatch.setattr(Translation, "simulate", broken)
    with pytest.raises(
        InputError, match=rf"{name} needs a finished run of every point; .* has none: 2 failed, .*fault"
    ):
        figure(name).data(wb.run(SWEEP, workers=0))
