"""What public reports of hangs and residency say comes out of their sweeps, and the page about them has a row for each.

The expected numbers follow from the report and from public figures of its card. They were here before the sweeps ran,
except for the one that the page names. Where a report has no number, the test is of its observation.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.runs.run import PlannedPoint

ROOT = Path(__file__).parents[2]
REPORTS = ROOT / "sweeps/dispatch/reports"
PAGE = ROOT / "docs/pages/residency.md"
SWEEPS = sorted(REPORTS.glob("*.yaml"))
SPREADING = ("round_robin", "least_waves", "most_residual", "worst_fit_module")
PACKING = ("best_fit_module", "first_module")


def source(path: Path) -> str:
    """Return the report of a sweep as its first comment names it."""
    return re.split(r"[:,]", path.read_text().removeprefix("# "), maxsplit=1)[0]


@cache
def results(name: str) -> wb.Results:
    return wb.run(REPORTS / f"{name}.yaml", workers=0)


def label(point: PlannedPoint) -> str:
    return " ".join(map(str, point.coordinates.values()))


def points(name: str, *words: str) -> list[PlannedPoint]:
    """Return the points of a sweep whose coordinates have all the words."""
    return [point for point in results(name).plan.points if all(word in label(point) for word in words)]


def measured(name: str, measure: str, *words: str) -> dict[str, float]:
    """Return a measure of each point whose coordinates have all the words, by these coordinates."""
    values = {row.point: row.measures[measure] for row in results(name).rows.values()}
    return {label(point): values[point.id] for point in points(name, *words)}


def records(name: str, *words: str) -> list[Any]:
    """Return the records of the points whose coordinates have all the words."""
    return [record for point in points(name, *words) for record in results(name).records(point)]


def only(name: str, measure: str, *words: str) -> float:
    """Return a measure of the only point whose coordinates have all the words."""
    (value,) = measured(name, measure, *words).values()
    return value


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_every_run_is_done_and_the_page_has_a_row(path):
    assert results(path.stem).failures == []
    rows = [line for line in PAGE.read_text().splitlines() if f"| `{path.name}` |" in line]
    assert len(rows) == 1
    assert source(path) in rows[0]


@pytest.mark.parametrize(("workers", "schedulers", "stranded"), [(144, 16, 12), (136, 48, 36)])
def test_mirage_761_workers_that_never_start(workers, schedulers, stranded):
    """mirage-project/mirage#761: on 148 SMs both counts hang if the schedulers take an SM each."""
    assert stranded == workers - (148 - schedulers)
    for choice in SPREADING:
        assert only("mirage_761", "groups_never_started", f"workers_{workers}", choice) == stranded
        assert only("mirage_761", "groups_at_barrier", f"workers_{workers}", choice) == 148
    for choice in PACKING:
        assert only("mirage_761", "groups_never_started", f"workers_{workers}", choice) == 0


def test_mirage_775_68_of_128_workers_start():
    """mirage-project/mirage#775: 68 of 128 workers start; with four schedulers in a block all do."""
    for choice in SPREADING:
        assert 128 - only("mirage_775", "groups_never_started", "schedulers_80", choice) == 68
    for choice in PACKING:
        assert only("mirage_775", "groups_never_started", "schedulers_80", choice) == 0
    assert set(measured("mirage_775", "groups_never_started", "schedulers_20x4").values()) == {0}


def test_sglang_36657_two_sms_are_left_free():
    """sgl-project/sglang#36657: 148 blocks hang on 148 SMs of which another stream holds one, 146 do not."""
    assert only("sglang_36657", "groups_never_started", "mega_moe_148.csv") == 2
    assert only("sglang_36657", "groups_at_barrier", "mega_moe_148.csv") == 146
    assert only("sglang_36657", "groups_never_started", "mega_moe_146.csv") == 0
    assert only("sglang_36657", "groups_never_started", "short_neighbor") == 0
    assert only("sglang_36657", "makespan_cycles", "short_neighbor") == 5000 + 1000


def test_vllm_41189_one_block_an_sm_is_left_free():
    """vllm-project/vllm#41189: a grid of all that fits alone hangs next to another kernel; the headroom lifts it."""
    assert set(measured("vllm_41189", "groups_never_started", "264_alone").values()) == {0}
    assert set(measured("vllm_41189", "groups_never_started", "264_and_132").values()) == {132}
    assert set(measured("vllm_41189", "groups_never_started", "132_and_132").values()) == {0}


