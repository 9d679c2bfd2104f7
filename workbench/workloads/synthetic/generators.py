"""The generator that a sweep file names, with its levers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.errors import at, unknown_name
from workbench.workloads.kind import check_kind
from workbench.workloads.synthetic.full_card import FullCard
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.kernels.csr_spmv import CsrSpmv
from workbench.workloads.synthetic.kernels.embedding_gather import EmbeddingGather
from workbench.workloads.synthetic.kernels.graph_bfs import GraphBfs
from workbench.workloads.synthetic.kernels.reduction import Reduction
from workbench.workloads.synthetic.kernels.stencil_plane import StencilPlane
from workbench.workloads.synthetic.kernels.stencil_volume import StencilVolume
from workbench.workloads.synthetic.kernels.streaming_triad import StreamingTriad
from workbench.workloads.synthetic.kernels.tiled_gemm import TiledGemm
from workbench.workloads.synthetic.kernels.transpose import Transpose
from workbench.workloads.synthetic.mixed_jobs import MixedJobs
from workbench.workloads.synthetic.private_arrays import PrivateArrays
from workbench.workloads.synthetic.producer_consumer import ProducerConsumer
from workbench.workloads.synthetic.random_groups import RandomGroups
from workbench.workloads.synthetic.random_mallocs import RandomMallocs
from workbench.workloads.synthetic.random_workgroups import RandomWorkgroups
from workbench.workloads.synthetic.shared_sweep import SharedSweep
from workbench.workloads.synthetic.stencil_halo import StencilHalo
from workbench.workloads.synthetic.training_memory import DataParallel, PipelineParallel
from workbench.workloads.synthetic.zipf_mixture import ZipfMixture

BUILT_IN = (
    RandomWorkgroups,
    RandomGroups,
    RandomMallocs,
    SharedSweep,
    PrivateArrays,
    StencilHalo,
    ZipfMixture,
    ProducerConsumer,
    TiledGemm,
    StencilPlane,
    StencilVolume,
    CsrSpmv,
    GraphBfs,
    EmbeddingGather,
    Reduction,
    Transpose,
    StreamingTriad,
    DataParallel,
    PipelineParallel,
    FullCard,
    MixedJobs,
)
"""Importing this module defines them; a generator of one's own joins them by being defined."""


def generators(wants: str) -> dict[str, type[Generator]]:
    """The generators of what an engine wants, by name.

    >>> sorted(generators("groups"))
    ['random_groups']
    """
    return {name: cls for name, cls in Generator.members.items() if cls.gives(wants)}


def read_generator(
    name: object, levers: Mapping[str, Any], path: str = "workload", where: str = "", wants: str = "workgroups"
) -> Generator:
    """The generator of a name with some levers set; it must give what an engine `wants`.

    >>> read_generator("random_workgroups", {"count": 10, "size": 4}).count
    10

    Raises
    ------
    InputError
        The name or a lever is unknown, a value is not allowed, or the generator gives something else; the sentence
        holds the path.
    """
    place = at(where, f"{path}.synthetic")
    if not isinstance(name, str) or name not in Generator.members:
        raise unknown_name(place, "generator", name, generators(wants))
    check_kind(Generator.members[name], wants, f"generator {name}", generators(wants), place)
    built: Generator = Generator.members[name].read(levers, path, where)
    return built
