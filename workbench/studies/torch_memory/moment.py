"""What a card's allocator holds after any number of events: its segments, the blocks in them, what is free."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.studies.torch_memory.lives import Lives


class Moment(NamedTuple):
    """Memory after `after` events, in the order of addresses."""

    after: int
    segment_address: np.ndarray
    segment_size: np.ndarray
    segment_page: np.ndarray
    """int64[segments], bytes of a page of an expandable segment, 0 = it goes back as a whole."""
    address: np.ndarray
    """int64[blocks]."""
    size: np.ndarray
    site: np.ndarray
    born: np.ndarray
    """int64[blocks], after how many events it was allocated, 0 = before the first."""
    is_awaited: np.ndarray
    """bool[blocks], whether it is freed and other streams may still use it."""
    life: np.ndarray
    """int64[blocks], which of `Lives.blocks`."""

    @property
    def reserved_bytes(self) -> int:
        """Return the bytes that the driver has given."""
        return int(self.segment_size.sum())

    @property
    def block_bytes(self) -> int:
        """Return the bytes that blocks in use take."""
        return int(self.size.sum())

    @property
    def largest_free_bytes(self) -> int:
        """Return the longest run of free bytes in any segment."""
        return int(self.free_runs()[1].max(initial=0))

    def free_runs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return where the free bytes lie: the address and the size of each run, none across two segments."""
        ends = self.segment_address + self.segment_size
        edges = np.concatenate([self.segment_address, self.address + self.size])
        until = np.concatenate([self.address, ends])
        edges, until = np.sort(edges), np.sort(until)
        size = np.maximum(until - edges, 0)
        return edges[size > 0], size[size > 0]


def moment_of(lives: Lives, after: int) -> Moment:
    """Return what is there after so many events.

    Parameters
    ----------
    lives : Lives
        Of `lives_of`.
    after : int
        From 0, before the first event, to `lives.events`.

    Returns
    -------
    Moment
        Mapped parts of expandable segments that touch are one segment, as PyTorch shows them.

    Examples
    --------
    >>> from workbench.studies.torch_memory.lives import NEVER, BlockLives, SegmentLives
    >>> segments = SegmentLives(*(np.array([k]) for k in (0, 2048, 0, 1, NEVER)))
    >>> blocks = BlockLives(*(np.array([k]) for k in (512, 1024, -1, 2, NEVER, 4)))
    >>> lives = Lives(5, blocks, segments)
    >>> [moment_of(lives, after).block_bytes for after in range(6)]
    [0, 0, 1024, 1024, 0, 0]
    >>> moment_of(lives, 2).free_runs()
    (array([   0, 1536]), array([512, 512]))
    """
    blocks, segments = lives.blocks, lives.segments
    life = np.flatnonzero((blocks.born <= after) & (after < blocks.gone))
    life = life[np.argsort(blocks.address[life], kind="stable")]
    held = np.flatnonzero((segments.born <= after) & (after < segments.gone))
    held = held[np.argsort(segments.address[held], kind="stable")]
    address, size, page = _joined(segments.address[held], segments.size[held], segments.page[held])
    return Moment(
        after=after,
        segment_address=address,
        segment_size=size,
        segment_page=page,
        address=blocks.address[life],
        size=blocks.size[life],
        site=blocks.site[life],
        born=blocks.born[life],
        is_awaited=blocks.awaited[life] <= after,
        life=life,
    )


def _joined(address: np.ndarray, size: np.ndarray, page: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return neighbours that touch and are mapped in pages of one size as one: addresses, sizes, pages."""
    touches = np.zeros(len(address), bool)
    touches[1:] = (address[1:] == address[:-1] + size[:-1]) & (page[1:] > 0) & (page[1:] == page[:-1])
    first = np.flatnonzero(~touches)
    return address[first], np.add.reduceat(size, first) if len(first) else size, page[first]
