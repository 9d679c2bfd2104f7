"""Graphs and sparse matrices as rows of column numbers: uniform, or of a power law."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.identity import current as current_code
from workbench.levers import Family, code_of, lever
from workbench.streams import Streams


class Rows(NamedTuple):
    """A graph, or a sparse matrix: the neighbors of each vertex, lowest first; the same one may come twice."""

    begins: np.ndarray
    """int64[vertices + 1], where the neighbors of each vertex begin."""
    neighbour: np.ndarray
    """int32[edges]"""

    @property
    def vertices(self) -> int:
        """Return the number of vertices."""
        return len(self.begins) - 1


class Graph(Family, noun="graph", example="{power_law_graph: {scale: 14}}"):
    """The base of every generated graph."""

    scale: int = lever(14, least=1, most=22, unit="bits", description="there are 2^scale vertices")
    degree: int = lever(16, least=1, most=256, unit="edges", description="edges over vertices")

    def ends(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        """Return sources and targets: int64[edges] each."""
        raise NotImplementedError

    @property
    def vertices(self) -> int:
        """Return the number of vertices."""
        return 1 << self.scale

    @property
    def edges(self) -> int:
        """Return the number of edges."""
        return self.degree << self.scale

    def check(self) -> None:
        if self.edges > 1 << 25:
            most = (1 << 25) >> self.scale
            raise InputError(f"{self.name}.degree must be at most {most} at scale {self.scale}. Got {self.degree}.")

    def rows(self, streams: Streams) -> Rows:
        """Return the graph of a seed, from streams whose names begin with `graph`."""
        return _rows(self, streams.seed, (*code_of(self), current_code(Streams).digest))


@lru_cache(maxsize=2)
def _rows(graph: Graph, seed: int, code: tuple[str, ...]) -> Rows:
    source, target = graph.ends(Streams(seed))
    order = np.argsort(source * graph.vertices + target, kind="stable")
    begins = np.zeros(graph.vertices + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=graph.vertices), out=begins[1:])
    return Rows(begins, target[order].astype(np.int32))


class UniformGraph(Graph):
    """Every edge joins any two vertices with the same chance.

    References
    ----------
    P. Erdos and A. Renyi, On random graphs I, 1959 (a fixed number of edges; loops and double edges stay).
    """

    brief = ("scale", "degree")

    def ends(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        source, target = (
            (streams.uniforms(f"graph {end}", self.edges) * self.vertices).astype(np.int64) for end in ("from", "to")
        )
        return source, target


class PowerLawGraph(Graph):
    """R-MAT: an edge falls into a quarter of the matrix, then into a quarter of that, and so on.

    The quarters have the chances a, b, c and 1 - a - b - c; a vertex's number is then no clue to its degree, because
    vertices are shuffled.

    References
    ----------
    D. Chakrabarti, Y. Zhan and C. Faloutsos, R-MAT: A Recursive Model for Graph Mining, SDM 2004; the chances are those
    of the Graph 500 benchmark (0.57, 0.19, 0.19, 0.05), which shuffles vertices too.
    """

    brief = ("scale", "degree")
    a: float = lever(0.57, least=0, most=1, description="chance of the quarter of low sources and low targets")
    b: float = lever(0.19, least=0, most=1, description="chance of the quarter of low sources and high targets")
    c: float = lever(0.19, least=0, most=1, description="chance of the quarter of high sources and low targets")

    def check(self) -> None:
        super().check()
        if self.a + self.b + self.c > 1 + 1e-9:
            total = round(self.a + self.b + self.c, 6)
            raise InputError(f"{self.name}.a, b and c must sum to at most 1. Got {total}.")

    def ends(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        source, target = np.zeros(self.edges, np.int64), np.zeros(self.edges, np.int64)
        for bit in range(self.scale):
            rank = streams.uniforms(f"graph bit {bit}", self.edges)
            low_source = rank < self.a + self.b
            high_target = np.where(low_source, rank >= self.a, rank >= self.a + self.b + self.c)
            source, target = source * 2 + ~low_source, target * 2 + high_target
        shuffled = np.argsort(streams.uniforms("graph shuffle", self.vertices), kind="stable")
        return shuffled[source], shuffled[target]
