"""Indices and effects of functions whose own are known, through ordinary sweeps; and what is refused."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
import yaml
from scipy import stats

import workbench as wb
from tests.explain.sensitivity.known import (
    g_function,
    ishigami,
    known_engine,
    known_g_function,
    known_ishigami,
    study,
)
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.experiments.designs import Axis, Morris, Saltelli
from workbench.experiments.progress import Silent
from workbench.explain.sensitivity import elementary_effects, sobol_indices
from workbench.number_text import with_limits

pytestmark = pytest.mark.slow

BASE = 8
FUNCTIONS = {
    "first_fit": (ishigami, (-math.pi, math.pi), known_ishigami()),
    "best_fit": (g_function, (0, 1), known_g_function()),
}


@pytest.fixture(autouse=True, scope="module")
def _entered():
    with known_engine():
        yield


@pytest.fixture(scope="module")
def both():
    """Ishigami's function and the g-function as two policies of one study."""
    return wb.sensitivity(
        study(
            policy={"placement": {"vary": ["first_fit", "best_fit"]}}, design={"saltelli": {"base": BASE, "seed": 1}}
        ),
        workers=1,
    )


def rows_of(base, ends=(-math.pi, math.pi), **changed):
    axes = [Axis(f"options.x{k}", "number", *ends) for k in (1, 2, 3)]
    return np.array(Saltelli(base=base, seed=1, **changed).rows(axes))


@pytest.fixture(scope="module", params=["first_fit", pytest.param("best_fit", marks=pytest.mark.slow)])
def known(request):
    """The indices of many points of a function, beside its own."""
    function, ends, truth = FUNCTIONS[request.param]
    return sobol_indices([function(row) for row in rows_of(1024, ends)], 3), truth


def test_the_indices_of_known_functions(known):
    result, truth = known
    assert result.first.value == pytest.approx(np.array(truth["first"]), abs=0.03)
    assert result.total.value == pytest.approx(np.array(truth["total"]), abs=0.03)
    above = np.triu_indices(3, 1)
    assert result.second.value[above] == pytest.approx(truth["second"][above], abs=0.06)
    assert (result.second.value == result.second.value.T)[above].all()


def test_the_intervals_hold_the_known_indices_and_are_not_wide(known):
    result, truth = known
    for order in ("first", "total"):
        estimates = getattr(result, order)
        assert (estimates.low - 0.01 <= truth[order]).all()
        assert (truth[order] <= estimates.high + 0.01).all()
        assert (estimates.high - estimates.low < 0.3).all()
    truth_of_pairs, above = truth["second"], np.triu_indices(3, 1)
    assert (result.second.low[above] - 0.01 <= truth_of_pairs[above]).all()
    assert (truth_of_pairs[above] <= result.second.high[above] + 0.01).all()


def test_a_study_finds_the_indices_of_its_own_outputs_row_by_row(both):
    for one, way in zip(both.analyses, FUNCTIONS, strict=True):
        outputs = [value_at(way, row) for row in rows_of(BASE)]
        own = sobol_indices(outputs, 3, seed=1)
        assert one.way == way
        assert one.estimates.first.value == pytest.approx(own.first.value, abs=1e-9)
        assert one.estimates.total.high == pytest.approx(own.total.high, abs=1e-9)
        above = np.triu_indices(3, 1)
        assert one.estimates.second.low[above] == pytest.approx(own.second.low[above], abs=1e-9)


def value_at(way, row):
    return ishigami(row) if way == "first_fit" else g_function((row + math.pi) / (2 * math.pi))


@pytest.mark.parametrize("function", [ishigami, pytest.param(g_function, marks=pytest.mark.slow)])
def test_scipy_says_the_same(function):
    ends = (-math.pi, math.pi) if function is ishigami else (0, 1)
    axes = [Axis(f"x{k}", "number", *ends) for k in range(3)]
    rows = np.array(Saltelli(base=512, seed=3).rows(axes))
    outputs = np.array([function(row) for row in rows])
    ours = sobol_indices(outputs, 3)
    blocks = outputs.reshape(512, 8)
    theirs = stats.sobol_indices(
        func={"f_A": blocks[:, [0]].T, "f_B": blocks[:, [7]].T, "f_AB": blocks[:, 1:4].T.reshape(3, 1, 512)}, n=512
    )
    assert ours.first.value == pytest.approx(theirs.first_order, abs=0.01)
    assert ours.total.value == pytest.approx(theirs.total_order, abs=0.01)
    spread = theirs.bootstrap(n_resamples=500)
    for order, other in ((ours.first, spread.first_order), (ours.total, spread.total_order)):
        wide = other.confidence_interval.high - other.confidence_interval.low
        assert order.high - order.low == pytest.approx(wide, rel=0.25)


