"""The generator that a sweep file names, with its levers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.errors import at, unknown_name, wrong_value
from workbench.parts import from_file, is_in_file
from workbench.workloads.kind import check_kind
from workbench.workloads.synthetic.allocator_reports import AwaitedBlock, GrowingCycle
from workbench.workloads.synthetic.applications.graph_steps import GraphSteps
from workbench.workloads.synthetic.applications.served_model import ServedModel
from workbench.workloads.synthetic.applications.small_kernels import SmallKernels
from workbench.workloads.synthetic.applications.stencil_steps import StencilSteps
from workbench.workloads.synthetic.applications.training_steps import TrainingSteps
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
from workbench.workloads.synthetic.serving_cache import ServingCache
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
    GraphSteps,
    ServedModel,
    SmallKernels,
    StencilSteps,
    TrainingSteps,
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
    ServingCache,
    GrowingCycle,
    AwaitedBlock,
)
"""Importing this module defines them; a generator of one's own joins them by being defined."""


def generators(wants: str) -> dict[str, type[Generator]]:
    """Return the generators of what an engine wants, by name.

    >>> sorted(generators("groups"))
    ['random_groups']
    """
    return {name: cls for name, cls in Generator.members.items() if cls.gives(wants)}


def add_generator(cls: type[Generator]) -> type[Generator]:
    """Enter a generator of one's own, which it does by itself when it is defined; defined again, the later one counts.

    Raises
    ------
    InputError
        It is no generator, or the workbench has one of that name.

    Examples
    --------
    >>> add_generator(int)
    Traceback (most recent call last):
    workbench.errors.InputError: a generator must be a class that derives from Generator. Got <class 'int'>.
    """
    if not (isinstance(cls, type) and issubclass(cls, Generator)):
        raise wrong_value("", "a generator", "must be a class that derives from Generator", cls)
    joined: type[Generator] = Generator.members.joined(cls)
    return joined


def generator_in_file(name: str, folder: Path, where: str) -> type[Generator]:
    """Return the generator that `FILE.py:CLASS` names, as `workbench.parts.user_files` does; errors as of that."""
    generator: type[Generator] = from_file(name, folder, where, "generator", _is_generator)
    return generator


def _is_generator(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Generator) and value is not Generator


def read_generator(
    name: object,
    levers: Mapping[str, Any],
    path: str = "workload",
    where: str = "",
    wants: str = "workgroups",
    folder: Path | None = None,
) -> Generator:
    """Read the generator of a name with some levers set; it must give what an engine `wants`.

    >>> read_generator("random_workgroups", {"count": 10, "size": 4}).count
    10

    Raises
    ------
    InputError
        The name or a lever is unknown, a value is not allowed, or the generator gives something else; the sentence
        holds the path.
    """
    place = at(where, f"{path}.synthetic")
    if isinstance(name, str) and is_in_file(name):
        cls = generator_in_file(name, folder or Path(), place)
    elif isinstance(name, str) and name in Generator.members:
        cls = Generator.members[name]
    else:
        raise unknown_name(place, "generator", name, generators(wants))
    check_kind(cls, wants, f"generator {cls.name}", generators(wants), place)
    return cls.read(levers, path, where)
