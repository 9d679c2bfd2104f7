"""Other exact probes as gates: shift-AND doubling, the bit-serial scan, the tree of (prefix, suffix, best).

- Doubling: the windows of 1, 2, 4, ... blocks, then the longest window bit by bit.
- Scan: a counter of the run so far, the longest so far, one block a cycle.
- Tree: N - 1 nodes, each joining two neighboring ranges of blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.gates import ONE, ZERO, Netlist, constant, in_each, larger, sum_of, widened
from workbench.policies.probes.gate_list import GateList


def reported(net: Netlist, state: np.ndarray, steps_are_cycles: bool) -> np.ndarray:
    """Return the longest run: from the largest j down, whether there is a window that is longer by 2**j."""
    windows = _windows(net, state, steps_are_cycles)
    longest, nothing, bits = np.full(state.size, ONE, np.int32), np.array([ONE], np.int32), list[np.ndarray]()
    for j in range(len(windows) - 1, -1, -1):
        longer = net.and_(windows[j], _ahead(longest, 1 << j, nothing))
        fits = net.signal(f"fits_{1 << j}", net.any_of(longer))
        bits.append(fits)
        if j:
            longest = net.signal(f"longest_{j}", net.select(fits, longer, longest))
            nothing = net.and_(nothing, net.not_(fits))
        if j and steps_are_cycles:
            longest, nothing, bits = net.held(longest), net.held(nothing), [net.held(bit) for bit in bits]
            net.next_cycle()
    return np.concatenate(bits[::-1])


def _windows(net: Netlist, state: np.ndarray, steps_are_cycles: bool) -> list[np.ndarray]:
    """Return the starts of the windows of 1, 2, 4, ... free blocks."""
    windows = [state]
    for j in range(state.size.bit_length() - 1):
        wider = net.and_(windows[j], _ahead(windows[j], 1 << j, np.array([ZERO])))
        windows.append(net.held(wider) if steps_are_cycles else net.signal(f"window_{2 << j}", wider))
        if steps_are_cycles:
            net.next_cycle()
    return windows


def _ahead(windows: np.ndarray, by: int, beyond: np.ndarray) -> np.ndarray:
    """Return for each block what holds `by` blocks above it; beyond the end windows of no block at all may still
    begin."""
    return np.concatenate([windows[by:], np.broadcast_to(beyond, min(by, windows.size)).astype(np.int32)])


def scanned(blocks: int) -> GateList:
    """Build every cycle one after another, so that the whole can be evaluated; the same hardware serves them all."""
    net, width = Netlist(blocks), blocks.bit_length()
    run = longest = np.full(width, ZERO, np.int32)
    for k in range(blocks):
        if k:
            run, longest = net.held(run), net.held(longest)
            net.next_cycle()
        run, longest = step(net, net.inputs[k : k + 1], run, longest)
    return GateList(net, longest, reused=True)


def one_step(blocks: int) -> Netlist:
    """Build the hardware itself: the gates of a cycle, and the registers of the run, of the longest and of the
    state."""
    width = blocks.bit_length()
    net = Netlist(1 + 2 * width)
    run, longest = step(net, net.inputs[:1], net.inputs[1 : 1 + width], net.inputs[1 + width :])
    net.held(run), net.held(longest), net.held(net.inputs[0].repeat(blocks))
    return net


def step(net: Netlist, block: np.ndarray, run: np.ndarray, longest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the run with one more block, or 0 where the block is occupied, and the longest of the runs so far."""
    run = net.and_(block, sum_of(net, run, np.array([1], np.int32), run.size))
    return run, larger(net, run, longest)


class Ranges(NamedTuple):
    """Neighboring ranges of equally many blocks; numbers are int32[bits, ranges]."""

    size: int
    """Blocks of each range."""
    full: np.ndarray
    """int32[ranges], whether all blocks are free."""
    prefix: np.ndarray
    """Free blocks at the low end."""
    suffix: np.ndarray
    """Free blocks at the high end."""
    best: np.ndarray
    """The longest run."""


def root_of(net: Netlist, state: np.ndarray, levels_are_cycles: bool) -> tuple[Ranges, int]:
    """Join blocks level by level into one range, and count the nodes; a range without a neighbor waits for the next
    level."""
    row, nodes, level = state[None], 0, 0
    ranges, odd = Ranges(1, state, row, row, row), None
    while ranges.full.size + (odd is not None) > 1:
        if level and levels_are_cycles:
            ranges, odd = _held(net, ranges), odd and _held(net, odd)
            net.next_cycle()
        pairs, level = ranges.full.size // 2, level + 1
        last = _some(ranges, slice(2 * pairs, None)) if ranges.full.size % 2 else None
        nodes += pairs + (last is not None and odd is not None)
        odd = joined(net, last, odd) if last and odd else last or odd
        if pairs == 0:
            assert odd is not None
            return odd, nodes
        ranges = joined(net, _some(ranges, slice(0, 2 * pairs, 2)), _some(ranges, slice(1, 2 * pairs, 2)))
        _name(net, level, ranges)
    return ranges, nodes


def _name(net: Netlist, level: int, ranges: Ranges) -> None:
    for name, wires in zip(Ranges._fields[1:], ranges[1:], strict=True):
        net.signal(f"{name}_{level}", wires.reshape(-1))


def joined(net: Netlist, low: Ranges, high: Ranges) -> Ranges:
    """Return each range of the one with its upper neighbor of the other: a node of the tree for each."""
    size = low.size + high.size
    bits = size.bit_length()
    past_low = sum_of(net, in_each(constant(low.size, bits), high.prefix), high.prefix, bits)
    past_high = sum_of(net, in_each(constant(high.size, bits), low.suffix), low.suffix, bits)
    across = sum_of(net, low.suffix, high.prefix, bits)
    inside = larger(net, widened(low.best, bits), widened(high.best, bits))
    return Ranges(
        size,
        net.and_(low.full, high.full),
        net.select(low.full, past_low, widened(low.prefix, bits)),
        net.select(high.full, past_high, widened(high.suffix, bits)),
        larger(net, inside, across),
    )


def _some(ranges: Ranges, which: slice) -> Ranges:
    return Ranges(ranges.size, ranges.full[which], *(number[:, which] for number in ranges[2:]))


def _held(net: Netlist, ranges: Ranges) -> Ranges:
    return Ranges(ranges.size, *(net.held(wires) for wires in ranges[1:]))
