"""A study file is checked whole before anything runs."""

import pytest

from tests.tuning.small import small
from workbench.errors import InputError
from workbench.tuning import read_study, tune
from workbench.tuning.space import dimensions


def test_the_shipped_study_is_valid_and_runs(tmp_path):
    results = tune(
        "sweeps/tune/placement.yaml",
        tmp_path / "out",
        4,
        set={
            "sampler.nsga2.population": 2,
            "seeds": 1,
            "workload": {"regime": "bimodal", "count": 40},
            "holdout_seeds": 2,
        },
    )
    assert len(results.trials) == 4
    assert results.pareto.best.any()
    assert not results.any_failed


def test_the_shipped_study_of_the_node_proposes_no_cache_that_asks_for_parts_of_pages():
    """Levers of `split_and_coalesce` that were all tuned made seven of the first eight runs fail."""
    tuned = [one.path for one in dimensions(read_study("sweeps/tune/node.yaml").space)]
    assert [path for path in tuned if path.startswith("policy.cache")] == ["policy.cache"]


def test_the_direction_comes_from_the_measure_unless_the_study_says_it():
    study = read_study(
        small(objectives=["drain_cycles", "first_try_rate", {"measure": "wear_cv", "direction": "maximize"}])
    )
    assert [one.direction for one in study.objectives] == ["minimize", "maximize", "maximize"]


def test_every_argument_of_the_sampler_is_written_down():
    study = read_study(small(sampler="tpe"))
    assert study.sampler.plain() == {
        "seed": 0,
        "startup": 10,
        "candidates": 24,
        "multivariate": True,
        "grouped": True,
        "together": 1,
    }


@pytest.mark.parametrize("objectives", [["drain_cycles"], ["drain_cycles", "mean_external_fragmentation"]])
def test_a_study_without_a_sampler_is_proposed_by_tpe_with_its_own_first_seed(objectives):
    given = {"sampler": {"tpe": {"seed": 7}}, "objectives": objectives, "seeds": [7, 40], "trials": 12}
    named, unnamed = (tune(small(**{**given, "sampler": one})) for one in (given["sampler"], None))
    assert unnamed.trials.equals(named.trials)
    assert unnamed.study.config["sampler"] == {"tpe": named.study.sampler.plain()}


def test_a_study_without_a_sampler_goes_on_from_its_folder(tmp_path):
    whole = tune(small(sampler=None, trials=12))
    tune(small(sampler=None, trials=12), tmp_path / "out", 5)
    assert tune(tmp_path / "out" / "study.yaml", tmp_path / "out", 12).trials.equals(whole.trials)