@pytest.mark.parametrize(("rest", "grid"), [(14, 120), (6, 112)])
def test_cutlass_1921_grids_of_120_and_112(rest, grid):
    """NVIDIA/cutlass#1921: cuBLAS launches 120 blocks, CUTLASS 112; that many are resident on the dies of each."""
    assert 136 - only("cutlass_1921", "groups_never_started", f"16, {rest}" if rest == 14 else f"18, {rest}") == grid


def test_gpu_app_collection_87_clusters_of_8_touch_120_of_132_sms():
    """accel-sim/gpu-app-collection#87: 17 clusters touch 120 SMs, and no SM takes more than two blocks."""
    (record,) = records("gpu_app_collection_87")
    blocks = np.bincount(record.module, minlength=132)
    assert (int((blocks > 0).sum()), int(blocks.max())) == (120, 2)


def test_mgpusim_282_the_three_policies_for_concurrent_kernels_differ():
    """sarchlab/mgpusim#282 has no number: full overlap, disjoint dies and one kernel at a time differ."""

    def rounds(*words: str) -> tuple[int, int]:
        """Return in which round of 1,000 cycles the last group ends, and the small kernel starts."""
        (record,) = records("mgpusim_282", *words)
        small = record.channel[record.group] == 1
        ends = only("mgpusim_282", "makespan_cycles", *words)
        return int(ends) // 1000, int(record.cycle[small].max()) // 1000

    assert rounds("open_to_all", "full_overlap") == (2, 0)
    assert rounds("partition_by_channel", "full_overlap") == (3, 0)
    assert rounds("open_to_all", "serialise") == (3, 2)


def test_rocm_systems_10326_a_kernel_on_one_die_of_eight_takes_eight_times_as_long():
    """ROCm/rocm-systems#10326: 32 of 256 units, so that times are wrong by the number of dies."""
    one_die = only("rocm_systems_10326", "makespan_cycles", "any_die")
    all_dies = only("rocm_systems_10326", "makespan_cycles", "round_robin_dies")
    assert round(one_die / all_dies, 3) == 8


def test_pegainfer_922_a_cap_on_prefill_lets_decode_start_at_once():
    """pegainfer-project/pegainfer#922: decode waits without the cap and does not with it."""
    wait = "wait_mean_cycles[1]"
    assert set(measured("pegainfer_922", wait, "partition_by_channel").values()) == {0}
    assert round(only("pegainfer_922", wait, "first_module", "open_to_all")) == 2511
    assert round(only("pegainfer_922", wait, "round_robin", "open_to_all")) == 2529


def test_gilman_2020_one_thread_less_a_block_makes_a_kernel_slower():
    """Gilman et al. 2020: 3.58 times for kernels that the abstract does not name; here 2 times, by an assumed rate."""

    def slower(choice: str, progress: str) -> float:
        of = ("gilman_2020", "makespan_cycles", choice, progress)
        return only(*of, "32_threads") / only(*of, "33_threads")

    assert slower("least_waves", "shared_rate") == pytest.approx(2, rel=0.01)
    assert slower("round_robin", "shared_rate") == 1
    assert slower("least_waves", "constant") == 1


def test_kokkos_5624_the_best_block_size_of_41_and_43_registers():
    """kokkos/kokkos#5624: by the exact count the best block size changes with two registers; on a card it does not."""
    threads = {
        (threads, registers): (
            32 - only("kokkos_5624", "groups_never_started", f"block_{threads}_registers_{registers}")
        )
        * threads
        for threads in (64, 224)
        for registers in (41, 43, 48)
    }
    exact = [threads[size, registers] for registers in (41, 43) for size in (64, 224)]
    assert exact == [24 * 64, 7 * 224, 23 * 64, 6 * 224]
    assert [threads[size, 48] for size in (64, 224)] == [20 * 64, 5 * 224]


def test_k8s_test_infra_886_four_of_seven_instances_are_created():
    """NVIDIA/k8s-test-infra#886: four instances of two memory slices take all eight, and three of one find none."""
    assert only("k8s_test_infra_886", "groups_never_started") == 3
    assert only("k8s_test_infra_886", "groups_at_barrier") == 4
