"""How many seeds the first plan of a results folder had: kept before the first row, and never changed."""

import json
import shutil

import pytest
import yaml

import workbench as wb
from tests.experiments.test_earlier_rows import DRAINED, FOLDER
from workbench.errors import InputError
from workbench.experiments.kept_points import kept_runs
from workbench.experiments.progress import Silent
from workbench.experiments.results_folder import write_own
from workbench.experiments.sweep import read_sweep

SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 5},
    "policy": {"placement": {"vary": ["first_fit", "best_fit"]}},
    "baseline": {"placement": "first_fit"},
    "measures": ["drain_cycles"],
}


def ran(folder, seeds, **more):
    """Return the planned count of results, of the opened folder, of its sweep and of its provenance."""
    results = wb.run({**SWEEP, **more, "seeds": seeds}, folder, workers=0)
    opened = wb.open_results(folder).plan.sweep.planned
    kept = yaml.safe_load((folder / "sweep.yaml").read_text()).get("planned")
    noted = json.loads((folder / "provenance.json").read_text()).get("planned")
    return results.plan.sweep.planned, opened, kept, noted


def test_the_first_plan_of_a_folder_stays(tmp_path):
    assert [ran(tmp_path / "r", seeds) for seeds in (4, 6, 2, 6)] == [(4, 4, 4, 4)] * 4
    assert wb.run({**SWEEP, "seeds": 4}, workers=0).plan.sweep.planned is None


def test_the_folders_own_sweep_goes_on_with_it(tmp_path):
    ran(tmp_path / "r", 4)
    again = wb.run(tmp_path / "r" / "sweep.yaml", tmp_path / "r", seeds=9, workers=0)
    assert again.plan.sweep.planned == 4


def test_it_is_written_before_the_first_row(tmp_path):
    class Watch(Silent):
        def begin(self, total, kept):
            seen.append(yaml.safe_load((tmp_path / "r" / "sweep.yaml").read_text())["planned"])

    seen = []
    wb.run({**SWEEP, "seeds": 4}, tmp_path / "r", workers=0, progress=Watch())
    assert seen == [4]


def test_a_run_that_was_stopped_has_planned_already(tmp_path):
    class Stops(Silent):
        def advance(self, row):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wb.run({**SWEEP, "seeds": 4}, tmp_path / "r", workers=0, progress=Stops())
    assert not (tmp_path / "r" / "provenance.json").exists()
    assert ran(tmp_path / "r", 8) == (4,) * 4


@pytest.mark.parametrize(
    ("second", "planned"),
    [
        ({"seeds": {"first": 50, "count": 7}}, 7),
        ({"seeds": 7, "policy": {"placement": "worst_fit"}, "baseline": {"placement": "next_fit"}}, 7),
        ({"seeds": {"first": 3, "count": 7}}, 4),
        ({"seeds": 7, "policy": {"placement": {"vary": ["first_fit", "worst_fit"]}}}, 4),
    ],
)
def test_seeds_or_points_that_nobody_has_seen_are_a_first_plan(tmp_path, second, planned):
    ran(tmp_path / "r", 4)
    assert ran(tmp_path / "r", **second) == (planned,) * 4


def test_a_sweep_may_say_it_and_the_folder_stays(tmp_path):
    assert ran(tmp_path / "r", 4, planned=40) == (40,) * 4
    assert ran(tmp_path / "r", 6, planned=50) == (40,) * 4
    assert read_sweep({**SWEEP, "planned": 40}).planned == 40


@pytest.mark.parametrize("planned", [0, -1, 2.5, True, "many", [10], 1_000_001])
def test_it_is_a_number_of_seeds(planned):
    with pytest.raises(InputError, match="planned must be"):
        read_sweep({**SWEEP, "planned": planned})


ADAPTIVE = {"until": {"measure": "drain_cycles", "half_width": "0.01 %", "at_most": 10, "batch": 5}}


def test_adaptive_seeds_have_none_and_forget_none(tmp_path):
    assert ran(tmp_path / "r", ADAPTIVE) == (None,) * 4
    assert ran(tmp_path / "fixed", 4)[0] == 4
    assert ran(tmp_path / "fixed", ADAPTIVE)[:2] == (None, None)
    assert ran(tmp_path / "fixed", 12) == (4,) * 4


def test_fixed_seeds_after_adaptive_ones_were_seen_at_their_end(tmp_path):
    seen = len(wb.run({**SWEEP, "seeds": ADAPTIVE}, tmp_path / "r", workers=0).seeds)
    assert ran(tmp_path / "r", 30) == (seen,) * 4


@pytest.mark.parametrize(("looks", "seeds", "planned"), [([6, 3], 8, 3), ([], 8, 8), (None, 8, 8)])
def test_a_folder_of_0_5_was_planned_at_its_smallest_look(tmp_path, looks, seeds, planned):
    """0.5 kept every count of seeds at which results were seen, and not which plan was the first."""
    wb.run({**SWEEP, "seeds": seeds}, tmp_path / "r", workers=0)
    path = tmp_path / "r" / "sweep.yaml"
    config = yaml.safe_load(path.read_text())
    del config["planned"]
    write_own(path, yaml.safe_dump(config if looks is None else {**config, "looks": looks}))
    assert ran(tmp_path / "r", 10) == (planned,) * 4
    assert "looks" not in path.read_text()


