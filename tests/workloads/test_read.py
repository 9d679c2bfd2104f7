"""The key `workload:` of a sweep file in all its forms, and what is said about the wrong ones."""

import functools
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import ANYTHING, refusal
from workbench.machine import read_machine
from workbench.streams import Streams
from workbench.workloads.generators import generators, regimes
from workbench.workloads.synthetic.laws import Bimodal, Exponential, PowersOfTwo, Uniform
from workbench.workloads.synthetic.random_groups import RandomWorkgroups
from workbench.workloads.workgroup_file import WorkgroupFile
from workbench.workloads.workload_key import read_workload, workload_schema

PILOT = {  # spec 1, section 6, the table of the pilot, row by row
    "large_uniform": (Uniform(low=1, high=64), Uniform(low=1, high=100)),
    "medium_uniform": (Uniform(low=1, high=32), Uniform(low=1, high=100)),
    "bimodal": (Bimodal(small_share=0.7, small=[1, 4], large=[16, 32]), Uniform(low=1, high=100)),
    "power_of_two": (PowersOfTwo(low=1, high=64), Uniform(low=1, high=200)),
    "small_uniform": (Uniform(low=1, high=16), Uniform(low=1, high=200)),
}


@pytest.mark.parametrize("name", PILOT)
def test_a_regime_is_its_row_of_the_pilot(name):
    size, duration = PILOT[name]
    assert read_workload(name) == RandomWorkgroups(count=300, size=size, duration=duration, arrival="all_at_once")
    assert regimes()[name].source.startswith("spec 1, section 6, pilot")
    drawn = regimes()[name].workload.workgroups(read_machine(regimes()[name].machine), Streams(0))
    assert (len(drawn.length), drawn.arrival.max()) == (300, 0)


def test_there_are_no_other_regimes():
    assert set(regimes()) == set(PILOT)
    assert {read_machine(regime.machine).segments for regime in regimes().values()} == {128}


@pytest.mark.parametrize(
    ("given", "workload"),
    [
        ({"synthetic": "random_workgroups"}, RandomWorkgroups()),
        ({"synthetic": "random_workgroups", "count": 10, "size": 4}, RandomWorkgroups(count=10, size=4)),
        (
            {
                "synthetic": "random_workgroups",
                "count": 1000,
                "size": {"uniform": [1, 16]},
                "duration": {"uniform": [50, 200]},
                "arrival": {"poisson": 12},
            },
            RandomWorkgroups(
                count=1000,
                size=Uniform(low=1, high=16),
                duration=Uniform(low=50, high=200),
                arrival={"poisson": {"per_kilocycle": 12}},
            ),
        ),
        ({"random_workgroups": {"count": 10}}, RandomWorkgroups(count=10)),
        ({"random_workgroups": None}, RandomWorkgroups()),
        ("random_workgroups", RandomWorkgroups()),
        (RandomWorkgroups, RandomWorkgroups()),
        (RandomWorkgroups(count=3), RandomWorkgroups(count=3)),
        ({"regime": "small_uniform"}, regimes()["small_uniform"].workload),
        ({"regime": "small_uniform", "count": 7}, regimes()["small_uniform"].workload.but(count=7)),
        (
            {"regime": "bimodal", "duration": {"exponential": 9}},
            regimes()["bimodal"].workload.but(duration=Exponential(mean=9)),
        ),
    ],
)
def test_the_forms_that_a_sweep_file_may_use(given, workload):
    assert read_workload(given) == workload


@pytest.mark.parametrize("workload", [RandomWorkgroups(count=3, duration="correlated", arrival="poisson_load"), "file"])
def test_a_workload_reads_back_what_it_writes(tmp_path, workload):
    if workload == "file":
        (tmp_path / "jobs.csv").write_text("arrival,length,duration\n0,3,10\n")
        workload = read_workload({"file": "jobs.csv"}, folder=tmp_path)
    assert read_workload({workload.name: workload.plain()}) == workload


def test_a_regime_written_out_is_the_same_workload():
    written = {"synthetic": "random_workgroups", **regimes()["large_uniform"].workload.plain()}
    assert read_workload(written).identity() == read_workload("large_uniform").identity()


