"""What grew between two memory snapshots of a program, by the stack that requested it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.advice.torch_memory.advice import history_of
from workbench.advice.torch_memory.holdings import UNKNOWN_SITE
from workbench.number_text import bytes_said
from workbench.workloads.allocator_log import ALLOC, INACTIVE, AllocatorLog

if TYPE_CHECKING:
    import pandas as pd

MOST_STACKS = 20
"""Stacks in the table for a person; the others are one row."""
SHARED = 0.5
"""The share of the live bytes before that lie at the same address after, above which both files are of one process."""


class StackChange(NamedTuple):
    """Live blocks of one stack before and after."""

    site: str
    """The line that requested them."""
    callers: tuple[str, ...]
    """Frames of the program's own code that led there, the outermost first."""
    before_bytes: int
    after_bytes: int
    before_blocks: int
    after_blocks: int

    @property
    def change(self) -> int:
        """Return the bytes that are live after and were not before, less than 0 where less is live."""
        return self.after_bytes - self.before_bytes


class CardChange(NamedTuple):
    """What changed on one card."""

    device: int
    reserved_before: int
    reserved_after: int
    stacks: tuple[StackChange, ...]
    """All of them, what grew most first."""

    @property
    def live_before(self) -> int:
        """Return the live bytes before, the sum over all stacks."""
        return sum(it.before_bytes for it in self.stacks)

    @property
    def live_after(self) -> int:
        """Return the live bytes after, the sum over all stacks."""
        return sum(it.after_bytes for it in self.stacks)


