"""The lines that the measuring program would print on a made-up card, by planted laws of its own."""

from __future__ import annotations

from collections.abc import Sequence

UNITS, THREADS, SHARED = 4, 1024, 64 * 1024
CARD = f"""platform=cuda
name=Planted 1
version=9.0
units={UNITS}
wave_size=32
threads_a_unit={THREADS}
blocks_a_unit=16
registers_a_unit=65536
shared_bytes_a_unit={SHARED}
free_bytes={400 << 20}"""
NAMES = (12, 3, 8, 1)
"""How the card numbers its SMs."""
ENTRIES, PAGE_KIB, HIT_CYCLES, MISS_CYCLES = 16, 128, 200, 60


def measure(*arguments: object) -> list[str]:
    """Return the lines that the program would print."""
    name, *numbers = arguments
    given = [int(str(number)) for number in numbers]
    match name:
        case "card":
            return CARD.splitlines()
        case "blocks":
            return ["registers=16", *_blocks(given[0], [given[k : k + 5] for k in range(1, len(given), 5)])]
        case "chase":
            return _chase(*given)
        case "heap":
            return [f"{0.02 + given[1] / 1000}"] * given[2]
        case "lock":
            return [f"{0.01 * given[0]}"] * (given[1] - 1) + ["99"]
    raise AssertionError(name)


def _chase(stride: int, least: int, most: int, repeats: int) -> list[str]:
    """A level of 16 pages of 128 KiB: a cyclic chase over more of them misses whenever it comes to another page."""
    lines = []
    for kib in range(-(-least // stride) * stride, most + 1, stride):
        accesses, pages = kib // stride, -(-kib // max(stride, PAGE_KIB))
        misses = pages / accesses if pages > ENTRIES else 0
        lines.append(f"{kib},{HIT_CYCLES + misses * MISS_CYCLES + 0.004:.3f}")
    return lines


def _blocks(streams: int, kernels: Sequence[Sequence[int]]) -> list[str]:
    """The block goes to the unit with the fewest threads; kernels start in their order, those of a stream in turn."""
    now, running, lines = 1_000_000, list[tuple[int, int, int]](), list[str]()
    ends = [0] * len(kernels)
    for number, (blocks, threads, shared, least, spread) in enumerate(kernels):
        before = number - streams
        now = max(now, ends[before] if before >= 0 else 0)
        for block in range(blocks):
            while True:
                running = [one for one in running if one[0] > now]
                held = [[one for one in running if one[1] == unit] for unit in range(UNITS)]
                busy = [sum(kernels[k][1] for _, _, k in own) for own in held]
                memory = [sum(kernels[k][2] for _, _, k in own) for own in held]
                open_units = [
                    unit
                    for unit in range(UNITS)
                    if busy[unit] + threads <= THREADS and memory[unit] + shared <= SHARED and len(held[unit]) < 16
                ]
                if open_units:
                    break
                now = min(end for end, _, _ in running)
            unit = min(open_units, key=lambda it: (busy[it], it))
            end = now + least + (block * 7919 % 997) * spread // 997
            running.append((end, unit, number))
            ends[number] = max(ends[number], end)
            lines.append(f"{number},{number % streams},{block},{NAMES[unit]},{now},{end},{block % 4 * 1024}")
    return lines
