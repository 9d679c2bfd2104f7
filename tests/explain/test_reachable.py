"""A family of comparisons that cannot reach its level is said to be one before anything runs."""

import functools
import json

import pytest

import workbench as wb
from tests.house.test_sweeps import ROOT, SWEEPS, case
from workbench.cli.main import main
from workbench.statistics import compare, judge
from workbench.statistics.comparisons import Family, family_of

NAMED = {
    "pool/cache.yaml": 40,
    "pool/residency.yaml": 40,
    "pool/full_card.yaml": 40,
    "translation/kernels.yaml": 40,
    "dispatch/probe_accuracy.yaml": 40,
    "dispatch/unit_spread.yaml": 40,
}
"""Those that once had too few seeds."""


@pytest.mark.parametrize("comparisons", [1, 7, 40, 288])
def test_the_seeds_needed_are_the_fewest_with_which_the_clearest_data_are_decided(comparisons):
    def has_a_word(seeds):
        clearest = compare([k % 4 + 100.0 for k in range(seeds)], [k % 3 for k in range(seeds)])
        return judge(dict.fromkeys(range(comparisons), clearest))[0].side == "better"

    needed = Family(comparisons, 2).seeds_needed
    assert has_a_word(needed) and not has_a_word(needed - 1)
    assert Family(comparisons, needed).reaches and not Family(comparisons, needed - 1).reaches


@functools.cache
def planned_family(path):
    """The family of a shipped sweep, planned once for both tests."""
    return family_of(wb.plan(path))


@pytest.mark.slow
@pytest.mark.parametrize("path", map(case, SWEEPS))
def test_every_shipped_sweep_can_reach_its_level(path):
    family = planned_family(path)
    assert family.reaches, family.note


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seeds"), NAMED.items())
def test_the_six_that_could_not_have_the_seeds_they_need(name, seeds):
    family = planned_family(ROOT / "sweeps" / name)
    assert family.seeds == seeds >= family.seeds_needed


def test_plan_says_so(tmp_path, capsys):
    sweep = {
        "engine": "shared_memory",
        "workload": "bimodal",
        "policy": {"placement": {"vary": ["first_fit", "best_fit"]}},
        "baseline": {"placement": "first_fit"},
        "measures": ["drain_cycles", "wear_gini"],
        "seeds": 5,
    }
    file = tmp_path / "s.yaml"
    file.write_text(json.dumps(sweep))
    assert main(["plan", str(file)]) == 0
    note = "none of 2 comparisons can be decided at 5 seeds: the smallest corrected p is 0.28; it takes 8 seeds"
    assert note in capsys.readouterr().out
    assert main(["plan", str(file), "--json"]) == 0
    family = json.loads(capsys.readouterr().out)["family"]
    assert (family["comparisons"], family["reaches"], family["seeds_needed"]) == (2, False, 8)
    assert main(["plan", str(file), "--set", "seeds=8"]) == 0
    assert "can be decided" not in capsys.readouterr().out


def test_plan_says_how_many_seeds_would_tell_by_the_spread_of_the_runs_kept(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sweep = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 40}, "seeds": 20}
    sweep |= {"policy": {"placement": {"vary": ["first_fit", "worst_fit"]}}, "baseline": {"placement": "first_fit"}}
    (tmp_path / "s.yaml").write_text(json.dumps({**sweep, "measures": ["drain_cycles", "wait_mean_cycles"]}))
    assert main(["plan", "s.yaml"]) == 0
    assert "would tell" not in capsys.readouterr().out  # nothing is known of the spread
    results = wb.run("s.yaml", "results/s", workers=0)
    needed = results.summary()["seeds_needed"].max()
    assert main(["plan", "s.yaml"]) == 0
    message = (
        f"by the spread of the runs kept, {needed:,.0f} seeds would tell the least effect of every comparison that"
    )
    assert message in " ".join(capsys.readouterr().out.split())
    assert needed > 40


def test_one_seed_is_no_sample_and_makes_no_family():
    sweep = {"engine": "shared_memory", "workload": "bimodal", "measures": ["drain_cycles"]}
    sweep |= {"policy": {"placement": {"vary": ["first_fit", "best_fit"]}}, "baseline": {"placement": "first_fit"}}
    assert family_of(wb.plan({**sweep, "seeds": 1})) == Family(0, 1)
    assert family_of(wb.plan({**sweep, "seeds": 2})) == Family(1, 2)