def test_holdout_seeds_are_fresh_by_themselves():
    study = read_study(small(holdout_seeds=None, report_seeds=None))
    assert (study.holdout_seeds, study.report_seeds) == (list(range(2, 22)), list(range(22, 222)))
    assert study.report_by_spread
    study = read_study(small(seeds=[7, 40], holdout_seeds=2, report_seeds={"most": 3}))
    assert (study.holdout_seeds, study.report_seeds) == ([41, 42], [43, 44, 45])
    study = read_study(small(report_seeds={"first": 200, "count": 2}))
    assert study.report_seeds == [200, 201] and not study.report_by_spread


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"objectives": None}, "study: the key objectives is missing"),
        (
            {"sampler": "annealing"},
            "study: sampler: unknown sampler 'annealing'; there are cmaes, gp, nsga2, nsga3, qmc, random, tpe.",
        ),
        ({"sampler": {"nsga2": {"populaton": 4}}}, "Did you mean population?"),
        ({"sampler": {"nsga2": {"population": 1}}}, "study: sampler.nsga2.population must be a whole number from 2"),
        ({"objectives": ["drain_cycle"]}, "study: objectives[0]: unknown measure 'drain_cycle'"),
        ({"objectives": []}, "study: objectives must be a list of at least one measure. Got []."),
        ({"objectives": ["wear_cv", "wear_cv"]}, "study: objectives must be different measures."),
        (
            {"objectives": [{"measure": "wear_cv", "direction": "down"}]},
            "objectives[0].direction must be minimize or max",
        ),
        ({"objectives": ["low_end_share"]}, "for low_end_share is neither better low nor high. Got None."),
        ({"objectives": [{"measure": "wear_cv", "goal": 1}]}, "study: objectives[0]: unknown key 'goal'"),
        (
            {"sampler": "cmaes"},
            "study: sampler cmaes serves one objective. Got 2; nsga2, nsga3, tpe, gp, qmc and random",
        ),
        (
            {
                "sampler": "cmaes",
                "objectives": ["wear_cv"],
                "policy": {"placement": {"tune": ["first_fit", "last_fit"]}},
            },
            "study: sampler cmaes moves numbers, and only choices are tuned;",
        ),
        (
            {"sampler": "cmaes", "objectives": ["wear_cv"], "constraints": {"drain_cycles": {"most": 9}}},
            "study: sampler cmaes does not mind constraints; nsga2, nsga3, tpe and gp do.",
        ),
        ({"constraints": {"drain_cycle": {"most": 9}}}, "study: constraints: unknown measure 'drain_cycle'"),
        (
            {"constraints": {"drain_cycles": {"max": 9}}},
            "constraints.drain_cycles: unknown key 'max'; there are least, m",
        ),
        ({"constraints": {"drain_cycles": 9}}, "constraints.drain_cycles must be {most: }, {least: } or both. Got 9."),
        ({"constraints": {"drain_cycles": {"most": "9"}}}, "constraints.drain_cycles.most must be a number. Got '9'."),
        ({"constraints": {"wear_cv": {"least": 3, "most": 2}}}, "leaves nothing: least is 3 and most is 2."),
        ({"constraints": ["wear_cv"]}, "study: constraints must be a mapping of measures, {NAME: {most: }}."),
        ({"pruning": {"after": 2}}, "study: pruning.after must be less than seeds (2). Got 2. Nearest: 1."),
        ({"pruning": {"afer": 1}}, "study: pruning: unknown key 'afer'; there are after, margin. Did you mean after?"),
        ({"storage": "mysql://a:secret@b/c"}, "study: storage must be sqlite:///FILE or postgresql://USER@HOST/BASE"),
        ({"storage": "sqlite://x.db"}, "study: storage: an SQLite file is named after three slashes: sqlite:///x.db"),
        ({"storage": {"ulr": "sqlite:///x"}}, "study: storage: unknown key 'ulr'"),
        ({"trials": 0}, "study: trials must be a whole number from 1 to 1000000. Got 0."),
        ({"trial": 3}, "study: unknown key 'trial'"),
        ({"figures": ["pareto"]}, "study: unknown key 'figures'"),
        ({"holdout_seeds": [1, 5]}, "study: holdout_seeds must be fresh: seed 1 is tuned on."),
        ({"report_seeds": [1]}, "study: report_seeds must be fresh: seed 1 is tuned on."),
        ({"report_seeds": [99, 100]}, "study: report_seeds must be fresh: seed 100 is one of holdout_seeds."),
        ({"holdout_seeds": {"frist": 3}}, "holdout_seeds"),
        ({"report_seeds": {"most": 0}}, "study: report_seeds must be seeds, or {most: N} with N a whole number from 1"),
        ({"report_seeds": {"most": 3, "first": 2}}, "study: report_seeds must be seeds, or {most: N}"),
        ({"engine": "shared"}, "study: unknown engine 'shared'"),
        ({"baseline": {"placement": "firstfit"}}, "unknown placement policy 'firstfit'"),
        ({"machine": {"segments": 8}}, "segments"),
    ],
)
def test_what_is_no_study_is_one_sentence_and_writes_nothing(tmp_path, changed, sentence):
    with pytest.raises(InputError) as refused:
        tune(small(**changed), tmp_path / "out")
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "out").exists()