KEYS_ALONE = "workload must have one of the keys file, regime, synthetic, trace. "
NAME_OR_KEYS = "workload must be the name of a regime or have one of the keys file, regime, synthetic, trace. "


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (None, NAME_OR_KEYS + "Got None."),
        (5, NAME_OR_KEYS + "Got 5."),
        ([], NAME_OR_KEYS + "Got []."),
        ({}, KEYS_ALONE + "Got {}."),
        ({"sintetic": "x"}, KEYS_ALONE + "Got {'sintetic': 'x'}. Nearest: synthetic."),
        ({"count": 5}, KEYS_ALONE + "Got {'count': 5}."),
        ({"file": "a", "trace": "b"}, KEYS_ALONE + "Got file and trace."),
        ("large_unifrom", "workload: unknown workload 'large_unifrom'; there are bimodal,"),
        ("jobs.csv", "workload must be the name of a regime or a mapping. Got 'jobs.csv'. Nearest: {file: jobs.csv}."),
        ({"regime": "large"}, "workload.regime: unknown regime 'large'; there are bimodal,"),
        ({"regime": ["large_uniform"]}, "workload.regime: unknown regime ['large_uniform'];"),
        ({"regime": "bimodal", "cuont": 5}, "workload: unknown key 'cuont'; there are arrival, count, duration, size."),
        ({"synthetic": "random_workgroup"}, "workload.synthetic: unknown generator 'random_workgroup'; there are"),
        ({"synthetic": None}, "workload.synthetic: unknown generator None;"),
        ({"synthetic": "random_workgroups", "size": {"uniform": [0, 3]}}, "workload.size.uniform[0] must be"),
        ({"synthetic": "random_workgroups", "size": {"uniform": [9, 3]}}, "workload.size.uniform.high must be"),
        ({"synthetic": "random_workgroups", "size": {"vary": [1]}}, "workload.size: unknown law 'vary';"),
        ({"synthetic": "random_workgroups", "size": "correlated"}, "workload.size must not be correlated:"),
        ({"synthetic": "random_workgroups", "count": "many"}, "workload.count must be a whole number"),
        ({"synthetic": "random_workgroups", "arrival": "later"}, "workload.arrival: unknown arrival 'later';"),
        ({"random_workgroups": 5}, "workload must be a mapping of count, size, duration, arrival. Got 5."),
        ({"file": "none.csv"}, "workload.file: none.csv: there is no such file."),
        ({"file": 5}, "workload.file must be a text of one line. Got 5."),
        ({"file": ""}, "workload.file must be a text of one line. Got ''."),
        ({"file": "none.csv", "sort": True}, "workload: unknown key 'sort'; there are file, sha256."),
        ({"trace": 5}, "workload.trace must be a text of one line. Got 5."),
        ({"trace": "x", "untit": 5}, "workload: unknown key 'untit'; there are"),
    ],
)
def test_what_is_wrong_is_said_with_its_path(given, says):
    assert refusal(read_workload, given, "workload", "a.yaml").startswith(f"a.yaml: {says}")


def test_an_unknown_workload_is_answered_with_every_regime_and_generator_in_order():
    message = refusal(read_workload, "dispatch", "workload", "a.yaml")
    names = message.removeprefix("a.yaml: workload: unknown workload 'dispatch'; there are ").rstrip(".").split(", ")
    own = {name for name, one in generators("workgroups").items() if not one.__module__.startswith("workbench.")}
    assert [name for name in names if name not in own] == [
        "bimodal",
        "large_uniform",
        "medium_uniform",
        "power_of_two",
        "random_workgroups",
        "small_uniform",
    ]
    assert names == sorted(names)


def test_of_an_engine_without_regimes_a_wrong_name_is_told_the_generators():
    message = refusal(read_workload, "torch_allocator", "workload", "a.yaml", None, "tensor_requests")
    assert message.startswith("a.yaml: workload: unknown workload 'torch_allocator'; there are awaited_block, ")


