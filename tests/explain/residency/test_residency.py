"""Lost residency: counted by hand on small tables, against the engine's own rule, and on the public traces."""

from pathlib import Path

import numpy as np
import pytest

from tests.needs import TRACES, needs
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.explain.residency import GRANULES, by_granule, by_rule, coverage_of, survey
from workbench.machine import Machine, preset
from workbench.workloads.catalogue import locate
from workbench.workloads.importers import read_trace
from workbench.workloads.importers.trace import Trace
from workbench.workloads.kernels import KernelRows


def made(*launches, dynamic=None):
    """A trace of launches: (bytes of a workgroup or None, duration, workgroups)."""
    rows = KernelRows()
    for k, (shared, duration, workgroups) in enumerate(launches):
        known = {} if workgroups is None else {"workgroups": workgroups, "threads": 64}
        rows.add(f"k{k}", start_ns=k, duration_ns=duration, device=0, shared_bytes=shared, **known)
    table = rows.table()
    if dynamic is not None:
        table = table._replace(launch_shared_bytes=np.array(dynamic))
    return Trace(Path("made"), "made", "kernels", table)


def test_what_a_trace_tells_is_counted_and_nothing_untold_is_zero():
    known = coverage_of(made((700, 30, 4), (0, 10, 4), (None, 50, 4), (None, 10, None), dynamic=[-1, -1, 512, -1]))
    assert (known.launches, known.whole, known.dynamic_alone, known.untold, known.asking) == (4, 2, 1, 1, 1)
    assert (known.time_whole, known.time_dynamic_alone) == (0.4, 0.5)


def test_the_dynamic_part_counts_only_where_it_is_asked_for():
    trace = made((None, 50, 9000), dynamic=[8200])
    with pytest.raises(InputError, match="no launch tells grid, threads and shared memory; say dynamic_alone"):
        by_granule(trace, Machine())
    (one,) = by_granule(trace, Machine(), [2048], dynamic_alone=True)
    assert (one.launches, one.affected) == (1, 1)


def test_lost_residency_by_hand():
    # 64 KiB: 8,200 bytes fit 7 times by the byte, 6 times in granules of 2,048; 16 KiB 4 times, 3 in those of 1,280
    trace = made((8200, 30, 1 << 20), (16384, 10, 1 << 20), (0, 60, 1 << 20))
    coarse, odd = by_granule(trace, Machine(), [2048, 1280])
    assert coarse.lost == pytest.approx(1 - (6 * 30 + 4 * 10) / (7 * 30 + 4 * 10))
    assert odd.lost == pytest.approx(1 - (7 * 30 + 3 * 10) / (7 * 30 + 4 * 10))
    assert (coarse.affected, coarse.affected_time, coarse.asking, coarse.bound) == (1, 0.3, 2, 2)
    assert coarse.worst == pytest.approx(1 / 7) and odd.worst == 0.25
    assert coarse.padding == pytest.approx(1 - (8200 + 16384) / (10240 + 16384))


def test_a_small_grid_fills_no_unit_and_loses_nothing():
    machine = Machine()
    (one,) = by_granule(made((8200, 30, 6 * machine.compute_units)), machine, [2048])
    assert one.lost == pytest.approx(1 / 7) and one.lost_used == 0


@pytest.mark.parametrize("name", ["h100", "mi350x", "mi300x"])
def test_residency_is_that_of_the_machine_at_its_own_granule(name):
    machine = preset(name).machine()
    for shared in (0, 1, 1000, 16384, 33000, 60000):
        (one,) = by_granule(made((shared, 10, 1 << 20)), machine, [machine.granule_bytes])
        threads = np.array([64])
        exact = machine.shared_memory_bytes // max(shared + machine.reserved_bytes, 1)
        most = int(machine.resident(None, threads, None)[0])
        held = int(machine.resident(np.array([shared]), threads, None)[0])
        asks = shared + machine.reserved_bytes > 0
        assert one.lost == pytest.approx(1 - held / min(most, exact) if asks else 0)