class Comparison(NamedTuple):
    """What changed between two snapshots, card by card."""

    before: str
    after: str
    cards: tuple[CardChange, ...]

    def sentences(self) -> list[str]:
        """Return the files, and a sentence a card."""
        return [f"From {_short(self.before)} to {_short(self.after)}:", *(_sentence(card) for card in self.cards)]

    def rows(self, most: int | None = None) -> list[dict[str, Any]]:
        """Return a row a stack and card, what grew most first; with `most`, a row for the others, and one for all."""
        return [row for card in self.cards for row in _rows(card, most)]

    @property
    def table(self) -> pd.DataFrame:
        """Return all rows."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def plain(self) -> dict[str, Any]:
        """Return everything as plain types, as `--json` prints it."""
        return {
            "before": self.before,
            "after": self.after,
            "cards": [
                {
                    "device": card.device,
                    "live_before_bytes": card.live_before,
                    "live_after_bytes": card.live_after,
                    "change_bytes": card.live_after - card.live_before,
                    "reserved_before_bytes": card.reserved_before,
                    "reserved_after_bytes": card.reserved_after,
                    "stacks": [{**it._asdict(), "change_bytes": it.change} for it in card.stacks],
                }
                for card in self.cards
            ],
        }


def compare_snapshots(before: str, after: str) -> Comparison:
    """Return the growth from one memory snapshot to another, by stack.

    Parameters
    ----------
    before, after : str
        Files as `torch.cuda.memory._dump_snapshot` writes them; they need no history.

    Raises
    ------
    InputError
        A file is no memory snapshot.

    Examples
    --------
    >>> same = compare_snapshots("data/made_up_snapshot.pickle.gz", "data/made_up_snapshot.pickle.gz")
    >>> [card.live_after - card.live_before for card in same.cards]
    [0]
    """
    return comparison_of((before, after), (history_of(before), history_of(after)))


def comparison_of(files: tuple[str, str], logs: tuple[Sequence[AllocatorLog], Sequence[AllocatorLog]]) -> Comparison:
    """Return the growth between snapshots that are read already."""
    devices = sorted({log.device for side in logs for log in side})
    by_device = [{log.device: log for log in side} for side in logs]
    cards = [_card(device, *(side.get(device) for side in by_device)) for device in devices]
    return Comparison(
        *files, tuple(card for card in cards if card.stacks or card.reserved_before or card.reserved_after)
    )


def are_of_one_process(before: Sequence[AllocatorLog], after: Sequence[AllocatorLog]) -> bool:
    """Return whether two snapshots show one process at two times.

    Most of what was live before lies at the same addresses after, or nothing was live before. If the second history
    reaches back to the end of the first, it holds the last event of that: those of two ranks do not.
    """
    later = {log.device: log for log in after}
    if not any(len(log.segments.size) for log in before):
        return False
    kept = total = 0
    for log in before:
        held = log.blocks.state != INACTIVE
        total += int(log.blocks.size[held].sum())
        other = later.get(log.device)
        if other is None:
            continue
        if not _continues(log, other):
            return False
        there = other.blocks.state != INACTIVE
        kept += int(log.blocks.size[held][np.isin(log.blocks.address[held], other.blocks.address[there])].sum())
    return kept >= SHARED * total


def _continues(log: AllocatorLog, later: AllocatorLog) -> bool:
    """Return whether a history can be the continuation of another: it holds the last event, or begins after it."""
    events, others = log.events, later.events
    if not len(events.action) or not len(others.action) or events.time_us[-1] < 0 or others.time_us[0] < 0:
        return True
    if others.time_us[-1] < events.time_us[-1]:
        return False
    if others.time_us[0] > events.time_us[-1]:
        return True
    same = (others.time_us == events.time_us[-1]) & (others.address == events.address[-1])
    return bool((same & (others.size == events.size[-1])).any())


def _card(device: int, before: AllocatorLog | None, after: AllocatorLog | None) -> CardChange:
    totals: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for place, log in enumerate((before, after)):
        for stack, size in _live(log) if log is not None else ():
            total = totals.setdefault(stack, [0, 0, 0, 0])
            total[place] += size
            total[2 + place] += 1
    stacks = [StackChange(*stack, *total) for stack, total in totals.items()]
    stacks.sort(key=lambda it: (-it.change, -it.after_bytes, it.site, it.callers))
    held_before, held_after = (0 if log is None else log.reserved_at_end for log in (before, after))
    return CardChange(device, held_before, held_after, tuple(stacks))


def _live(log: AllocatorLog) -> Iterator[tuple[tuple[str, tuple[str, ...]], int]]:
    """Yield the stack and the size of each block in use; of one without a stack, the history is asked for it."""
    blocks, events = log.blocks, log.events
    gets = np.flatnonzero(events.action == ALLOC)
    known = dict(zip(events.address[gets].tolist(), events.site[gets].tolist(), strict=True))
    held = np.flatnonzero(blocks.state != INACTIVE)
    columns = (blocks.address[held], blocks.size[held], blocks.site[held])
    for address, size, own in zip(*(column.tolist() for column in columns), strict=True):
        site = own if own >= 0 else known.get(address, -1)
        yield (UNKNOWN_SITE, ()) if site < 0 else (log.sites[site], log.callers[site]), size


def _sentence(card: CardChange) -> str:
    before, after = card.live_before, card.live_after
    how = (
        "did not change"
        if before == after
        else f"{'grew' if after > before else 'fell'} by {bytes_said(abs(after - before))}"
    )
    return (
        f"GPU {card.device}: live bytes {how}, {bytes_said(before)} before and {bytes_said(after)} after. Reserved: "
        f"{bytes_said(card.reserved_before)} before, {bytes_said(card.reserved_after)} after."
    )


def _rows(card: CardChange, most: int | None) -> Iterator[dict[str, Any]]:
    """Yield the stacks that changed most, in the order of their change; then, if any are left out, the others."""
    order = sorted(range(len(card.stacks)), key=lambda it: -abs(card.stacks[it].change))
    largest = set(order[:most])
    for place, stack in enumerate(card.stacks):
        if place in largest:
            yield _row(card.device, stack.site, " < ".join(reversed(stack.callers[:-1])), [stack])
    if most is None:
        return
    rest = [it for place, it in enumerate(card.stacks) if place not in largest]
    if rest:
        yield _row(card.device, f"{len(rest):,} other stacks", "", rest)
    yield _row(card.device, "all", "", card.stacks)


def _row(device: int, site: str, callers: str, stacks: Sequence[StackChange]) -> dict[str, Any]:
    before, after = sum(it.before_bytes for it in stacks), sum(it.after_bytes for it in stacks)
    return {
        "device": device,
        "site": site,
        "called_from": callers,
        "before_bytes": before,
        "after_bytes": after,
        "change_bytes": after - before,
        "before_blocks": sum(it.before_blocks for it in stacks),
        "after_blocks": sum(it.after_blocks for it in stacks),
    }


def _short(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]
