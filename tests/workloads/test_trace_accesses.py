"""Accesses of warp traces: against a plain schedule of what the traces were written from; scaling; refusals."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import refusal
from tests.oracles import page_kernels, warp_traces
from tests.oracles.page_accesses import cores_by_page
from tests.oracles.warp_traces import Op
from tests.public_traces import needs_public_traces, path
from tests.slow import examples
from workbench.cli.main import main
from workbench.machine import TranslationMachine
from workbench.streams import Streams
from workbench.workloads import workload as blocks
from workbench.workloads.importers import warp_reader
from workbench.workloads.recorded_accesses import TraceAccesses
from workbench.workloads.workload_key import read_workload

BASE, GRID, BLOCK = 0x7F32C5500000, (7, 1, 1), (64, 1, 1)
MACHINE = TranslationMachine(cores=3, page_bytes=4096)
LOADS = st.builds(
    lambda lanes, first, mode: Op("LDG.E", {lane: BASE + first + 3000 * lane for lane in lanes}, mode),
    st.sets(st.integers(0, 31), min_size=1, max_size=4).map(sorted),
    st.integers(0, 1 << 15),
    st.sampled_from([0, 2]),
)
OTHERS = st.sampled_from([Op("MOV", {}), Op("LDS", {0: 16}, 0)])
WARPS = st.lists(LOADS | OTHERS, max_size=4)
BLOCKS = st.dictionaries(st.integers(0, 6), st.dictionaries(st.integers(0, 1), WARPS, min_size=1), min_size=1)
ORDERS = st.sampled_from(["round_robin", {"blocked": 2}, {"listed": [2, 0, 0]}])


def rows(workload, machine=MACHINE):
    given_blocks = list(workload.accesses(machine, Streams(0)))
    return [row for b in given_blocks for row in zip(b.cycle.tolist(), b.core.tolist(), b.page.tolist())]


def touching(blocks_of):
    return any(warp_traces.pages(op, 1) for warps in blocks_of.values() for ops in warps.values() for op in ops)


def core_of(order):
    if order == "round_robin":
        return lambda i: i % 3
    return (lambda i: i // 2 % 3) if "blocked" in order else (lambda i: [2, 0, 0][i % 3])


def lowest(blocks_of):
    every = [op for warps in blocks_of.values() for ops in warps.values() for op in ops]
    return min(a for op in every if warp_traces.pages(op, 1) for a in op.addresses.values())


@examples(15, 100)
@given(BLOCKS.filter(touching), st.integers(1, 3), st.sampled_from([1, 3]), st.sampled_from([1, 40]))
def test_a_grouped_trace_runs_so_many_blocks_of_every_core_in_step(
    tmp_path_factory, blocks_of, resident, footprint, batch
):
    low = lowest(blocks_of)
    place = tmp_path_factory.getbasetemp() / "kernel-1.traceg"
    first = [Op("LDG.E", {0: low}, 0)]  # a block that touches nothing would take no turn
    every = {(i, 0, 0): {0: first, **{w + 1: ops for w, ops in blocks_of.get(i, {}).items()}} for i in range(7)}
    place.write_text(warp_traces.grouped(every, GRID, (96, 1, 1), 4))
    workload = TraceAccesses(trace=str(place), resident=resident, footprint=footprint, gap=2)
    touched = {}
    for (i, _, _), warps in every.items():
        for warp, ops in warps.items():
            pages = [warp_traces.pages(op, 4096, lambda a: low + (a - low) * footprint) for op in ops]
            touched[i, warp] = list(enumerate(filter(None, pages)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warp_reader, "BATCH", batch)
        assert rows(workload) == list(page_kernels.in_time(touched, 3, lambda i: i % 3, resident, 2))


@examples(15, 100)
@given(BLOCKS.filter(touching), ORDERS, st.sampled_from([0, 2.5]), st.sampled_from([1, 40]), st.integers(1, 9))
def test_a_raw_trace_keeps_its_order(tmp_path_factory, blocks_of, order, gap, batch, size):
    lines = [((i, 0, 0), warp, op) for i, warps in blocks_of.items() for warp, ops in warps.items() for op in ops]
    place = tmp_path_factory.getbasetemp() / "kernel-1.trace"
    place.write_text(warp_traces.raw(lines, GRID, BLOCK, 3))
    expected, issued, now = [], [0, 0, 0], 0
    for (i, _, _), _, op in lines:
        for page in warp_traces.pages(op, 4096):
            core = core_of(order)(i)
            now = max(now, int(issued[core] * gap))
            issued[core] += 1
            expected.append((now, core, page))
    workload = TraceAccesses(trace=str(place), order=order, gap=gap)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warp_reader, "BATCH", batch)
        patch.setattr(blocks, "ROWS", size)
        assert rows(workload) == expected
        assert rows(workload.but(count=3)) == expected[:3]


@pytest.fixture
def listing(tmp_path):
    for kernel, base in ((1, BASE), (2, BASE + 40960)):
        ops = [((i, 0, 0), 0, Op("LDG.E", {0: base + 4096 * i}, 0)) for i in range(3)]
        (tmp_path / f"kernel-{kernel}.trace").write_text(warp_traces.raw(ops, GRID, BLOCK, 3))
    place = tmp_path / "kernelslist"
    place.write_text("kernel-1.trace\nkernel-2.trace\nkernel-9.trace\n")
    return place


def test_kernels_of_a_list_run_in_turn_or_together(listing):
    first = BASE // 4096
    in_turn = rows(TraceAccesses(trace=str(listing), gap=10))
    assert in_turn == [(10 * (k > 0), i, first + 10 * k + i) for k in range(2) for i in range(3)]
    together = rows(TraceAccesses(trace=str(listing), gap=10, kernels="together"))
    assert together == [(0, i, first + 10 * k + i) for k in range(2) for i in range(3)]


def test_a_list_is_named_by_its_kernels_too(listing):
    before = TraceAccesses(trace=str(listing)).identity()
    with (listing.parent / "kernel-2.trace").open("a") as file:
        file.write("0 0 0 0 0010 ffffffff 1 R1 MOV 0 0\n")
    assert TraceAccesses(trace=str(listing)).identity() != before


def test_a_list_is_pinned_with_its_kernels(listing):
    workload = read_workload({"trace": str(listing)}, wants="accesses")
    blocks = workload.accesses(MACHINE, Streams(0))
    with (listing.parent / "kernel-2.trace").open("a") as file:
        file.write("0 0 0 0 0010 ffffffff 1 R1 MOV 0 0\n")
    assert "its content has changed: the digest is" in refusal(workload.accesses, MACHINE, Streams(0))
    assert "kernel-2.trace: its content has changed while it was read" in refusal(list, blocks)
    assert read_workload({"trace": str(listing)}, wants="accesses").sha256 != workload.sha256


def test_copies_have_pages_of_their_own_or_the_same(listing):
    workload = TraceAccesses(trace=str(listing))
    once = cores_by_page(workload.accesses(MACHINE, Streams(0)))
    own = cores_by_page(workload.but(copies=3).accesses(MACHINE, Streams(0)))
    same = cores_by_page(workload.but(copies=3, copies_touch="same").accesses(MACHINE, Streams(0)))
    assert (len(once), len(own), len(same)) == (6, 18, 6)
    assert all(len(cores) == len(set(cores)) == 1 for cores in own.values()), "copies never share"
    assert all(len(cores) == len(set(cores)) == 3 for cores in same.values()), (
        "round robin puts the three copies on three cores"
    )


@pytest.mark.slow
@needs_public_traces
def test_the_public_trace_gives_a_page_an_instruction():
    workload = read_workload({"trace": str(path("warp_traces/vectoradd_raw_v3/kernel-1.trace.gz"))}, wants="accesses")
    pages = cores_by_page(workload.accesses(TranslationMachine(), Streams(0)))
    assert (len(pages), sum(map(len, pages.values()))) == (587, 9375)


@pytest.mark.parametrize(
    ("changes", "machine", "says"),
    [
        (
            {},
            {"address_bits": 40},
            "its pages must be below 268435456, all that the machine's addresses reach. Got page",
        ),
        (
            {"footprint": 1 << 20, "copies": 1024},
            {"address_bits": 47},
            "trace_accesses.footprint must keep pages below 34359738368",
        ),
        ({"order": {"listed": [5]}}, {}, "trace_accesses.order.cores must name cores below 3"),
    ],
)
def test_what_the_machine_cannot_have_is_refused(listing, changes, machine, says):
    message = refusal(TraceAccesses(trace=str(listing), **changes).accesses, MACHINE.but(**machine), Streams(0))
    assert says in message


def test_a_trace_that_touches_nothing_or_is_of_kernels_is_refused(tmp_path):
    place = tmp_path / "kernel-1.trace"
    place.write_text(warp_traces.raw([((0, 0, 0), 0, Op("MOV", {}))], GRID, BLOCK, 3))
    assert "no instruction touches global memory" in refusal(
        TraceAccesses(trace=str(place)).accesses, MACHINE, Streams(0)
    )
    kernels = "tests/data/traces/kineto_nvidia.json"
    assert "is a trace of kernels (kineto)" in refusal(TraceAccesses(trace=kernels).accesses, MACHINE, Streams(0))


def test_columns_have_the_types_that_the_engine_relies_on(listing):
    (block, *_) = TraceAccesses(trace=str(listing)).accesses(MACHINE, Streams(0))
    assert [column.dtype for column in block[:3]] == [np.int64, np.int32, np.int64]


def test_the_command_writes_an_access_file_that_is_the_trace(listing, tmp_path, capsys):
    out = tmp_path / "accesses.csv"
    requests = ["trace", "import", str(listing), "--engine", "translation", "--out", str(out), "--set", "gap=10"]
    assert main([*requests, "--machine", "patent_pilot", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["global_addresses"] == 6
    machine = TranslationMachine.read("patent_pilot")
    written = read_workload({"file": str(out)}, wants="accesses")
    assert rows(written, machine) == rows(TraceAccesses(trace=str(listing), gap=10), machine)
    assert main(requests) == 2
    assert "say --machine PRESET" in capsys.readouterr().err
