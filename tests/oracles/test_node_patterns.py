"""Which pages a group touches, by hand (spec 6, R7), and numbers by chance (E6)."""

from __future__ import annotations

import pytest

from tests.oracles.node.description import Touch
from tests.oracles.node.draws import drawn, permuted, unit, zipf
from tests.oracles.node.patterns import moved, pages_of, shares, simulated, touched


def pages(pattern: str, group: int, groups: int = 4, count: int = 10, **levers: int) -> list[int]:
    """Return the pages of a hundred bytes, of so many."""
    return pages_of(touched(Touch("a", pattern, **levers), 100 * count, group, groups, 0), [100] * count)


def test_slices_cover_the_tensor() -> None:
    assert [pages("slice", group) for group in range(4)] == [[0, 1, 2], [2, 3, 4], [5, 6, 7], [7, 8, 9]]


def test_a_slice_may_be_empty() -> None:
    spans = [touched(Touch("a"), 2, group, 5, 0)[0] for group in range(5)]
    assert [list(span) for span in spans] == [[], [], [0], [], [1]]


def test_a_halo_is_cut_at_the_ends() -> None:
    assert [pages("halo", group, halo=51) for group in (0, 1, 3)] == [[0, 1, 2, 3], [1, 2, 3, 4, 5], [6, 7, 8, 9]]
    assert pages("halo", 2, halo=400) == list(range(1, 10))


def test_shared_and_stride() -> None:
    assert pages("shared", 3) == list(range(10))
    assert touched(Touch("a", "stride", stride=4, count=4, element_bytes=100), 1000, 3, 4, 0) == [
        range(300, 400), range(700, 800), range(100, 200), range(500, 600)
    ]  # fmt: skip
    wider = touched(Touch("a", "stride", stride=4, count=4, element_bytes=150), 1000, 3, 4, 0)
    assert pages_of(wider, [100] * 10) == [4, 5, 0, 1, 6, 7, 2, 3]


def test_elements_are_cut_at_the_end() -> None:
    assert touched(Touch("a", "stride", count=1, element_bytes=300), 1000, 3, 4, 0) == [range(900, 1000)]


def test_a_gather_drops_what_comes_again() -> None:
    """Of 40 draws of four elements of 250 bytes every line of 125 passes once, whatever the pages."""
    spans = touched(Touch("a", "gather", count=40, element_bytes=250), 1000, 0, 4, 7, 1, 2)
    assert len(spans) == 40
    assert len({span[0] for span in spans}) == 4
    for sizes in ([100] * 10, [500] * 2, [1000]):
        assert sum(size for _, size in moved(spans, sizes, 0, 125, None)) == 1000


def test_ranks_are_permuted_once_a_tensor() -> None:
    """Every element has one rank; another tensor has other ones."""
    ranks = [[permuted(rank, 10, 7, 1, -1, tensor) for rank in range(10)] for tensor in (0, 1)]
    assert [sorted(one) for one in ranks] == [list(range(10))] * 2
    assert ranks[0] != ranks[1] != list(range(10))


def test_a_gather_follows_zipf() -> None:
    """Page 0 of three has weight 1 of 1 + 1/2 + 1/3."""
    draws = zipf(20_000, 3, 1.0, 3)
    assert draws.count(0) / 20_000 == pytest.approx(6 / 11, abs=0.015)
    assert draws.count(2) / 20_000 == pytest.approx(2 / 11, abs=0.015)


@pytest.mark.parametrize(
    ("limit", "chosen"), [(0, list(range(10))), (10, list(range(10))), (3, [0, 3, 6]), (4, [0, 2, 5, 7])]
)
def test_simulated_pages(limit: int, chosen: list[int]) -> None:
    assert simulated(list(range(10)), limit) == chosen


def test_bytes_are_dealt() -> None:
    assert shares(11, 3) == [4, 4, 3]


def test_laws() -> None:
    assert drawn(7, 3, 0) == 7
    assert drawn((5, 6), 1, 0) == 6
    values = [drawn({"uniform": [2, 4]}, 0, 9, k) for k in range(3000)]
    assert set(values) == {2, 3, 4}
    assert sum(values) / 3000 == pytest.approx(3, abs=0.06)
    assert sum(drawn({"exponential": 100}, 0, 9, k) for k in range(5000)) / 5000 == pytest.approx(100.5, rel=0.05)


def test_numbers_by_chance_are_those_of_their_path() -> None:
    assert unit(1, 2, 3) == unit(1, 2, 3)
    assert len({unit(1, 2, 3), unit(1, 3, 2), unit(2, 2, 3), unit(1, 2), unit(1, 2, 3, -1)}) == 5
