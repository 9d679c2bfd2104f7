"""Occupancy: each limit, what lifts it, and the launches of a trace, against putting groups into a unit one by one."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import refusal
from tests.oracles.residency import resident
from tests.slow import examples
from workbench.cli import main
from workbench.explain.occupancy import kernel_occupancy, occupancy
from workbench.machine import preset
from workbench.machine.occupancy import occupancy_of

TRACES = Path("tests/data/traces")
CARDS = [preset(name).machine() for name in ("mi300x", "h100", "vega10")]
DEMANDS = st.fixed_dictionaries(
    {"threads": st.integers(1, 1100), "vgprs": st.integers(0, 140), "shared_bytes": st.integers(0, 70_000)}
)


def held(machine, demand):
    return resident(machine.values(), demand["shared_bytes"], demand["threads"], demand["vgprs"])


@examples(30, 1000)
@given(st.sampled_from(CARDS), DEMANDS)
def test_a_lift_is_the_nearest_smaller_demand_that_gives_one_more(machine, demand):
    reply = occupancy_of(machine, **demand)
    assert reply.groups == held(machine, demand) == min(reply.limits.values())
    for name, count in demand.items():
        if name in reply.lifts:
            lifted = reply.lifts[name]
            assert lifted < count and held(machine, {**demand, name: lifted}) > reply.groups
            assert held(machine, {**demand, name: lifted + 1}) == reply.groups
        elif name == "vgprs" and count:
            assert held(machine, {**demand, name: 1}) == reply.groups
    if reply.together:
        assert not reply.lifts
        assert held(machine, {**demand, **reply.together}) > reply.groups


def test_two_limits_that_bind_are_lifted_together():
    reply = occupancy("h100", threads=256, vgprs=63, shared_bytes=56_000)
    assert (reply.binding, reply.lifts) == (("vgpr", "shared"), {})
    assert reply.together == {"vgprs": 48, "shared_bytes": 45_568}


def test_scalar_registers_bind_where_a_simd_has_few():
    reply = occupancy("vega10", threads=64, vgprs=4, sgprs=102)
    assert (reply.binding, reply.groups, reply.lifts) == (("sgpr",), 28, {"sgprs": 96})
    assert "sgpr" not in occupancy("h100", threads=64, sgprs=102).limits


def test_what_no_launch_could_have_fits_nowhere():
    assert occupancy("h100", threads=1025).lifts == {"threads": 1024}
    assert occupancy("h100", threads=32, vgprs=256).limits["vgpr"] == 0
    assert occupancy("vega10", threads=64, sgprs=103).limits["sgpr"] == 0


def test_a_kernel_that_fits_nowhere_is_no_occupancy_of_nothing(capsys):
    assert main(["occupancy", "--machine", "h100", "--threads", "1025"]) == 0
    assert "no workgroup of it fits a unit of h100; one does with 1024 threads a workgroup" in capsys.readouterr().out


def test_what_is_not_known_is_named():
    assert occupancy("h100", threads=64).unknown == ("vgpr", "shared")
    assert occupancy("mi300x", threads=64, vgprs=4).unknown == ("sgpr", "shared")


def test_the_command_names_the_machine_and_what_is_not_known(capsys):
    assert main(["occupancy", "--machine", "h100", "--threads", "256", "--vgprs", "72"]) == 0
    printed = capsys.readouterr().out
    assert "3 workgroups a unit of h100, 24 waves: 38% of the wave slots" in printed
    assert "not known, and so no limit here: shared memory; fewer may fit" in printed
    trace = "tests/data/public/rocprofv3_kernel_trace_of_the_manual.csv"
    assert main(["occupancy", "--machine", "mi300x", "--trace", trace]) == 0
    printed = " ".join("".join(capsys.readouterr()).split())
    assert printed.startswith("on mi300x: ")
    assert "binds workgroup slots, wave slots" in printed
    assert printed.endswith(
        "not known, and so no limit here: vector registers (7 of 7 launches), scalar registers (7 of 7 launches); "
        "fewer may fit"
    )


def test_the_launches_of_a_trace():
    result = kernel_occupancy(TRACES / "rocprofv3.json", "gemm")
    (one,) = result.launches
    assert (one.kernel, one.launches, result.untold) == ("gemm", 1, 0)
    assert one.occupancy == occupancy(result.machine, **one.demand)
    every = kernel_occupancy(str(TRACES / "rocprofv3.json"))
    assert [row.microseconds for row in every.launches] == sorted(
        (r.microseconds for r in every.launches), reverse=True
    )


def test_what_cannot_be_answered_is_one_sentence(tmp_path):
    trace = str(TRACES / "rocprofv3.json")
    assert "unknown kernel 'gem5'" in refusal(kernel_occupancy, trace, "gem5")
    assert "say --machine PRESET" in refusal(kernel_occupancy, str(TRACES / "pmc_perf_new.csv"))
    assert refusal(occupancy, "h100", threads=0) == (
        "occupancy: threads must be a whole number of at least 1. Got 0. Nearest: 1."
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "takes --machine PRESET and --threads N, or --trace FILE"),
        (["gemm", "--machine", "h100"], "workbench occupancy gemm: say --trace FILE"),
        (["--trace", "x.json", "--threads", "4"], "takes --trace or numbers, not both. Got --trace and --threads"),
    ],
)
def test_the_command_says_what_it_lacks(words, says, capsys):
    assert main(["occupancy", *words]) == 2
    assert says in capsys.readouterr().err


def test_the_command_prints_a_table_and_json(capsys):
    words = ["occupancy", "--machine", "mi300x", "--threads", "128", "--shared", "4096"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert any(line.split() == ["barriers", "16", "binds"] for line in printed.splitlines())
    assert "16 workgroups a unit of mi300x, 32 waves: 100% of the wave slots" in printed
    assert main([*words, "--json"]) == 0
    reply = json.loads(capsys.readouterr().out)
    assert reply["limits"] == {"workgroups": 32, "waves": 16, "barriers": 16, "shared": 16}


def test_the_command_reads_a_trace(capsys):
    words = ["occupancy", "--trace", str(TRACES / "rocprofv3.json")]
    assert main([*words, "gemm"]) == 0
    assert "shared memory" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    launches = json.loads(capsys.readouterr().out)["launches"]
    assert [one["kernel"] for one in launches] == ["gemm", "fill.kd"]
    assert main(words) == 0
    assert "fill.kd" in capsys.readouterr().out


def test_residency_and_occupancy_are_one_computation():
    threads, vgprs, shared = np.array([64, 512]), np.array([40, 100]), np.array([9000, 0])
    for machine in CARDS:
        each = zip(threads.tolist(), vgprs.tolist(), shared.tolist(), strict=True)
        expected = [occupancy_of(machine, t, v, None, s).groups for t, v, s in each]
        assert machine.resident(shared, threads, vgprs).tolist() == expected
