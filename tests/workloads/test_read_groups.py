"""The key `workload:` of a sweep file for an engine that serves groups, and workloads of the wrong kind."""

import re
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import ANYTHING, refusal
from tests.workloads.test_group_file import HEADER, ROW
from workbench.experiments.schema import written_once
from workbench.levers import lever
from workbench.machine import Machine, read_machine
from workbench.streams import Streams
from workbench.workloads.generators import generators, regimes
from workbench.workloads.group_file import GroupFile
from workbench.workloads.synthetic.random_groups import RandomGroups, RandomWorkgroups
from workbench.workloads.trace_groups import TraceGroups
from workbench.workloads.trace_workgroups import TraceWorkgroups
from workbench.workloads.workgroup_file import WorkgroupFile
from workbench.workloads.workload import Generator
from workbench.workloads.workload_key import read_workload, workload_schema

WRITTEN = [
    "random_groups",
    *regimes("groups"),
    {"synthetic": "random_groups", "waves": {"uniform": [1, 8]}, "priority": {"empirical": [1, 2]}},
    {"synthetic": "random_groups", "shared_segments": {"sometimes": {"law": 4}}, "arrival": {"bursts": [8, 1.1]}},
    {"synthetic": "random_groups", "further": [{"label": "tickets", "blocks": {"uniform": [1, 2]}}]},
    {"synthetic": "random_groups", "instructions": {"instruction_mix": {"mixes": [{"load": 5}]}}},
    {"synthetic": "random_groups", "instructions": {"instruction_laws": {"load": {"correlated": {}}}}},
    {"regime": "stuck", "count": 10, "independent": 0.5},
    {"trace": "hta_a100_alexnet", "priorities": [1, 2], "windows": 4, "unrecorded": "none"},
    {"synthetic": "random_groups", **RandomGroups().plain()},
    {"synthetic": "waiting_kernels", "barrier": "kernel", "grid": {"uniform": [1, 8]}},
]


VALIDATORS = {
    wants: jsonschema.Draft202012Validator(written_once(workload_schema(wants))) for wants in ("groups", "workgroups")
}


def read(given, where="", folder=None):
    return read_workload(given, "workload", where, folder, "groups")


def test_there_are_the_regimes_that_the_hypotheses_name():
    assert set(regimes("groups")) == {
        "mixed",
        "saturation",
        "head_of_line",
        "starvation",
        "stuck",
        "concurrent_kernels",
        "large_groups",
    }
    assert not set(regimes("groups")) & set(regimes("workgroups"))
    assert regimes("pages") == {}


@pytest.mark.parametrize("given", WRITTEN, ids=lambda given: str(given)[:60])
def test_what_the_schema_takes_the_reader_takes_and_what_it_reads_is_read_back(given):
    VALIDATORS["groups"].validate(given)
    result = read(given)
    assert result.gives("groups")
    assert read({result.name: result.plain()}) == result


def test_a_file_is_a_group_file_wherever_it_lies(tmp_path):
    (tmp_path / "jobs.csv").write_text(HEADER + ROW)
    result = read({"file": "jobs.csv"}, folder=tmp_path)
    assert (type(result), Path(result.file), result.sha256) == (
        GroupFile,
        tmp_path / "jobs.csv",
        result.content().sha256,
    )
    assert read({"group_file": result.plain()}) == result
    VALIDATORS["groups"].validate({"file": "jobs.csv"})
    message = refusal(read_workload, {"file": "jobs.csv"}, "workload", "a.yaml", tmp_path)
    assert message.startswith(
        f"a.yaml: workload.file: {tmp_path / 'jobs.csv'}: the first line must name the columns arrival,"
    )


FITTING_GROUPS = "there are group_file, random_groups, trace_blocks, trace_groups, waiting_kernels."
FITTING_WORKGROUPS = "there are random_workgroups, trace_workgroups, workgroup_file."


