"""Which pages do kernels on dense arrays touch? A triad, a sum, a transpose, a product of matrices, two stencils."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.synthetic.page_kernels import Launch, PageKernel, Spans, Touched, joined, spans
from workbench.workloads.workload import Generator


class StreamingTriad(PageKernel, Generator):
    """Thread i loads b[i] and c[i] and stores a[i]: no page comes again once all cores are past it.

    References
    ----------
    J. D. McCalpin, STREAM: Sustainable Memory Bandwidth in High Performance Computers (triad). Thread i of the grid has
    element i; a warp's instruction touches warp_size elements in a row.

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> (block,) = StreamingTriad(elements=2048, threads=1024).accesses(TranslationMachine(cores=2), Streams(0))
    >>> len(block.page), sorted(set(block.page.tolist()))  # 64 warps, three instructions each
    (192, [0, 1, 2, 3, 4, 5])
    """

    elements: int = lever(1 << 20, least=1, most=1 << 30, scale="log", unit="elements", description="of each array")
    threads: int = lever(256, least=32, most=1024, scale="power_of_two", unit="threads", description="of a workgroup")

    def array_bytes(self) -> list[int]:
        """Return the bytes of a, b and c."""
        return [self.elements * self.element_bytes] * 3

    def launches(self, places: list[int], streams: Streams) -> Iterator[Launch]:
        warps = max(self.threads // self.warp_size, 1)

        def touched(workgroup: np.ndarray) -> Spans:
            lane = workgroup[:, None, None] * self.threads + np.arange(warps)[:, None] * self.warp_size
            active = np.clip(self.elements - lane, 0, min(self.warp_size, self.threads))
            begins = np.array([places[1], places[2], places[0]])
            return spans(
                np.arange(len(workgroup))[:, None, None],
                np.arange(warps)[:, None],
                np.arange(3),
                begins + lane * self.element_bytes,
                active * self.element_bytes,
            )

        yield Launch(-(-self.elements // self.threads), touched, 3 * warps)


class Reduction(PageKernel, Generator):
    """Each workgroup sums a tile of an array and stores one partial sum; launches go on until one sum is left.

    A thread loads `items` elements, a workgroup's width apart; the partial sums of a launch are the array of the next
    one, behind it. Within a workgroup sums are added in shared memory, which has no pages; its first warp stores.

    References
    ----------
    M. Harris, Optimizing Parallel Reduction in CUDA, NVIDIA (several elements a thread, a launch a level).

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> kernel = Reduction(elements=4096, threads=256, items=4)
    >>> blocks = list(kernel.accesses(TranslationMachine(cores=2), Streams(0)))
    >>> [len(block.page) for block in blocks]  # 4 workgroups of 8 warps load four times and store once; then one does
    [132, 2]
    """

    elements: int = lever(1 << 20, least=2, most=1 << 30, scale="log", unit="elements", description="of the array")
    threads: int = lever(256, least=32, most=1024, scale="power_of_two", unit="threads", description="of a workgroup")
    items: int = lever(8, least=1, most=1024, unit="elements", description="that a thread loads")

    def sizes(self) -> list[int]:
        """Return the elements of each array: the first, and the partial sums of each launch."""
        result = [self.elements]
        while result[-1] > 1:
            result.append(-(-result[-1] // (self.threads * self.items)))
        return result

    def array_bytes(self) -> list[int]:
        """Return the bytes of the array and the partial sums of each launch."""
        return [size * self.element_bytes for size in self.sizes()]

    def launches(self, places: list[int], streams: Streams) -> Iterator[Launch]:
        sizes = self.sizes()
        warps = max(self.threads // self.warp_size, 1)
        for level in range(len(sizes) - 1):
            yield Launch(sizes[level + 1], self._touching(sizes[level], *places[level : level + 2]), warps * self.items)

    def _touching(self, elements: int, loaded: int, stored: int) -> Touched:
        width, warps = self.threads, max(self.threads // self.warp_size, 1)
        lanes = min(self.warp_size, self.threads)

        def touched(workgroup: np.ndarray) -> Spans:
            place, warp, item = (
                np.arange(len(workgroup))[:, None, None],
                np.arange(warps)[:, None],
                np.arange(self.items),
            )
            lane = (workgroup[:, None, None] * self.items + item) * width + warp * self.warp_size
            active = np.clip(elements - lane, 0, lanes) * self.element_bytes
            loads = spans(place, warp, item, loaded + lane * self.element_bytes, active)
            store = spans(place.ravel(), 0, self.items, stored + workgroup * self.element_bytes, self.element_bytes)
            return joined([loads, store])

        return touched


class Transpose(PageKernel, Generator):
    """A square matrix, row after row; a workgroup reads a tile and writes it mirrored, a row each instruction.

    A tile is warp_size on a side and a workgroup has eight warps; warp w has rows w, w + 8, ... of the tile. With
    `through_shared` the tile is turned in shared memory and rows are written as they were read; without, each lane
    writes to a row of its own, which are as many pages as lanes once a row of the matrix has a page.

    References
    ----------
    G. Ruetsch and P. Micikevicius, Optimizing Matrix Transpose in CUDA, NVIDIA 2009 (transposeNaive,
    transposeCoalesced).

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> def pages(**levers):
    ...     blocks = Transpose(side=64, **levers).accesses(TranslationMachine(cores=4), Streams(0))
    ...     return sum(len(block.page) for block in blocks)
    >>> pages(), pages(through_shared=False), pages(through_shared=False, element_bytes=16)
    (256, 384, 1152)
    """

    side: int = lever(
        1024, least=1, most=1 << 18, scale="log", unit="elements", description="rows and columns of the matrix"
    )
    through_shared: bool = lever(
        True, description="whether tiles are turned in shared memory, so that writes are coalesced"
    )

    def array_bytes(self) -> list[int]:
        """Return the bytes of what is read, and of what is written."""
        return [self.side * self.side * self.element_bytes] * 2

    def launches(self, places: list[int], streams: Streams) -> Iterator[Launch]:
        tiles = -(-self.side // self.warp_size)

        def touched(workgroup: np.ndarray) -> Spans:
            tile_y, tile_x = workgroup // tiles, workgroup % tiles
            reads = self._rows(workgroup, tile_y, tile_x, places[0], 0)
            if self.through_shared:
                return joined([reads, self._rows(workgroup, tile_x, tile_y, places[1], 1)])
            return joined([reads, self._columns(workgroup, tile_x, tile_y, places[1])])

        yield Launch(tiles * tiles, touched, self.warp_size * (2 if self.through_shared else 1 + self.warp_size))

    def _rows(self, workgroup: np.ndarray, tile_y: np.ndarray, tile_x: np.ndarray, base: int, kind: int) -> Spans:
        """Return a row of a tile each instruction."""
        tile = self.warp_size
        row = np.arange(tile)
        y, x = tile_y[:, None] * tile + row, tile_x[:, None] * tile
        active = np.where(y < self.side, np.clip(self.side - x, 0, tile), 0)
        first = base + (y * self.side + x) * self.element_bytes
        return spans(_places(workgroup), row % 8, self._step(row, kind), first, active * self.element_bytes)

    def _columns(self, workgroup: np.ndarray, tile_y: np.ndarray, tile_x: np.ndarray, base: int) -> Spans:
        """Return a column of a tile each instruction: row r of what was read goes to column r, a lane to each row."""
        tile = self.warp_size
        row, lane = np.arange(tile)[:, None], np.arange(tile)
        y, x = tile_y[:, None, None] * tile + lane, tile_x[:, None, None] * tile + row
        first = base + (y * self.side + x) * self.element_bytes
        active = ((y < self.side) & (x < self.side)) * self.element_bytes
        return spans(_places(workgroup)[:, :, None], row % 8, self._step(row, 1), first, active)

    def _step(self, row: np.ndarray, kind: int) -> np.ndarray:
        """Return the steps: all reads of a warp come before its writes where they go through shared memory, else they
        take turns."""
        turn = row // 8
        return turn + kind * -(-self.warp_size // 8) if self.through_shared else turn * 2 + kind


def _places(workgroup: np.ndarray) -> np.ndarray:
    return np.arange(len(workgroup))[:, None]


class TiledGemm(PageKernel, Generator):
    """C = A B, all row after row; a workgroup of tile x tile threads has a tile of C and walks along k.

    In step k thread (y, x) loads A[row, k tile + x] and B[k tile + y, column] into shared memory; at the end it stores
    C[row, column]. Workgroups of a row of tiles read the same rows of A, those of a column the same columns of B.

    References
    ----------
    CUDA C++ Programming Guide, section 3.2.4 Shared Memory (tiled matrix multiplication); threads of a workgroup are
    numbered with x fastest, workgroups of the grid likewise.

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> kernel = TiledGemm(m=32, n=64, k=32, tile=16)
    >>> (block,) = kernel.accesses(TranslationMachine(cores=4), Streams(0))
    >>> len(block.page), sorted(set(block.page.tolist()))  # 8 workgroups of 8 warps: 2 steps of 2 loads, a store
    (320, [0, 1, 2, 3, 4])
    """

    m: int = lever(512, least=1, most=1 << 16, scale="log", unit="rows", description="rows of A and C")
    n: int = lever(512, least=1, most=1 << 16, scale="log", unit="columns", description="columns of B and C")
    k: int = lever(512, least=1, most=1 << 16, scale="log", unit="elements", description="columns of A, rows of B")
    tile: int = lever(
        32, least=8, most=32, scale="power_of_two", unit="threads", description="rows and columns of a tile"
    )

    def array_bytes(self) -> list[int]:
        """Return the bytes of A, B and C."""
        return [rows * columns * self.element_bytes for rows, columns in self._shapes()]

    def _shapes(self) -> list[tuple[int, int]]:
        return [(self.m, self.k), (self.k, self.n), (self.m, self.n)]

    def launches(self, places: list[int], streams: Streams) -> Iterator[Launch]:
        down, across, steps = (-(-size // self.tile) for size in (self.m, self.n, self.k))

        def touched(workgroup: np.ndarray) -> Spans:
            place = np.arange(len(workgroup))[:, None, None, None]
            tile_y, tile_x = (workgroup // across)[:, None, None, None], (workgroup % across)[:, None, None, None]
            along = np.arange(steps)[:, None, None]
            loads_a = self._tile(places, 0, place, tile_y, along, along * 2)
            loads_b = self._tile(places, 1, place, along, tile_x, along * 2 + 1)
            return joined([loads_a, loads_b, self._tile(places, 2, place, tile_y, tile_x, steps * 2)])

        yield Launch(down * across, touched, self.tile * (2 * steps + 1))

    def _tile(self, places: list[int], which: int, place: np.ndarray, tile_y: Any, tile_x: Any, step: Any) -> Spans:
        """Return all of a tile of a matrix, an instruction of each warp; what a warp has of a row of it is a span."""
        rows, columns = self._shapes()[which]
        width = min(self.tile, self.warp_size)
        line, piece = np.arange(self.tile)[:, None], np.arange(self.tile // width)
        y, x = tile_y * self.tile + line, tile_x * self.tile + piece * width
        first = places[which] + (y * columns + x) * self.element_bytes
        active = np.where(y < rows, np.clip(columns - x, 0, width), 0) * self.element_bytes
        return spans(place, (line * self.tile + piece * width) // self.warp_size, step, first, active)


class GridStencil(PageKernel):
    """The base of stencils: each interior point is loaded with its neighbors, in this order, and stored elsewhere.

    A workgroup covers warp_size points along x and `rows` rows of a plane, a warp a row; workgroups are numbered along
    x, then y, then z. The border is read and never written.
    """

    width: int = lever(1024, least=3, most=1 << 20, scale="log", unit="points", description="along x")
    height: int = lever(1024, least=3, most=1 << 20, scale="log", unit="points", description="along y")
    rows: int = lever(8, least=1, most=32, unit="warps", description="rows that a workgroup covers")

    def planes(self) -> int:
        """Return the points along z."""
        raise NotImplementedError

    def neighbours(self) -> Sequence[tuple[int, int, int]]:
        """Return the loads for a point, as steps along z, y and x from it."""
        raise NotImplementedError

    def array_bytes(self) -> list[int]:
        """Return the bytes of the grid that is read, and of the one that is written."""
        return [self.width * self.height * self.planes() * self.element_bytes] * 2

    def launches(self, places: list[int], streams: Streams) -> Iterator[Launch]:
        across, down = -(-self.width // self.warp_size), -(-self.height // self.rows)

        def touched(workgroup: np.ndarray) -> Spans:
            z, rest = workgroup // (across * down), workgroup % (across * down)
            y = (rest // across * self.rows)[:, None] + np.arange(self.rows)
            x = rest % across * self.warp_size
            steps = [*((places[0], by) for by in self.neighbours()), (places[1], (0, 0, 0))]
            return joined([self._one(base, by, z, y, x, step) for step, (base, by) in enumerate(steps)])

        yield Launch(across * down * self.planes(), touched, self.rows * (len(self.neighbours()) + 1))

    def _one(
        self, base: int, by: tuple[int, int, int], z: np.ndarray, y: np.ndarray, x: np.ndarray, step: int
    ) -> Spans:
        """Return one instruction of every warp: its interior points, all moved by the same steps."""
        first, end = np.maximum(x, 1), np.minimum(x + self.warp_size, self.width - 1)
        inside = (y > 0) & (y < self.height - 1)
        if self.planes() > 1:
            inside &= ((z > 0) & (z < self.planes() - 1))[:, None]
        point = ((z + by[0])[:, None] * self.height + y + by[1]) * self.width + (first + by[2])[:, None]
        active = np.where(inside, np.maximum(end - first, 0)[:, None], 0)
        place, warp = np.arange(len(z))[:, None], np.arange(self.rows)
        return spans(place, warp, step, base + point * self.element_bytes, active * self.element_bytes)


class StencilPlane(GridStencil, Generator):
    """The 2-D stencil: each point with its neighbors north, south, west and east.

    References
    ----------
    Five-point Jacobi iteration for Poisson's equation on a plane (one launch an iteration; `repeats` gives more).

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> from workbench.streams import Streams
    >>> kernel = StencilPlane(width=64, height=8)
    >>> (block,) = kernel.accesses(TranslationMachine(cores=2), Streams(0))
    >>> len(block.page), sorted(set(block.page.tolist()))  # 2 workgroups of 6 interior rows, 6 instructions each
    (72, [0, 1])
    """

    def planes(self) -> int:
        return 1

    def neighbours(self) -> Sequence[tuple[int, int, int]]:
        return (0, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)


class StencilVolume(GridStencil, Generator):
    """The 3-D stencil: each point with its neighbors below, above, north, south, west and east.

    References
    ----------
    Seven-point Jacobi iteration for Poisson's equation in a volume; a plane is far apart from the next one, so a point
    has pages of three planes.

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> from workbench.streams import Streams
    >>> kernel = StencilVolume(width=32, height=32, depth=3)
    >>> (block,) = kernel.accesses(TranslationMachine(cores=2), Streams(0))
    >>> len(block.page), sorted(set(block.page.tolist()))  # 30 interior rows of one plane, 8 instructions each
    (240, [0, 1, 2, 4])
    """

    width: int = lever(128, least=3, most=1 << 20, scale="log", unit="points", description="along x")
    height: int = lever(128, least=3, most=1 << 20, scale="log", unit="points", description="along y")
    depth: int = lever(128, least=3, most=1 << 16, scale="log", unit="points", description="along z")

    def planes(self) -> int:
        return self.depth

    def neighbours(self) -> Sequence[tuple[int, int, int]]:
        return (0, 0, 0), (-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)
