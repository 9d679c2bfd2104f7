"""The search space of a study file: what is an axis, what stays fixed, what is refused."""

import pytest

from tests.tuning.small import FailsWhenWide, small
from workbench.errors import InputError
from workbench.tuning import read_study
from workbench.tuning.space import dimensions, draw


def axes(**policy):
    return [d.path for d in dimensions(read_study(small(policy=policy)).space)]


def drawn(study, **answers):
    return draw(read_study(study).space, lambda d: answers.get(d.path.rsplit(".", 1)[-1], d.start))


def test_a_policy_named_alone_has_all_its_levers_tuned():
    assert axes(placement={"tune": ["first_fit", "ring_buffer"]}) == [
        "policy.placement",
        "policy.placement.ring_buffer.at_end",
        "policy.placement.ring_buffer.when_empty",
    ]


def test_a_policy_with_a_mapping_has_those_tuned_that_it_says():
    assert axes(placement={"tune": [{"ring_buffer": {"at_end": "wraps"}}, "first_fit"]}) == ["policy.placement"]
    assert axes(placement={"ring_buffer": {"at_end": {"tune": True}}}) == ["policy.placement.ring_buffer.at_end"]
    assert len(axes(placement={"ring_buffer": {"tune": True}})) == 2


def test_tune_true_at_a_question_is_every_policy_of_it():
    axis = axes(queue={"tune": True})
    assert axis[0] == "policy.queue"
    assert "policy.queue.fifo_lookahead.k" in axis


def test_a_policy_within_a_policy_is_a_choice_too():
    inner = {"compaction": {"base": {"tune": ["first_fit", "best_fit"]}}}
    assert axes(placement=inner) == [
        "policy.placement.compaction.base",
        "policy.placement.compaction.base.best_fit.tie",
    ]


DISPATCH = {
    "engine": "dispatch",
    "machine": "patent_dispatch",
    "workload": {"synthetic": "random_groups", "count": 40},
    "objectives": ["makespan_cycles"],
    "sampler": "random",
}


def test_entries_of_a_list_are_axes_of_their_own():
    policy = {"priority": {"priority_windows": {"lengths": [{"tune": {"least": 4, "most": 8}}, 3, 2, 1]}}}
    study = {**DISPATCH, "policy": policy}
    (axis,) = dimensions(read_study(study).space)
    assert (axis.path, axis.kind, axis.least, axis.most) == (
        "policy.priority.priority_windows.lengths[0]",
        "integer",
        4,
        8,
    )
    assert drawn(study)["policy"]["priority"] == {"priority_windows": {"lengths": [4, 3, 2, 1]}}


def test_policies_in_a_list_are_choices_with_their_levers():
    inner = [
        {"tune": ["most_residual", "best_fit_module"]},
        {"least_recent_energy": {"nx": {"tune": {"values": [64, 128]}}}},
    ]
    weighted = {"choices": inner, "weights": [1, {"tune": {"least": 0, "most": 4}}]}
    study = {**DISPATCH, "policy": {"choice": {"weighted_choice": weighted}}}
    stem = "policy.choice.weighted_choice"
    assert [axis.path for axis in dimensions(read_study(study).space)] == [
        f"{stem}.choices[0]",
        f"{stem}.choices[0].most_residual.normalise",
        f"{stem}.choices[0].most_residual.of",
        f"{stem}.choices[1].least_recent_energy.nx",
        f"{stem}.weights[1]",
    ]
    message = draw(read_study(study).space, lambda axis: axis.start)["policy"]["choice"]["weighted_choice"]
    assert message["weights"] == [1, 0.5]
    assert message["choices"][1] == {"least_recent_energy": {"nx": 64}}


def test_a_slot_may_follow_another():
    study = {**DISPATCH, "policy": {"shared_placement": {"tune": ["placement", "first_fit"]}}}
    (axis,) = dimensions(read_study(study).space)
    assert axis.values == ("placement", "first_fit")
    with pytest.raises(InputError, match="unknown placement policy 'placement'"):
        read_study({**DISPATCH, "policy": {"placement": {"tune": ["placement", "first_fit"]}}})


