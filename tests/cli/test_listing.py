"""`workbench list policies | measures | figures | workloads | levers [NAME]`: all of a kind, or one in full."""

from __future__ import annotations

import json

import pytest

from workbench.cli.lever_words import declared_levers
from workbench.cli.main import main
from workbench.mechanisms.mechanism import mechanism, mechanisms
from workbench.workloads.generators import regimes


def printed(capsys, *words: str) -> str:
    assert main(["list", *words]) == 0
    return capsys.readouterr().out


def test_one_measure_is_shown_in_full(capsys):
    text = printed(capsys, "measures", "wait_p99_cycles")
    declared_there = mechanism("dispatch").measures["wait_p99_cycles"]
    assert f"wait_p99_cycles (dispatch, cycles, lower)\n    {declared_there.description}\n" in text
    assert "    in a sweep:\n        measures: [wait_p99_cycles]" in text
    assert "    of parts:\n" in text


def test_one_figure_is_shown_with_its_choices(capsys):
    text = printed(capsys, "figures", "layout_over_time")
    assert text.startswith("layout_over_time (runs, shared_memory)")
    assert "seed=" in text and "figures: [layout_over_time]" in text
    assert "workbench figure probe_success" in printed(capsys, "figures", "probe_success")
    assert "workbench tune STUDY.yaml" in printed(capsys, "figures", "lever_importances")


def test_one_generator_and_one_regime_are_shown_in_full(capsys):
    text = printed(capsys, "workloads", "random_workgroups")
    assert "count: whole number from 1 to" in text and "workload: {synthetic: random_workgroups}" in text
    text = printed(capsys, "workloads", "large_uniform")
    assert "    source:\n        spec 1, section 6" in text and "random_workgroups(" in text


@pytest.mark.parametrize("engine", mechanisms())
def test_the_name_of_an_engine_lists_its_workloads_and_measures(engine, capsys):
    rows = json.loads(printed(capsys, "workloads", engine, "--json"))["workloads"]
    kind = mechanism(engine).engine.workload_kind
    assert {row["gives"] for row in rows} == {kind} and {row["name"] for row in rows} >= {*regimes(kind)}
    assert "levers" not in rows[0] and len(printed(capsys, "workloads", engine).splitlines()) == 2 * len(rows)
    measures = json.loads(printed(capsys, "measures", engine, "--json"))["measures"]
    assert measures and {row["engine"] for row in measures} == {engine}


def test_the_name_of_an_engine_lists_its_figures_and_policies(capsys):
    figures = json.loads(printed(capsys, "figures", "dispatch", "--json"))["figures"]
    assert "dispatch_timeline" in {row["name"] for row in figures} and {row["engine"] for row in figures} == {
        "dispatch"
    }
    rows = json.loads(printed(capsys, "policies", "shared_memory", "--json"))["policies"]
    assert [*dict.fromkeys(row["question"] for row in rows)] == ["placement", "queue", "retry"]


def test_the_name_of_a_policy_shows_it_in_full(capsys):
    text = printed(capsys, "policies", "nearest_boundary")
    assert text.startswith("placement: nearest_boundary(")
    assert "    engines that ask placement:\n        shared_memory (policy.placement)\n" in text
    assert "        tie: one of low, high, alternate, default low: " in text
    assert "    in a sweep:\n        policy: {placement: nearest_boundary}\n" in text
    assert text.endswith("    source:\n        workbench.policies.placement.ends:NearestBoundary\n")


def test_a_policy_of_two_questions_is_shown_for_each(capsys):
    rows = json.loads(printed(capsys, "policies", "best_fit", "--json"))["policies"]
    assert [row["question"] for row in rows] == ["cache_fit", "placement"]
    assert rows[1]["engines"]["pool"] == ["driver"]


@pytest.mark.slow
def test_a_lever_is_shown_by_its_own_name_and_by_its_owner(capsys):
    text = printed(capsys, "levers", "tie")
    assert "tie (nearest_boundary, placement policy, one of low, high, alternate, default low)" in " ".join(
        text.split()
    )
    assert text.count("tie (") == len(declared_levers()["tie"])
    of_owner = json.loads(printed(capsys, "levers", "nearest_boundary", "--json"))["levers"]
    assert {row["of"] for row in of_owner} == {"nearest_boundary"}
    assert {"tie", "lut_bits"} <= {row["name"] for row in of_owner}


def test_every_lever_is_listed(capsys):
    rows = json.loads(printed(capsys, "levers", "--json"))["levers"]
    assert len(rows) == sum(map(len, declared_levers().values()))
    assert all(row["values"] and row["description"] is not None for row in rows)


def test_a_lever_of_a_file_of_ones_own_is_listed(capsys, tmp_path):
    file = tmp_path / "my_fit.py"
    file.write_text(
        "from workbench import lever\nfrom workbench.policies import Placement\n\n\n"
        "class MyFit(Placement):\n    '''Take the aimed-at start.'''\n\n"
        "    aim: float = lever(0.5, least=0, most=1, description='where to')\n\n"
        "    def answer(see):\n        return -1\n"
    )
    text = printed(capsys, "levers", str(file), "aim")
    assert "aim (my_fit, placement policy, number from 0 to 1, default 0.5, yours)" in text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["levers", "nearest_boundry"], "unknown lever 'nearest_boundry'; `workbench list levers` lists all"),
        (["policies", "best_fitt"], "unknown question, engine or policy 'best_fitt'; there are best_fit, "),
        (["policies", "placment"], "unknown question, engine or policy 'placment'; there are placement, "),
        (["presets", "mi355xx"], "there is no preset 'mi355xx'; nearest: mi355x, "),
        (["figures", "paretto"], "unknown figure 'paretto'; `workbench list figures` lists all"),
        (["measures", "drain_cycle"], "unknown measure 'drain_cycle'; `workbench list measures` lists all"),
    ],
)
def test_an_unknown_name_is_one_sentence_with_the_nearest(capsys, words, sentence):
    assert main(["list", *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"workbench: {sentence}") and "Did you mean" in error
    assert error.count("\n") == 1