def test_a_relative_path_starts_from_the_folder_of_the_sweep(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "jobs.csv").write_text("arrival,length,duration\n0,3,10\n")
    workload = read_workload({"file": "data/jobs.csv"}, folder=tmp_path)
    assert isinstance(workload, WorkgroupFile)
    assert Path(workload.file) == tmp_path / "data" / "jobs.csv"
    assert workload.sha256 == workload.content().sha256
    monkeypatch.chdir(tmp_path)
    assert read_workload({"file": "data/jobs.csv"}).identity() == workload.identity()
    absolute = str(tmp_path / "data" / "jobs.csv")
    assert read_workload({"file": absolute}, folder=Path("/elsewhere")).identity() == workload.identity()


def test_a_trace_beside_the_sweep_is_found_and_a_catalogue_name_is_left_alone(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    assert Path(read_workload({"trace": "run.json", "unit": 3}, folder=tmp_path).trace) == tmp_path / "run.json"
    assert read_workload({"trace": "a_public_trace"}, folder=tmp_path).trace == "a_public_trace"


def test_a_wrong_file_is_named_with_its_row(tmp_path):
    (tmp_path / "jobs.csv").write_text("arrival,length,duration\n0,0,10\n")
    message = refusal(read_workload, {"file": "jobs.csv"}, "workload", "a.yaml", tmp_path)
    assert message.startswith(
        f"a.yaml: workload.file: {tmp_path / 'jobs.csv'}: row 1 (line 2): length must be a whole number"
    )


def test_a_digest_that_is_not_the_files_is_refused(tmp_path):
    (tmp_path / "jobs.csv").write_text("arrival,length,duration\n0,3,10\n")
    message = refusal(read_workload, {"file": "jobs.csv", "sha256": "ab" * 32}, "workload", "a.yaml", tmp_path)
    assert "its content has changed" in message


KEYS = ["synthetic", "regime", "file", "trace", "count", "size", "duration", "arrival", "random_workgroups", "unit"]
NAMES = ["random_workgroups", "bimodal", "uniform", "poisson", "jobs.csv", "correlated"]
WORKLOADS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(NAMES) | ANYTHING, max_size=4)


@given(ANYTHING | WORKLOADS)
def test_any_junk_is_a_workload_or_is_refused_in_one_line(value):
    message = refusal(read_workload, value, "workload", "a.yaml")
    assert message.startswith("a.yaml: workload") or not message


@functools.cache
def validator():
    """That it is a schema is checked with the whole of sweeps, which holds it (experiments/test_schema.py)."""
    return jsonschema.Draft202012Validator(workload_schema())


@pytest.mark.parametrize(
    "given",
    [
        *PILOT,
        "random_workgroups",
        {"regime": "bimodal", "count": 5},
        {"synthetic": "random_workgroups", "size": 4, "duration": {"exponential": 100}, "arrival": {"poisson": 3}},
        {"synthetic": "random_workgroups", "size": {"bimodal": {"small": [1, 2], "large": {"low": 8, "high": 9}}}},
        {"synthetic": "random_workgroups", "duration": {"correlated": {"law": {"uniform": [1, 9]}}}},
        {"synthetic": "random_workgroups", "size": {"empirical": [1, 2]}, "arrival": "all_at_once"},
        {"file": "jobs.csv"},
        {"trace": "name", "unit": 3},
        {"synthetic": "random_workgroups", **RandomWorkgroups().plain()},
    ],
    ids=str,
)
def test_the_schema_takes_what_the_reader_takes(given):
    validator().validate(given)


@pytest.mark.parametrize(
    "given",
    [
        "large",
        5,
        {},
        {"count": 5},
        {"regime": "bimodal", "cuont": 5},
        {"synthetic": "random_workgroups", "count": 0},
        {"synthetic": "random_workgroups", "size": {"unifrom": [1, 2]}},
        {"synthetic": "random_workgroups", "size": {"uniform": [1, 2, 3]}},
        {"synthetic": "random_workgroups", "duration": {"correlated": {"law": {"correlated": {}}}}},
        {"file": "a", "trace": "b"},
    ],
    ids=str,
)
def test_the_schema_refuses_what_the_reader_refuses(given):
    assert refusal(read_workload, given)
    with pytest.raises(jsonschema.ValidationError):
        validator().validate(given)


def test_the_schema_names_every_law_with_its_levers():
    text = str(workload_schema())
    for word in (
        "log_normal",
        "rank_correlation",
        "per_kilocycle",
        "small_share",
        "outcomes",
        "sha256",
        "duration_rule",
    ):
        assert word in text