@pytest.mark.parametrize("granule", [0, -1, 1.5, True])
def test_a_granule_is_a_whole_number_of_bytes(granule):
    with pytest.raises(InputError, match="granules must be whole numbers of bytes of at least 1"):
        by_granule(made((8200, 30, 10)), Machine(), [granule])


def test_a_machine_that_holds_no_workgroup_is_refused():
    with pytest.raises(InputError, match="no workgroup fits into a unit of this machine"):
        by_granule(made((100_000, 30, 10)), Machine())


def test_rules_lose_against_bytes_and_bytes_lose_nothing():
    workload = {"regime": "large_uniform", "count": 100}
    losses = {one.rule: one for one in by_rule(workload, {"segments": 128}, ["byte_counter", "worst_fit"], units=4)}
    assert losses["byte_counter"].lost.mean == 0 and losses["byte_counter"].blocked == 0
    assert 0 < losses["worst_fit"].lost.low < losses["worst_fit"].lost.high < 1 and losses["worst_fit"].blocked > 0


def test_equal_pieces_leave_no_holes():
    size = {"uniform": [16, 16]}
    workload = {"synthetic": "random_workgroups", "count": 60, "size": size, "duration": {"uniform": [1, 50]}}
    losses = by_rule(workload, {"segments": 128}, ["first_fit", "best_fit", "nearest_boundary"], units=2)
    assert [(one.lost.mean, one.blocked) for one in losses] == [(0, 0)] * 3


@pytest.mark.slow
@needs(TRACES)
def test_the_serving_trace_loses_little_by_granule_and_something_by_rule():
    """Six launches have groups of one wave with 6,848 bytes: 23 of them fit by the byte, 21 by granules of 1,280.

    Such groups take no barrier, so that 32 of them may start on a unit (spec 7, R1); 16 would hide the granule.
    """
    trace = read_trace(locate("rocprofv3_mi355x_part1"))
    assert (coverage_of(trace).whole, coverage_of(trace).untold, coverage_of(trace).asking) == (8000, 0, 1651)
    losses = {one.granule_bytes: one for one in by_granule(trace, preset("mi350x").machine())}
    assert [*losses] == [*GRANULES] and (losses[1280].affected, losses[1280].bound) == (6, 851)
    assert losses[1280].worst == pytest.approx(2 / 23, rel=1e-12)
    assert losses[1280].lost == pytest.approx(1.0352316902384473e-05, rel=1e-9), "they have 1 in 50,000 of the time"
    workload = {"trace": "rocprofv3_mi355x_part1", "count": 600, "longest_us": 200}
    queued, recorded = (
        by_rule(workload, {"preset": "mi350x"}, ["first_fit"], arrival, units=2)[0]
        for arrival in ("all_at_once", "recorded")
    )
    assert queued.lost.mean > 0.04 and queued.blocked > 0.04
    assert recorded.lost.mean == 0 and recorded.blocked == 0


@pytest.mark.slow
@needs(TRACES)
def test_a_survey_names_what_it_leaves_out():
    found = survey(["tracelens_vllm_graph_execution", "tracelens_mi300x_xdit_sd35"], units=0)
    assert found.coverage["untold"].tolist() == [361, 0]
    assert found.left_out == ["tracelens_vllm_graph_execution: its card has no preset; name a machine."]
    assert set(found.granules["counts"]) == {"dynamic part alone"} and not len(found.rules)


@needs(TRACES)
def test_the_command_prints_the_tables(capsys):
    assert main(["trace", "residency", "tracelens_h100_bert_small", "--units", "0", "--granules", "128", "1280"]) == 0
    assert capsys.readouterr().out.count("tracelens_h100_bert_small") == 3


def test_the_command_refuses_what_is_no_trace(capsys):
    assert main(["trace", "residency", "no_such_trace"]) == 2
    assert "there is no such file, and no public trace of this name" in capsys.readouterr().err