def test_the_intervals_of_the_indices_hold_the_truth_about_as_often_as_they_say():
    axes = [Axis(f"x{k}", "number", 0, 1) for k in range(3)]
    known, held = known_g_function(), []
    for seed in range(60):
        outputs = [g_function(np.array(row)) for row in Saltelli(base=64, seed=seed, second_order=False).rows(axes)]
        total = sobol_indices(outputs, 3, second_order=False).total
        held.append((total.low <= known["total"]) & (known["total"] <= total.high))
    assert np.mean(held) > 0.85


def test_the_effects_of_a_line_are_its_slopes_times_the_ranges():
    morris = study(design={"morris": {"trajectories": 6}})
    result = wb.sensitivity(morris, measure="line", workers=1).analyses[0].estimates
    assert result.mean == pytest.approx([3 * 2 * math.pi, -5 * 2 * math.pi, 0], rel=1e-5)
    assert result.mean_size.value == pytest.approx(np.abs(result.mean))
    assert result.spread == pytest.approx(0, abs=1e-4)
    assert result.mean_size.high == pytest.approx(result.mean_size.low, abs=1e-4)


def test_effects_against_those_read_by_hand():
    axes = [Axis(f"x{k}", "number", 0, 1) for k in range(3)]
    ranks = Morris(trajectories=7, levels=6, seed=2).ranks(axes)
    outputs = np.array([g_function(row) for row in ranks])
    effects = elementary_effects(outputs, ranks, 6)
    by_hand: list[list[float]] = [[], [], []]
    for walk in range(7):
        for step in range(3):
            here, there = 4 * walk + step, 4 * walk + step + 1
            (moved,) = np.flatnonzero(np.abs(ranks[there] - ranks[here]) > 1e-9)
            by_hand[moved].append((outputs[there] - outputs[here]) / (ranks[there, moved] - ranks[here, moved]))
    assert effects.mean == pytest.approx(np.mean(by_hand, axis=1))
    assert effects.mean_size.value == pytest.approx(np.mean(np.abs(by_hand), axis=1))
    assert effects.spread == pytest.approx(np.std(by_hand, axis=1, ddof=1))
    half = 1.96 * np.std(np.abs(by_hand), axis=1) / math.sqrt(7)
    assert effects.mean_size.high - effects.mean_size.value == pytest.approx(half, rel=0.1)


def test_a_lever_that_changes_nothing_has_no_share_and_no_interval():
    ranks = Saltelli(base=64).ranks([Axis("a", "number", 0, 1), Axis("b", "number", 0, 1)])
    indices = sobol_indices(ranks[:, 0], 2)
    assert (indices.first.value[1], indices.first.low[1], indices.total.value[1], indices.total.high[1]) == (0, 0, 0, 0)


def test_seeds_shift_all_outputs_alike_and_change_no_index(both):
    three = wb.sensitivity(study(seeds=3, design={"saltelli": {"base": BASE, "seed": 1}}), workers=1).analyses[0]
    assert three.seeds == 3
    assert three.estimates.total.value == pytest.approx(both.analyses[0].estimates.total.value)


def test_a_gain_is_analysed_as_it_is_compared():
    policy, baseline = {"placement": {"vary": ["first_fit", "best_fit"]}}, {"placement": "first_fit"}
    design = {"saltelli": {"base": BASE, "seed": 1}}
    config = study(policy=policy, baseline=baseline, seeds=2, design=design)
    sensitivity = wb.sensitivity(config, of="gain", workers=1)
    assert [one.way for one in sensitivity.analyses] == ["best_fit"]
    gains = [value_at("first_fit", row) - value_at("best_fit", row) for row in rows_of(BASE)]
    assert sensitivity.analyses[0].estimates.first.value == pytest.approx(sobol_indices(gains, 3).first.value, abs=1e-9)


