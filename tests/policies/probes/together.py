"""A probe and its slow twin are asked about the same states; every report is compared."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from hypothesis import strategies as st

from workbench.policies.probes.contract import asks
from workbench.policies.probes.question import Probe
from workbench.policies.scenes import Speaker
from workbench.structures.bitmaps import packed

SIZES = [2, 3, 7, 16, 63, 64, 65, 100, 127, 128, 129, 192, 1000, 1824, 4096]


blocks_of_any_size = st.sampled_from(SIZES) | st.integers(2, 300)


@st.composite
def free_maps(draw, sizes=blocks_of_any_size):
    """A list of bools: single blocks or long ranges, free or occupied by turns."""
    blocks = draw(sizes)
    lengths = draw(st.lists(st.integers(1, 4) | st.integers(1, 80) | st.integers(1, blocks), min_size=1, max_size=40))
    free, turn = [], draw(st.booleans())
    while len(free) < blocks:
        for length in lengths:
            free += [turn] * length
            turn = not turn
    return free[:blocks]


def compare_on_every_state(probe: Probe, twin: Callable[[list[bool]], int], blocks: int) -> None:
    """Every state of a resource."""
    ask = Speaker(probe).ask
    for state in product((False, True), repeat=blocks):
        free = list(state)
        assert ask(asks(packed(free), blocks)) == twin(free), free


def compare(probe: Probe, twin: Callable[[list[bool]], int], free: list[bool]) -> None:
    """One state."""
    assert Speaker(probe).ask(asks(packed(free), len(free))) == twin(free)
