"""`vary: {front: FOLDER}` puts the front of a study into a sweep, and the kept sweep holds its points itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import workbench as wb
from tests.experiments.sweep_validator import sweep_validator
from workbench.errors import InputError
from workbench.experiments.fronts import front_diff
from workbench.experiments.results import Results
from workbench.experiments.saved_results import resolved

FRONT = {
    "engine": "shared_memory",
    "machine": {"segments": {"vary": [32, 64], "zip": "front"}, "clock_mhz": 777},
    "workload": "large_uniform",
    "policy": {
        "placement": {"vary": ["best_fit", {"nearest_boundary": {"tie": "high"}}], "zip": "front"},
        "queue": {"fifo_lookahead": {"k": 3}},
    },
    "seeds": {"first": 100, "count": 3},
}
NEXT: dict[str, Any] = {
    "engine": "shared_memory",
    "workload": "small_uniform",
    "measures": ["drain_cycles"],
    "baseline": {"placement": "first_fit"},
    "seeds": 6,
}


def study(folder: Path, front: dict[str, Any] | None = None) -> Path:
    """A results folder as a study leaves it, as far as a sweep reads it."""
    folder.mkdir(parents=True)
    (folder / "study.yaml").write_text("engine: shared_memory\n")
    if front is not None:
        (folder / "sweep.yaml").write_text(yaml.safe_dump(front))
    return folder


@pytest.fixture
def tuned(tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    study(tmp_path / "tuned", FRONT)
    return "tuned"


def setups(sweep: dict[str, Any]) -> list[tuple[int, str, str]]:
    points = [point for point in wb.plan(sweep).points if point.baseline is not None]
    return [
        (p.setup.machine.segments, *(p.setup.policies[slot].short() for slot in ("placement", "queue"))) for p in points
    ]


def test_all_levers_of_a_point_step_together_and_what_was_fixed_comes_along(tuned):
    rows = setups({**NEXT, "vary": {"front": tuned}})
    assert rows == [
        (32, "best_fit", "fifo_lookahead(k=3)"),
        (64, "nearest_boundary(tie=high)", "fifo_lookahead(k=3)"),
    ]
    machine = wb.plan({**NEXT, "vary": {"front": tuned}}).points[0].setup.machine
    assert machine.clock_mhz == 777


def test_what_the_sweep_says_of_what_was_fixed_holds_and_choices_multiply(tuned):
    sweep = {**NEXT, "vary": {"front": tuned}, "policy": {"queue": {"vary": ["fifo_head_only", "fifo_lookahead"]}}}
    assert [(a, b) for a, b, _ in setups(sweep)] == [(32, "best_fit")] * 2 + [(64, "nearest_boundary(tie=high)")] * 2
    assert {queue for *_, queue in setups(sweep)} == {"fifo_head_only", "fifo_lookahead"}


def test_a_preset_takes_the_levers_of_the_front(tuned):
    points = wb.plan({**NEXT, "vary": {"front": tuned}, "machine": "h100"}).points
    assert {point.setup.machine.segments for point in points} == {32, 64}
    assert 777 not in {point.setup.machine.clock_mhz for point in points}


def test_one_slot_alone_can_take_what_its_front_chose_beside_others(tuned):
    choices = {"vary": ["worst_fit", {"vary": {"front": tuned}}]}
    rows = setups({**NEXT, "policy": {"placement": choices}, "machine": {"segments": 128}})
    assert [placement for _, placement, _ in rows] == ["worst_fit", "best_fit", "nearest_boundary(tie=high)"]
    assert {segments for segments, *_ in rows} == {128}


def test_two_places_that_name_one_front_step_together(tuned):
    each = {"vary": {"front": tuned}}
    rows = setups({**NEXT, "policy": {"placement": each}, "machine": {"segments": each}})
    assert [row[:2] for row in rows] == [(32, "best_fit"), (64, "nearest_boundary(tie=high)")]


def test_a_folder_beside_the_sweep_comes_before_one_of_the_current_folder(tuned, tmp_path):
    nearer = {**FRONT, "policy": {"placement": {"vary": ["last_fit"], "zip": "front"}}, "machine": {"segments": 16}}
    study(tmp_path / "sweeps" / "tuned", nearer)
    file = tmp_path / "sweeps" / "next.yaml"
    file.write_text(yaml.safe_dump({**NEXT, "vary": {"front": tuned}}))
    assert [point.setup.policies["placement"].name for point in wb.plan(file).points] == ["last_fit", "first_fit"]


def test_the_kept_sweep_holds_the_points_and_a_later_study_changes_nothing_in_it(tuned, tmp_path):
    sweep = {**NEXT, "vary": {"front": tuned}}
    before = wb.plan(sweep)
    kept = resolved(Results(before, ()))
    later = {**FRONT, "policy": {**FRONT["policy"], "placement": {"vary": ["last_fit", "best_fit"], "zip": "front"}}}
    (tmp_path / tuned / "sweep.yaml").write_text(yaml.safe_dump(later))
    assert [point.id for point in wb.plan(kept).points] == [point.id for point in before.points]
    assert "front of tuned" in str(kept)
    now = resolved(Results(wb.plan(sweep), ()))
    assert front_diff(kept, now) == (
        "the front of tuned is another than when this folder was run: 2 points are new, 2 are gone."
    )
    assert front_diff(kept, kept) is None


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"vary": "tuned"}, "sweep: vary must be {front: FOLDER}, the results folder of a study. Got 'tuned'."),
        ({"vary": {"front": 3}}, "sweep: vary must be {front: FOLDER}"),
        ({"vary": {"front": "tuned", "best": True}}, "sweep: vary must be {front: FOLDER}"),
        (
            {"vary": {"front": "tune"}},
            "sweep: vary.front: there is no folder tune; tune first: workbench tune STUDY --out tune",
        ),
        (
            {"vary": {"front": "plain"}},
            "sweep: vary.front: plain is no results folder of a tuning study: it has no study.yaml.",
        ),
        (
            {"vary": {"front": "none"}},
            "the study none has no front: every trial failed or breaks a constraint (none/trials.csv",
        ),
        ({"vary": {"front": "young"}}, "sweep: vary.front: the study young has no front: tune it to its end."),
        ({"vary": {"front": "other"}}, "sweep: vary.front: other is a study of dispatch, and this sweep is of shared"),
        ({"vary": {"front": "broken"}}, "broken: its sweep.yaml is not the front of a study; tune it again."),
        (
            {"vary": {"front": "tuned"}, "policy": {"placement": "best_fit"}},
            "sweep: policy.placement is said by the sweep and by the front of tuned; leave one of them out.",
        ),
        (
            {"vary": {"front": "tuned"}, "machine": {"vary": ["h100", "mi355x"]}},
            "leaves no place for the front; vary over it where it stands, machine.segments: {vary: {front: tuned}}.",
        ),
        (
            {"policy": {"queue": {"vary": {"front": "tuned"}}}},
            "sweep: policy.queue.vary.front: the study tuned tuned machine.segments, policy.placement; write it there.",
        ),
        (
            {"policy": {"placement": {"vary": {"front": "tuned"}, "zip": "mine"}}},
            "sweep: policy.placement.vary.front takes no zip: the levers of its points step together by themselves.",
        ),
    ],
)
def test_a_front_that_cannot_be_taken_is_refused_in_one_sentence(tuned, tmp_path, changed, sentence):
    (tmp_path / "plain").mkdir()
    study(tmp_path / "young")
    (study(tmp_path / "none") / "trials.csv").write_text("trial")
    study(tmp_path / "other", {**FRONT, "engine": "dispatch"})
    study(tmp_path / "broken", {**FRONT, "policy": {"placement": "best_fit"}, "machine": {}})
    with pytest.raises(InputError) as refused:
        wb.plan({**NEXT, **changed})
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_schema_takes_a_front_for_the_sweep_and_at_a_lever():
    sweep_validator().validate({**NEXT, "vary": {"front": "tuned"}})
    sweep_validator().validate({**NEXT, "policy": {"placement": {"vary": {"front": "tuned"}}}})
    with pytest.raises(Exception, match="is not valid under any"):
        sweep_validator().validate({**NEXT, "vary": {"front": 3}})