@pytest.mark.parametrize(
    ("given", "wants", "says"),
    [
        (
            "bimodal",
            "groups",
            "workload: regime bimodal gives workgroups where the engine serves groups; there are concurrent_kernels, "
            "head_of_line, large_groups, mixed, saturation, starvation, stuck.",
        ),
        (
            {"regime": "large_groups"},
            "workgroups",
            "workload.regime: regime large_groups gives groups where the engine serves workgroups; there are bimodal, "
            "large_uniform, medium_uniform, power_of_two, small_uniform. Did you mean large_uniform?",
        ),
        (
            {"synthetic": "random_workgroups", "size": 3},
            "groups",
            "workload.synthetic: generator random_workgroups gives workgroups where the engine serves groups; there "
            "are random_groups, waiting_kernels. Did you mean random_groups?",
        ),
        (
            "random_groups",
            "workgroups",
            "workload.synthetic: generator random_groups gives groups where the engine serves workgroups; there are "
            "random_workgroups. Did you mean random_workgroups?",
        ),
        (RandomWorkgroups, "groups", "workload: random_workgroups gives workgroups where the engine serves groups; "),
        (RandomGroups(), "workgroups", "workload: random_groups gives groups where the engine serves workgroups; "),
        (
            {"workgroup_file": {"file": "a.csv"}},
            "groups",
            "workload: workgroup_file gives workgroups where the engine serves groups; "
            f"{FITTING_GROUPS} Did you mean group_file?",
        ),
        (
            {"trace_groups": {"trace": "x"}},
            "workgroups",
            "workload: trace_groups gives groups where the engine serves workgroups; "
            f"{FITTING_WORKGROUPS} Did you mean trace_workgroups?",
        ),
        ("random_group", "groups", "workload: unknown workload 'random_group'; there are concurrent_kernels,"),
        (
            {"synthetic": "random_group"},
            "groups",
            "workload.synthetic: unknown generator 'random_group'; there are random_groups, waiting_kernels. "
            "Did you mean",
        ),
    ],
    ids=lambda given: str(given)[:60],
)
def test_a_workload_of_the_wrong_kind_is_refused_with_those_that_fit(given, wants, says):
    message = refusal(read_workload, given, "workload", "a.yaml", None, wants)
    assert _without_those_of_tests(message).startswith(f"a.yaml: {says}")
    assert not isinstance(given, (str, dict)) or not VALIDATORS[wants].is_valid(given)


def _without_those_of_tests(message):
    """A sentence without the generators that other tests of this process define."""
    for name in [name for name, cls in Generator.members.items() if not cls.built_in]:
        message = re.sub(rf"\b{name}, |, {name}\b", "", message)
    return message


def test_each_kind_is_named_by_the_method_that_it_answers():
    kinds = {cls.name: (cls.gives("workgroups"), cls.gives("groups")) for cls in (WorkgroupFile, GroupFile)}
    kinds |= {cls.name: (cls.gives("workgroups"), cls.gives("groups")) for cls in (TraceWorkgroups, TraceGroups)}
    assert kinds == {
        "workgroup_file": (True, False),
        "group_file": (False, True),
        "trace_workgroups": (True, False),
        "trace_groups": (False, True),
    }


def test_a_generator_of_ones_own_may_serve_both_engines():
    class BothKinds(Generator):
        """Three of each."""

        count: int = lever(3, least=1, most=9, description="how many there are")

        def workgroups(self, machine, streams):
            return RandomWorkgroups(count=self.count).workgroups(machine, streams)

        def groups(self, machine, streams):
            return RandomGroups(count=self.count).groups(machine, streams)

    try:
        assert {"both_kinds"} <= set(generators("groups")) & set(generators("workgroups"))
        for wants in ("groups", "workgroups"):
            workload = read_workload({"synthetic": "both_kinds"}, wants=wants)
            assert len(getattr(workload, wants)(Machine(), Streams(1)).arrival) == 3
    finally:
        del Generator.members["both_kinds"]


KEYS = [
    "synthetic",
    "regime",
    "file",
    "trace",
    "count",
    "waves",
    "grid",
    "arrival",
    "random_groups",
    "windows",
    "further",
]
NAMES = ["random_groups", "random_workgroups", "stuck", "bimodal", "uniform", "jobs.csv", "correlated", "sometimes"]
WORKLOADS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(NAMES) | ANYTHING, max_size=4)


@given(ANYTHING | WORKLOADS)
def test_any_junk_is_a_workload_or_is_refused_in_one_line(value):
    message = refusal(read, value, "a.yaml")
    assert message.startswith("a.yaml: workload") or not message


def test_a_longer_regime_is_the_same_regime():
    longer = read({"regime": "mixed", "count": 9})
    assert longer == regimes("groups")["mixed"].workload.but(count=9)
    assert len(longer.groups(read_machine("mi300x"), Streams(0)).waves) == 9
