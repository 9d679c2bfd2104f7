"""Kernels by formula against every address of every thread; their order in time against a plain schedule."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.junk import refusal
from tests.oracles import page_kernels as oracle
from tests.slow import LONG, examples
from workbench.machine import TranslationMachine
from workbench.streams import Streams
from workbench.workloads import workload as blocks
from workbench.workloads.generators import generators
from workbench.workloads.synthetic import page_kernels
from workbench.workloads.synthetic.dense_kernels import (
    Reduction,
    StencilPlane,
    StencilVolume,
    StreamingTriad,
    TiledGemm,
    Transpose,
)
from workbench.workloads.synthetic.graphs import PowerLawGraph, UniformGraph
from workbench.workloads.synthetic.page_kernels import PageKernel
from workbench.workloads.synthetic.sparse_kernels import CsrSpmv, EmbeddingGather, GraphBfs

MACHINE = TranslationMachine(cores=3, page_bytes=512)
ELEMENT = {"element_bytes": st.sampled_from([4, 8]), "warp_size": st.sampled_from([8, 32])}
GRAPHS = st.builds(UniformGraph, scale=st.integers(1, 5), degree=st.integers(1, 9)) | st.builds(
    PowerLawGraph, scale=st.integers(1, 5), degree=st.integers(1, 30)
)


def few(least, most):
    return st.integers(least, most)


KERNELS = {
    StreamingTriad: st.builds(
        StreamingTriad, elements=few(1, 700), threads=st.sampled_from([32, 128]), **ELEMENT
    ),
    Reduction: st.builds(Reduction, elements=few(2, 900), threads=st.just(32), items=few(1, 3), **ELEMENT),
    Transpose: st.builds(Transpose, side=few(1, 40), through_shared=st.booleans(), **ELEMENT),
    TiledGemm: st.builds(TiledGemm, m=few(1, 40), n=few(1, 40), k=few(1, 40), tile=st.sampled_from([8, 16]), **ELEMENT),
    StencilPlane: st.builds(StencilPlane, width=few(3, 70), height=few(3, 20), rows=few(1, 5), **ELEMENT),
    StencilVolume: st.builds(
        StencilVolume, width=few(3, 40), height=few(3, 6), depth=few(3, 5), rows=few(1, 3), **ELEMENT
    ),
    EmbeddingGather: st.builds(
        EmbeddingGather, table_rows=few(1, 50), dimension=few(1, 70), bags=few(1, 20), lookups=few(1, 5),
        warps=few(1, 3), **ELEMENT
    ),
    CsrSpmv: st.builds(CsrSpmv, graph=GRAPHS, warps=few(1, 4), **ELEMENT),
    GraphBfs: st.builds(GraphBfs, graph=GRAPHS, warps=few(1, 4), **ELEMENT),
}  # fmt: skip
ORACLES = {
    StreamingTriad: oracle.triad,
    Reduction: oracle.reduction,
    Transpose: oracle.transpose,
    TiledGemm: oracle.gemm,
    StencilPlane: oracle.stencil,
    StencilVolume: oracle.stencil,
    EmbeddingGather: lambda k, at: oracle.embedding(k, at, k.rows(Streams(5)).tolist()),
    CsrSpmv: lambda k, at: oracle.spmv(k, at, neighbours(k.graph)),
    GraphBfs: lambda k, at: oracle.bfs(k, at, neighbours(k.graph)),
}


def neighbours(graph):
    rows = graph.rows(Streams(5))
    return [rows.neighbour[rows.begins[v] : rows.begins[v + 1]].tolist() for v in range(rows.vertices)]


def places(kernel):
    """Arrays one behind the other, each from a page on."""
    result, end = [], 0
    for size in kernel.array_bytes():
        result.append(end)
        end += -(-size // 512) * 512
    return result


def expected(kernel):
    """Of every launch: (workgroup, warp) -> pages of each instruction."""
    launches = ORACLES[type(kernel)](kernel, places(kernel))
    sizes = (kernel.warp_size, 4 if type(kernel) in (CsrSpmv, GraphBfs) else kernel.element_bytes, 512)
    return [oracle.by_warp(program, *shape, *sizes) for program, *shape in launches]


def found(kernel):
    """The same from the formula, launch after launch."""
    launches = []
    for launch in kernel.launches(kernel.places(512), Streams(5)):
        warps = defaultdict(lambda: defaultdict(list))
        for rows in (part.coalesced() for part in kernel._waves(launch, MACHINE)):
            for place, warp, step, page in zip(
                *(c.tolist() for c in (rows.workgroup, rows.warp, rows.step, rows.page))
            ):
                warps[place, warp][step].append(page)
        launches.append({key: [steps[step] for step in sorted(steps)] for key, steps in warps.items()})
    return launches


@pytest.mark.parametrize("kind", KERNELS, ids=lambda kind: kind.name)
def test_every_instruction_touches_the_pages_that_its_threads_touch(kind):
    @settings(max_examples=100 if LONG else 10)
    @given(KERNELS[kind])
    def check(kernel):
        assert found(kernel) == expected(kernel)

    check()


def test_every_kernel_has_a_twin():
    assert set(KERNELS) == {kind for kind in generators("accesses").values() if issubclass(kind, PageKernel)}


ORDERS = st.sampled_from(["round_robin", "blocked", {"blocked": 2}, {"listed": [2, 0, 0]}])


def core_of(order, workgroups):
    if order == "round_robin":
        return lambda i: i % 3
    if isinstance(order, dict) and "listed" in order:
        return lambda i: [2, 0, 0][i % 3]
    size = 2 if isinstance(order, dict) else -(-workgroups // 3)
    return lambda i: i // size % 3


@examples(8, 125)
@given(ORDERS, few(1, 3), st.sampled_from([0, 1, 2.5]), few(1, 900), few(1, 40))
def test_warps_of_a_turn_go_in_step_on_the_cores_of_the_order(order, resident, gap, elements, rows):
    kernel = StreamingTriad(
        elements=elements, threads=32, warp_size=8, order=order, resident=resident, gap=gap, element_bytes=16
    )
    (warps,) = expected(kernel)
    numbered = {key: list(enumerate(pages)) for key, pages in warps.items()}
    core = core_of(order, -(-elements // 32))
    slowly = list(oracle.in_time(numbered, 3, core, resident, gap))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "ROWS", rows)
        patch.setattr(page_kernels, "_SPANS_AT_ONCE", rows)
        given_blocks = list(kernel.accesses(MACHINE, Streams(5)))
    assert all(0 < len(block.core) <= rows for block in given_blocks)
    assert [row for b in given_blocks for row in zip(b.cycle.tolist(), b.core.tolist(), b.page.tolist())] == slowly


def test_repeats_and_count():
    once = StreamingTriad(elements=64, threads=32)
    pages = [b.page.tolist() for b in once.accesses(MACHINE, Streams(0))]
    assert [b.page.tolist() for b in once.but(repeats=3).accesses(MACHINE, Streams(0))] == pages * 3
    assert sum(len(b.page) for b in once.but(repeats=3, count=7).accesses(MACHINE, Streams(0))) == 7


@examples(8, 100)
@given(GRAPHS, st.integers(0, 99))
def test_a_graph_has_its_edges_in_rows(graph, seed):
    rows = graph.rows(Streams(seed))
    source, target = graph.ends(Streams(seed))
    listed = sorted(zip(source.tolist(), target.tolist()))
    own = [(v, n) for v in range(rows.vertices) for n in rows.neighbour[rows.begins[v] : rows.begins[v + 1]].tolist()]
    assert own == listed
    assert len(own) == graph.edges
    assert 0 <= min(source.min(), target.min()) <= max(source.max(), target.max()) < graph.vertices


def test_a_power_law_has_hubs_and_a_uniform_graph_has_none():
    def largest(graph):
        return int(np.diff(graph.rows(Streams(1)).begins).max())

    assert largest(PowerLawGraph(scale=12)) > 20 * 16 > 3 * largest(UniformGraph(scale=12))


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        (StreamingTriad(elements=1 << 20), "streaming_triad: its arrays must fit in 2048 pages, all that the machine"),
        (StreamingTriad(order={"listed": [9]}), "streaming_triad.order.cores must name cores below 3"),
    ],
)
def test_what_a_machine_cannot_have_is_refused(kernel, says):
    assert says in refusal(kernel.accesses, MACHINE.but(address_bits=20), Streams(0))


def test_graphs_and_shares_that_do_not_go_together_are_refused():
    assert "must be at most 8 at scale 22" in refusal(UniformGraph, scale=22, degree=9)
    assert "must sum to at most 1" in refusal(PowerLawGraph, a=0.9, b=0.2)