def test_a_gain_is_positive_where_the_policy_is_better():
    policy, baseline = {"placement": {"vary": ["first_fit", "best_fit"]}}, {"placement": "first_fit"}
    design = {"morris": {"trajectories": 5, "seed": 2}}
    (one,) = wb.sensitivity(study(policy=policy, baseline=baseline, design=design), of="gain", workers=1).analyses
    morris, axes = Morris(trajectories=5, seed=2), [Axis(f"x{k}", "number", -math.pi, math.pi) for k in (1, 2, 3)]
    gains = [value_at("first_fit", row) - value_at("best_fit", row) for row in np.array(morris.rows(axes))]
    own = elementary_effects(gains, morris.ranks(axes), morris.levels)
    assert np.abs(own.mean).max() > 0.1
    assert one.estimates.mean == pytest.approx(own.mean, abs=1e-4)


def test_a_range_that_one_way_alone_has_is_a_lever_of_that_way_alone():
    config = study(
        policy={"placement": {"vary": ["first_fit", {"nearest_boundary": {"tie": {"vary": True}}}]}},
        design={"saltelli": {"base": 16, "second_order": False}},
    )
    result = wb.sensitivity(config, measure="line", workers=1).analyses
    assert [(one.way, len(one.paths)) for one in result] == [("first_fit", 3), ("nearest_boundary", 4)]
    assert result[1].paths[0] == "policy.placement.nearest_boundary.tie"
    assert result[1].estimates.total.value[0] == 0


def test_the_evaluations_are_ordinary_runs_and_a_killed_study_goes_on(tmp_path):
    class Watching(Silent):
        def __init__(self, most=10**9):
            self.ids, self.most = [], most

        def advance(self, row):
            self.ids.append(row.id)
            if len(self.ids) >= self.most:
                raise KeyboardInterrupt

    config = study(design={"saltelli": {"base": 8}})
    first, again, more = Watching(25), Watching(), Watching()
    with pytest.raises(KeyboardInterrupt):
        wb.sensitivity(config, tmp_path / "r", workers=1, progress=first)
    resumed = wb.sensitivity(config, tmp_path / "r", workers=1, progress=again)
    assert len(first.ids) + len(again.ids) == 8 * 8
    assert resumed.table.equals(wb.sensitivity(config, workers=1).table)
    assert wb.open_results(tmp_path / "r").sensitivity().table.equals(resumed.table)
    larger = study(design={"saltelli": {"base": 16}})
    wb.sensitivity(larger, tmp_path / "r", workers=1, progress=more)
    assert len(more.ids) == 8 * 8


@pytest.mark.parametrize(
    ("said", "asked", "sentence"),
    [
        (
            study(design={"sobol": 8}),
            {},
            "sweep: sensitivity needs design: {saltelli: {base: 64}} (Sobol's indices) or",
        ),
        (study(design=None, options={"x1": 1.0}), {}, "sweep: sensitivity needs design: {saltelli"),
        (study(), {"measure": "z"}, "sweep: unknown measure 'z'; there are hole, line, same, y."),
        (study(), {"of": "gain"}, "sweep: sensitivity of a gain needs a baseline, such as {placement: first_fit}."),
        (study(), {"of": "median"}, "sweep: unknown output of a point 'median'; there are gain, mean."),
    ],
)
def test_what_could_not_be_analysed_is_refused_before_anything_runs(said, asked, sentence):
    class Forbids(Silent):
        def begin(self, total, kept):
            raise AssertionError("something ran")

    with pytest.raises(InputError) as refused:
        wb.sensitivity(said, workers=1, progress=Forbids(), **asked)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("measure", "sentence"),
    [
        ("hole", r"sensitivity needs a finite hole of every run: seed 0 where options\.x1 = [23]\.\d+, .* gave nan\."),
        ("same", r"same: sensitivity needs outputs that differ; all 64 are 2\."),
    ],
)
def test_outputs_that_say_nothing_are_refused(measure, sentence):
    with pytest.raises(InputError, match=sentence):
        wb.sensitivity(study(design={"saltelli": {"base": 8}}), measure=measure, workers=1)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_one_bad_number_among_thousands_is_refused_and_not_turned_into_zeros(bad):
    axes = [Axis(f"x{k}", "number", 0, 1) for k in range(2)]
    saltelli, morris = Saltelli(base=512).ranks(axes), Morris(trajectories=20).ranks(axes)
    for ranks, analyse in (
        (saltelli, lambda y: sobol_indices(y, 2)),
        (morris, lambda y: elementary_effects(y, morris, 4)),
    ):
        outputs = ranks.sum(axis=1)
        outputs[17] = bad
        with pytest.raises(InputError, match=rf"needs finite outputs\. Got {bad:g} in row 17"):
            analyse(outputs)