def test_a_list_as_a_whole_has_no_range():
    windows = {"priority_windows": {"lengths": {"tune": {"least": 1}}}}
    with pytest.raises(InputError, match=r"or tune its entries, \[{tune: {least: , most: }}, ...\]"):
        read_study({**DISPATCH, "policy": {"priority": windows}})


def test_machine_and_options_have_axes_too():
    study = small(
        machine={"preset": "mi355x", "segments": {"tune": {"values": [64, 128]}}}, options={"allocs_per_cycle": 2}
    )
    assert drawn(study, segments=64)["machine"] == {"preset": "mi355x", "segments": 64}
    study = small(options={"same_cycle_order": {"tune": True}, "latency_cycles": {"tune": {"most": 8}}})
    message = drawn(study, same_cycle_order="allocate_first")
    assert message["options"] == {"same_cycle_order": "allocate_first", "latency_cycles": 0}
    assert {d.path for d in dimensions(read_study(small(options={"tune": True})).space)} >= {"options.allocs_per_cycle"}


def test_a_draw_asks_only_for_what_matters():
    requests = []
    draw(read_study(small()).space, lambda d: requests.append(d.path) or d.start)
    assert requests == ["policy.placement", "policy.queue"]


def test_policies_of_a_notebook_are_candidates_like_any_other():
    study = small(policy={"placement": {"tune": [FailsWhenWide, "first_fit"]}})
    assert drawn(study, placement="fails_when_wide", shift=1)["policy"] == {
        "placement": {"fails_when_wide": {"shift": 1}}
    }
    fixed = small(policy={"placement": {"tune": [FailsWhenWide(shift=1), "first_fit"]}})
    assert drawn(fixed)["policy"] == {"placement": FailsWhenWide(shift=1)}


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (
            {"workload": {"regime": "bimodal", "count": {"tune": True}}},
            "workload.count: tune has no place here: the wor",
        ),
        (
            {"policy": {"placement": {"vary": ["first_fit"]}}},
            "policy.placement: vary has no place here: a study choose",
        ),
        ({"policy": {"placement": {"tune": ["bestfit"]}}}, "unknown placement policy 'bestfit'"),
        ({"policy": {"placement": {"tune": []}}}, "policy.placement.tune must be true or a list of placement policies"),
        ({"policy": {"placement": {"tune": ["best_fit", {"best_fit": {"tie": "low"}}]}}}, "names best_fit twice"),
        (
            {"policy": {"placement": {"tune": [{"best_fit": {"tye": "low"}}]}}},
            "'tye'; there are tie. Did you mean tie?",
        ),
        (
            {"policy": {"placement": {"best_fit": {"tie": {"tune": ["middle"]}}}}},
            "policy.placement.best_fit.tie.tune[0]",
        ),
        (
            {"policy": {"placement": {"size_segregated_ends": {"threshold": {"tune": [0, 31]}}}}},
            "policy.placement.size_segregated_ends.threshold.tune must say what two numbers mean: {tune: {least: 0",
        ),
        (
            {"machine": {"segments": {"tune": [64, 128]}}},
            "machine.segments.tune must say what two numbers mean: {tune: {least: 64, most: 128}} is a range,",
        ),
        ({"policy": {"queueing": {"tune": True}}}, "unknown key policy. 'queueing'"),
        ({"policy": {"placement": "first_fit"}}, "nothing is tuned"),
        ({"options": {"allocs": {"tune": True}}}, "options: unknown key 'allocs'"),
        ({"machine": {"segment": {"tune": [2]}}}, "machine: unknown key 'segment'"),
        ({"options": {"tune": [1]}}, "options.tune must be true, which tunes every lever. Got [1]."),
    ],
)
def test_what_is_no_search_space_is_one_sentence(changed, sentence):
    with pytest.raises(InputError) as refused:
        read_study(small(**changed))
    assert sentence in str(refused.value)
    assert str(refused.value).startswith("study: ")
    assert "\n" not in str(refused.value)
