"""What each thread of a kernel touches, thread by thread, from the kernels' references: no arrays, no spans.

A program answers with (step, address) of every element that one thread accesses; lanes of a warp that are at the same
step execute one instruction.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator

Touched = Iterable[tuple[int, int]]
Program = Callable[[int, int], Touched]


def by_warp(program: Program, workgroups: int, threads: int, warp_size: int, element: int, page_bytes: int) -> dict:
    """The pages of every instruction of every warp: (workgroup, warp) -> a list of sorted lists."""
    result = {}
    for workgroup in range(workgroups):
        for warp in range(-(-threads // warp_size)):
            pages = defaultdict(set)
            for thread in range(warp * warp_size, min((warp + 1) * warp_size, threads)):
                for step, address in program(workgroup, thread):
                    pages[step].update(range(address // page_bytes, (address + element - 1) // page_bytes + 1))
            if pages:
                result[workgroup, warp] = [sorted(pages[step]) for step in sorted(pages)]
    return result


def triad(k, places):
    def program(workgroup, thread):
        i = workgroup * k.threads + thread
        if i < k.elements:
            for step, base in enumerate((places[1], places[2], places[0])):
                yield step, base + i * k.element_bytes

    return [(program, -(-k.elements // k.threads), k.threads)]


def reduction(k, places):
    launches, elements, base = [], k.elements, 0
    while elements > 1:
        launches.append(_sum(k, elements, places[base], places[base + 1]))
        elements, base = -(-elements // (k.threads * k.items)), base + 1
    return launches


def _sum(k, elements, loaded, stored):
    def program(workgroup, thread):
        for item in range(k.items):
            i = (workgroup * k.items + item) * k.threads + thread
            if i < elements:
                yield item, loaded + i * k.element_bytes
        if thread == 0:
            yield k.items, stored + workgroup * k.element_bytes

    return program, -(-elements // (k.threads * k.items)), k.threads


def transpose(k, places):
    tiles = -(-k.side // k.warp_size)

    def program(workgroup, thread):
        by, bx = divmod(workgroup, tiles)
        ty, tx = divmod(thread, k.warp_size)
        rows = range(ty, k.warp_size, 8)
        for turn, j in enumerate(rows):
            y, x = by * k.warp_size + j, bx * k.warp_size + tx
            inside = y < k.side and x < k.side
            if inside:
                yield turn * 2, places[0] + (y * k.side + x) * k.element_bytes
                if not k.through_shared:
                    yield turn * 2 + 1, places[1] + (x * k.side + y) * k.element_bytes
            out_y, out_x = bx * k.warp_size + j, by * k.warp_size + tx
            if k.through_shared and out_y < k.side and out_x < k.side:
                yield 1000 + turn, places[1] + (out_y * k.side + out_x) * k.element_bytes

    return [(program, tiles * tiles, 8 * k.warp_size)]


def gemm(k, places):
    across = -(-k.n // k.tile)

    def program(workgroup, thread):
        (by, bx), (ty, tx) = divmod(workgroup, across), divmod(thread, k.tile)
        row, column = by * k.tile + ty, bx * k.tile + tx
        for step in range(-(-k.k // k.tile)):
            if row < k.m and step * k.tile + tx < k.k:
                yield 2 * step, places[0] + (row * k.k + step * k.tile + tx) * k.element_bytes
            if step * k.tile + ty < k.k and column < k.n:
                yield 2 * step + 1, places[1] + ((step * k.tile + ty) * k.n + column) * k.element_bytes
        if row < k.m and column < k.n:
            yield 1 << 20, places[2] + (row * k.n + column) * k.element_bytes

    return [(program, -(-k.m // k.tile) * across, k.tile * k.tile)]


def stencil(k, places):
    depth = getattr(k, "depth", 1)
    across, down = -(-k.width // k.warp_size), -(-k.height // k.rows)
    plane = [(0, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)]
    loads = plane if depth == 1 else [(0, 0, 0), (-1, 0, 0), (1, 0, 0), *plane[1:]]

    def program(workgroup, thread):
        bx, by, z = workgroup % across, workgroup // across % down, workgroup // across // down
        x, y = bx * k.warp_size + thread % k.warp_size, by * k.rows + thread // k.warp_size
        inside = 0 < x < k.width - 1 and 0 < y < k.height - 1 and (depth == 1 or 0 < z < depth - 1)
        if inside:
            for step, (dz, dy, dx) in enumerate(loads):
                yield step, places[0] + (((z + dz) * k.height + y + dy) * k.width + x + dx) * k.element_bytes
            yield 99, places[1] + ((z * k.height + y) * k.width + x) * k.element_bytes

    return [(program, across * down * depth, k.rows * k.warp_size)]


def embedding(k, places, rows):
    parts = -(-k.dimension // k.warp_size)

    def program(workgroup, thread):
        warp, lane = divmod(thread, k.warp_size)
        bag = workgroup * k.warps + warp
        if bag >= k.bags:
            return
        elements = [(part, part * k.warp_size + lane) for part in range(parts)]
        for lookup, row in enumerate(rows[bag]):
            for byte in range(0, 8, k.element_bytes):
                yield lookup * 100, places[1] + (bag * k.lookups + lookup) * 8 + byte
            for part, element in elements:
                if element < k.dimension:
                    yield lookup * 100 + 1 + part, places[0] + (row * k.dimension + element) * k.element_bytes
        for part, element in elements:
            if element < k.dimension:
                yield (1 << 30) + part, places[2] + (bag * k.dimension + element) * k.element_bytes

    return [(program, -(-k.bags // k.warps), k.warps * k.warp_size)]


def spmv(k, places, neighbours):
    """`neighbours`: a list of lists."""
    begins = _begins(neighbours)

    def program(workgroup, thread):
        warp, lane = divmod(thread, k.warp_size)
        row = workgroup * k.warps + warp
        if row >= len(neighbours):
            return
        yield 0, places[0] + row * 4
        yield 0, places[0] + row * 4 + 4
        for j in range(lane, len(neighbours[row]), k.warp_size):
            step = 1 + j // k.warp_size * 3
            yield step, places[1] + (begins[row] + j) * 4
            yield step + 1, places[2] + (begins[row] + j) * k.element_bytes
            yield step + 2, places[3] + neighbours[row][j] * k.element_bytes
        if lane == 0:
            yield 1 << 40, places[4] + row * k.element_bytes

    return [(program, -(-len(neighbours) // k.warps), k.warps * k.warp_size)]


def bfs(k, places, neighbours):
    begins, level = _begins(neighbours), _levels(neighbours)

    def at(current):
        def program(workgroup, thread):
            warp, lane = divmod(thread, k.warp_size)
            vertex = workgroup * k.warps + warp
            if vertex >= len(neighbours):
                return
            yield 0, places[2] + vertex * k.element_bytes
            if level.get(vertex) != current:
                return
            yield 1, places[0] + vertex * 4
            yield 1, places[0] + vertex * 4 + 4
            for j in range(lane, len(neighbours[vertex]), k.warp_size):
                other, step = neighbours[vertex][j], 2 + j // k.warp_size * 3
                yield step, places[1] + (begins[vertex] + j) * 4
                yield step + 1, places[2] + other * k.element_bytes
                if level[other] > current:
                    yield step + 2, places[2] + other * k.element_bytes

        return program, -(-len(neighbours) // k.warps), k.warps * k.warp_size

    return [at(current) for current in range(max(level.values()) + 1)]


def _begins(neighbours: list[list[int]]) -> list[int]:
    begins = [0]
    for others in neighbours:
        begins.append(begins[-1] + len(others))
    return begins


def _levels(neighbours: list[list[int]]) -> dict[int, int]:
    start = max(range(len(neighbours)), key=lambda vertex: (len(neighbours[vertex]), -vertex))
    level, queue = {start: 0}, deque([start])
    while queue:
        vertex = queue.popleft()
        for other in neighbours[vertex]:
            if other not in level:
                level[other] = level[vertex] + 1
                queue.append(other)
    return level


def in_time(warps: dict, cores: int, core_of: Callable[[int], int], resident: int, gap: float) -> Iterator[tuple]:
    """(cycle, core, page) of every access, a turn of every core after the other, all warps of a turn in step.

    `warps`: (workgroup, warp) -> [(step, sorted pages), ...].
    """
    begun, waves = [0] * cores, defaultdict(list)
    for workgroup in sorted({workgroup for workgroup, _ in warps}):
        core = core_of(workgroup)
        waves[begun[core] // resident].append(workgroup)
        begun[core] += 1
    issued, now = [0] * cores, 0
    for wave in sorted(waves):
        steps = [
            (step, waves[wave].index(workgroup), warp, workgroup, pages)
            for (workgroup, warp), instructions in warps.items()
            if workgroup in waves[wave]
            for step, pages in instructions
        ]
        for _, _, _, workgroup, pages in sorted(steps):
            for page in pages:
                core = core_of(workgroup)
                now = max(now, int(issued[core] * gap))
                issued[core] += 1
                yield now, core, page