def test_a_folder_that_0_5_wrote_has_shown_results_at_its_seeds(tmp_path):
    """Its points have other ids, and are the same in all but digests of code."""
    folder = shutil.copytree(FOLDER, tmp_path / "kept")
    results = wb.run(folder / "sweep.yaml", folder, seeds=7, workers=0)
    assert results.plan.sweep.planned == len(DRAINED["first_fit"]) == 5


def test_the_looks_of_0_5_must_be_numbers_of_seeds():
    with pytest.raises(InputError, match="looks must be a list of numbers of seeds"):
        read_sweep({**SWEEP, "looks": [0]})


def test_a_bundle_carries_it(tmp_path):
    ran(tmp_path / "r", 2)
    results = wb.run({**SWEEP, "seeds": 4}, tmp_path / "r", workers=0)
    results.export(tmp_path / "bundle")
    (kept,) = (tmp_path / "bundle").rglob("sweep.yaml")
    assert yaml.safe_load(kept.read_text())["planned"] == 2


def test_estimand_is_no_key_any_more(tmp_path):
    with pytest.raises(InputError) as refused:
        read_sweep({**SWEEP, "estimand": "mean"})
    assert str(refused.value) == (
        "sweep: estimand is no key any more: verdicts are on size and direction now; delete `estimand: mean`."
    )


def test_a_folder_of_0_5_with_an_estimand_opens(tmp_path):
    ran(tmp_path / "r", 2)
    path = tmp_path / "r" / "sweep.yaml"
    write_own(path, path.read_text() + "estimand: mean\n")
    assert len(wb.open_results(tmp_path / "r").rows) == 4
    wb.run(path, tmp_path / "r", workers=0)
    assert "estimand" not in path.read_text()


def test_a_sweep_says_the_least_effect_that_matters(tmp_path):
    config = {
        **SWEEP,
        "seeds": 2,
        "measures": ["drain_cycles", "wear_gini"],
        "least_effect": {"drain_cycles": 5, "wear_gini": 0.02},
    }
    assert read_sweep(SWEEP).least_effect == {}
    assert read_sweep(config).least_effect == {"drain_cycles": 5.0, "wear_gini": 0.02}
    wb.run(config, tmp_path / "r", workers=0)
    assert wb.open_results(tmp_path / "r").plan.sweep.least_effect == {"drain_cycles": 5.0, "wear_gini": 0.02}


@pytest.mark.parametrize(
    ("least_effect", "sentence"),
    [
        (
            {"drain_cycle": 5},
            "sweep: least_effect: unknown measure 'drain_cycle'; there are .* Did you mean drain_cycles?",
        ),
        *(
            ({"drain_cycles": wrong}, r"sweep: least_effect.drain_cycles must be a number above 0, .* Got ")
            for wrong in (0, -1, True, "5", float("nan"), float("inf"), None)
        ),
        (
            [5],
            r"sweep: least_effect must be a mapping from measures to numbers, such as \{drain_cycles: 5\}. Got \[5\]",
        ),
    ],
)
def test_a_wrong_least_effect_is_refused(least_effect, sentence):
    with pytest.raises(InputError, match=sentence):
        read_sweep({**SWEEP, "least_effect": least_effect})


def test_a_measure_in_a_file_has_one_too(tmp_path):
    (tmp_path / "mine.py").write_text(
        'import workbench as wb\n\n@wb.measure(unit="cycles", better="lower", description="twice")\n'
        "def twice(record):\n    return 2.0\n"
    )
    named = f"{tmp_path}/mine.py:twice"
    for key in (named, "twice"):
        config = {**SWEEP, "measures": [named, "drain_cycles"], "least_effect": {key: 3, "drain_cycles": 2}}
        assert read_sweep(config).least_effect == {"twice": 3.0, "drain_cycles": 2.0}
        wb.run(config, tmp_path / key[-9:], workers=0)
        unread = kept_runs(tmp_path / key[-9:], "the file is a stranger's.")
        assert unread.plan.sweep.least_effect == {"twice": 3.0, "drain_cycles": 2.0}


def test_what_0_5_kept_is_not_shown_again_without_the_code(tmp_path):
    ran(tmp_path / "r", 4)
    path = tmp_path / "r" / "sweep.yaml"
    config = {key: value for key, value in yaml.safe_load(path.read_text()).items() if key != "planned"}
    write_own(path, yaml.safe_dump({**config, "looks": [2], "estimand": "mean"}))
    sweep = kept_runs(tmp_path / "r", "the file is a stranger's.").plan.sweep
    assert sweep.planned == sweep.config["planned"] == 2 and not {"looks", "estimand"} & sweep.config.keys()
