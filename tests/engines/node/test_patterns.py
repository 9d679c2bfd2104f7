"""What a program touches is the same at every page size: bytes over a link by hand, and beside sets of lines
(spec 6, R7)."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.engines.node.test_theory import kernel, setup, simulated
from tests.oracles.node import patterns
from tests.oracles.node.description import Touch as Described
from tests.oracles.node.pages import AddressSpace
from tests.oracles.node.pages import Run as Frames
from tests.slow import LONG, seeds
from workbench.engines.kit import Attempt
from workbench.engines.node.engine import Node
from workbench.engines.node.pages import map_run, open_mapping
from workbench.engines.node.state import Run
from workbench.engines.node.touched_bytes import bytes_touched, page_simulated, pages_simulated
from workbench.records.node import KIND, messages_of
from workbench.workloads.application import Allocate, Application, Touch

pytestmark = pytest.mark.node

KIB = 1 << 10
SIZE, GROUPS, LINE = 100_100, 4, 128
TABLE: dict[str, tuple[Touch, int, tuple[int, int, int]]] = {
    # Slices begin at 0, 25,025, 50,050, 75,075: 783 lines, of which 3 are two groups'; 25 pages of 4 KiB, of which 3
    # are, and 2 of 64 KiB, of which the first is three groups' and the second two.
    "one pass": (Touch(0), 786, (28, 5, 4)),
    # Bytes 0, 24,025, 49,050, 74,075 to 26,024, 51,049, 76,074, 100,099: lines 0-203, 187-398, 383-594, 578-782.
    "halo": (Touch(0, "halo", halo=1000), 204 + 212 + 212 + 205, (7 + 8 + 8 + 7, 5, 4)),
    "whole": (Touch(0, "shared"), 4 * 783, (4 * 25, 4 * 2, 4)),
    # Twelve elements one behind the other, each of 32 lines: 4,000 (g + 4k) is in line 31.25 (g + 4k). All but the
    # first lie on two pages of 4 KiB.
    "stride": (Touch(0, "stride", stride=4, count=3, element_bytes=4000), 12 * 32, (23, 4, 4)),
    # Halves of the tensor: 391 and 392 lines, of which one is both's; every group draws both.
    "two things by chance": (Touch(0, "gather", count=64, element_bytes=50_050), 4 * 783, (4 * 25, 4 * 2, 4)),
    "one thing by chance": (Touch(0, "gather", count=64, element_bytes=SIZE), 4 * 783, (4 * 25, 4 * 2, 4)),
}


def borrowed(touch: Touch, **options: Any) -> Any:
    """Run four groups that touch a tensor on another card; walks move nothing."""
    steps = (Allocate(0, SIZE), kernel(np.full(GROUPS, 10), touch))
    return simulated(
        Application((steps,)), gpus=2, memory_bytes=(4096, 1 << 30), events=True,
        memory="wait", remote="link", walk_bytes=0, **options,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "place", "pages", "limit"),
    [
        pytest.param(
            name, place, pages, limit, marks=[pytest.mark.slow] * ("by chance" in name and pages == "4k" and not limit)
        )
        for name in TABLE
        for place, pages in enumerate(["4k", "64k", "2m"])
        for limit in (0, 3)
    ],
)
def test_bytes_over_the_link_by_hand(name: str, place: int, pages: str, limit: int) -> None:
    """Lines of 128 bytes, each once a touch; with a limit the pages that are simulated stand for all."""
    touch, lines, touched = TABLE[name]
    record = borrowed(touch, pages=pages, touches_a_phase=limit)
    sent = [message.values[1] for message in messages_of(record) if message.kind == KIND.send]
    assert sum(sent) == record.counts["remote_bytes"] == record.counts["touched_bytes"] == lines * LINE
    assert record.counts["touches"] == (min(touched[place], limit * GROUPS) if limit else touched[place])


def test_the_last_page_of_a_slice_has_its_own_lines() -> None:
    """Group 1 has bytes 25,025 to 50,049: pages 6 and 12 in part, lines 195-223 and 384-391, 32 of each other."""
    assert sizes_sent(pages="4k")[7:14] == [29 * LINE, *[32 * LINE] * 5, 8 * LINE]


def test_the_remainder_of_a_share_goes_to_the_first() -> None:
    """Group 0 has lines 0-195, 25,088 bytes on 7 pages, of which three stand for all: 8,363, 8,363, 8,362."""
    assert sizes_sent(pages="4k", touches_a_phase=3)[:3] == [8363, 8363, 8362]
    assert sizes_sent(Touch(0, bytes=11), pages="4k", touches_a_phase=3)[:3] == [4, 4, 3]


def sizes_sent(touch: Touch = TABLE["one pass"][0], **options: Any) -> list[int]:
    """Return the bytes of each transfer, in the order of groups and touches."""
    messages = [message for message in messages_of(borrowed(touch, **options)) if message.kind == KIND.send]
    sent = {(message.who[4], message.who[7]): message.values[1] for message in messages if message.values[1]}
    return [sent[who] for who in sorted(sent)]


def drawn_touch(random: Random, size: int) -> dict[str, Any]:
    """Return a touch by chance, also with elements that lie across pages and behind the end."""
    return {
        "pattern": random.choice(["slice", "halo", "shared", "gather", "stride"]),
        "halo": random.choice([0, 1, 5000, size]),
        "stride": random.choice([0, 1, 3, 70]),
        "count": random.choice([1, 4, 40]),
        "element_bytes": random.choice([1 if size < 10**4 else 64, 128, 300, 5000, 70_000]),
        "skew": random.choice([0.0, 0.8, 1.0, 2.5]),
        "bytes": random.choice([None, None, None, 900]),
    }


def begun(touches: list[Touch], sizes: list[int], groups: int, **options: Any) -> Run:
    """Return a run in which nothing has happened, of one kernel that touches tensors of these sizes."""
    engine = Node()
    steps = *(Allocate(number, size) for number, size in enumerate(sizes)), kernel(np.full(groups, 1), *touches)
    reading = engine.read(engine.given(setup(Application((steps,)), memory="wait", **options), 1))
    room = {**engine.room(reading), "messages": 1, "details": 1}
    return engine.begin(reading, Attempt(room, events=False, checked=False)).run


@pytest.mark.parametrize("pages", ["4k", "64k", "2m", "largest"])
@pytest.mark.parametrize("seed", [3, *seeds(2, 26)])  # 2 takes most of a minute, interpreted
def test_touches_beside_sets_of_lines(seed: int, pages: str) -> None:
    """Pages and bytes of every group of touches by chance are those of sets of lines, in runs of frames by chance."""
    random = Random(seed)
    sizes = [random.choice([1, 127, 5000, 300 * KIB, random.randrange(1, 5000 * KIB)]) for _ in range(12)]
    drawn = [drawn_touch(random, size) for size in sizes]
    groups, limit, line = random.choice([1, 3, 7, 50]), random.choice([0, 0, 3]), random.choice([32, 128, 4096])
    touches = [Touch(number, **one) for number, one in enumerate(drawn)]
    run = begun(touches, sizes, groups, pages=pages, touches_a_phase=limit, line_bytes=line)
    space = AddressSpace(0)
    for number, (size, one) in enumerate(zip(sizes, drawn)):
        frames = frames_by_chance(random, size, pages)
        open_mapping(run.pages, number, 0, size)
        for part in frames:
            map_run(run.pages, number, part.start, part.length)
        of_pages = [page.size for page in space.mapped(frames, pages)]
        for group in random.sample(range(groups), min(groups, 4)):
            path = (0, 0, len(sizes), group, 1, 0, number)
            spans = patterns.touched(Described("", **one), size, group, groups, 1, *path, tensor=number)
            expected = patterns.moved(spans, of_pages, limit, line, one["bytes"])
            assert touched_by(run, number, group) == expected, (one, size, group)


def frames_by_chance(random: Random, size: int, pages: str) -> list[Frames]:
    """Return runs of frames that hold so many bytes in whole pages."""
    granule = {"4k": 4, "64k": 64, "2m": 2048, "largest": 4}[pages] * KIB
    left, start, runs = -(-size // granule) * granule, 0, list[Frames]()
    while left:
        length = min(left, granule * random.choice([1, 7, 16, 600]))
        start += granule * random.choice([0, 1, 16, 512])
        runs.append(Frames(0, start, length))
        left, start = left - length, start + length
    return runs


def touched_by(run: Run, touch: int, group: int) -> list[tuple[int, int]]:
    """Return the simulated pages of a group, and the bytes that each stands for."""
    places = range(pages_simulated(run, touch, 0, group))
    return [(page_simulated(run, touch, 0, group, k), bytes_touched(run, touch, 0, group, k)) for k in places]


DRAWN = 500 if LONG else 125
"""Elements that each group draws: of the steepest law, one in seventy lies behind the table."""


@cache
def huge() -> Run:
    """Return a run of a gather over 2^19 elements, of which the first 2^16 ranks alone are in the table."""
    run = begun(
        [Touch(0, "gather", count=DRAWN, skew=skew) for skew in (0.0, 0.8, 1.0, 1.3)], [64 << 20], 3, pages="4k"
    )
    open_mapping(run.pages, 0, 0, 64 << 20)
    map_run(run.pages, 0, 0, 64 << 20)
    return run


@pytest.mark.parametrize(("touch", "skew"), enumerate([0.0, 0.8, 1.0, 1.3]))
def test_ranks_behind_the_table_are_those_of_the_whole_sums(touch: int, skew: float) -> None:
    described = Described("", "gather", count=DRAWN, skew=skew)
    for group in range(3):
        spans = patterns.touched(described, 64 << 20, group, 3, 1, 0, 0, 1, group, 1, 0, touch)
        assert touched_by(huge(), touch, group) == patterns.moved(spans, [4 * KIB] * (16 * KIB), 0, LINE, None)


@pytest.mark.parametrize("seed", seeds(20, 200))
def test_one_pass_moves_the_tensor_within_a_line_a_group(seed: int) -> None:
    """Whatever the page size: by lines of the twin, which the engine's equal."""
    random = Random(seed)
    size, groups = random.randrange(1, 1 << 22), random.randrange(1, 200)
    slices = [patterns.touched(Described("", "slice"), size, group, groups, 0) for group in range(groups)]
    moved = LINE * sum(len(patterns.lines_of(one, LINE)) for one in slices)
    assert size <= moved <= size + LINE * (groups + 1)