def test_a_number_of_outputs_that_no_design_has_is_refused():
    with pytest.raises(InputError, match=r"one output a row of the design \(6\)\. Got 7\."):
        sobol_indices(np.arange(7.0), 2)


def test_two_ranges_at_one_lever_are_refused():
    both = [{"nearest_boundary": {"tie": {"vary": True}}}, {"nearest_boundary": {"tie": {"vary": True}}}]
    with pytest.raises(InputError, match=r"one range at a lever; policy\.placement\.nearest_boundary\.tie has several"):
        wb.sensitivity(study(policy={"placement": {"vary": both}}), workers=1)


def test_tables_hold_a_row_a_lever_and_a_row_a_pair(both):
    assert list(both.table["lever"]) == ["options.x1", "options.x2", "options.x3"] * 2
    assert list(both.table.columns) == [
        *("way", "measure", "of", "lever"),
        *("first", "first_low", "first_high", "total", "total_low", "total_high"),
    ]
    assert list(zip(both.pairs["lever"], both.pairs["with"]))[:3] == [
        ("options.x1", "options.x2"),
        ("options.x1", "options.x3"),
        ("options.x2", "options.x3"),
    ]
    morris = wb.sensitivity(study(design={"morris": 4}), workers=1)
    assert list(morris.table.columns[4:]) == ["mean_size", "mean_size_low", "mean_size_high", "mean", "spread"]
    assert len(morris.pairs) == 0


def test_the_command_prints_tables_and_draws(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(study(design={"saltelli": {"base": 8}})))
    assert main(["explain", "sensitivity", "s.yaml", "--out", "r", "--workers", "1"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("64 points x 1 seed = 64 runs")
    (levers,) = re.findall(r"^lever +first +total\n(?:.+\n){3}", printed, re.MULTILINE)
    first, last = wb.sensitivity("s.yaml", "r", workers=1).table.iloc[[0, 2]].to_dict("records")
    assert with_limits(first["total"], first["total_low"], first["total_high"]) in levers.splitlines()[1]
    assert with_limits(last["first"], last["first_low"], last["first_high"]) in levers.splitlines()[3]
    assert printed.count("shares of its variance [95 % interval]") == printed.count("with  ")
    assert {path.name for path in (tmp_path / "r" / "figures").iterdir()} == {
        f"{name}.{kind}" for name in ("sensitivities", "interactions") for kind in ("pdf", "png", "csv")
    }
    assert main(["explain", "sensitivity", "s.yaml", "--out", "r", "--json", "--measure", "line"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert [row["lever"] for row in output["table"]] == ["options.x1", "options.x2", "options.x3"]


@pytest.mark.parametrize(
    ("changed", "words", "sentence"),
    [
        ({}, ["--measure", "z"], "unknown measure 'z'; there are hole, line, same, y."),
        (
            {"design": {"sobl": 8}},
            [],
            "unknown design 'sobl'; there are latin_hypercube, morris, random, saltelli, sobol",
        ),
        ({"design": None}, [], "options.x1 varies over a range without a design"),
        ({"options": {"x1": 1.0}}, [], "design has no range to draw from"),
        ({"options": {"x1": 1.0}, "design": None}, [], "sensitivity needs design: {saltelli: {base: 64}}"),
        ({}, ["--of", "gain"], "sensitivity of a gain needs a baseline"),
    ],
)
def test_the_command_refuses_in_one_sentence_and_leaves_nothing(
    tmp_path, monkeypatch, capsys, changed, words, sentence
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(study(**changed)))
    assert main(["explain", "sensitivity", "s.yaml", *words]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("workbench: s.yaml: ")
    assert sentence in output.err and output.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["s.yaml"]
