"""The event log of a dispatcher: its order, its columns, and that it can be replayed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.slow import examples
from tests.toy_dispatch import BLOCKS, CONTIGUOUS, RESOURCES, toy
from workbench.records.dispatch import COLUMNS, KINDS, events

records = st.builds(
    toy,
    seed=st.integers(0, 10**6),
    a_round=st.integers(1, 3),
    groups=st.integers(0, 20),
    units=st.integers(1, 3),
    round_cycles=st.integers(1, 3),
)


def rows(record):
    """The log as one dict a row."""
    log = events(record)
    assert list(log) == list(COLUMNS)
    return [dict(zip(log, row, strict=True)) for row in zip(*(column.tolist() for column in log.values()), strict=True)]


@examples(20, 300)
@given(records)
def test_the_log_is_totally_ordered_and_whole(record):
    log = rows(record)
    assert [row["serial"] for row in log] == [*range(len(log))]
    rank = {"give": 0, "dispatch": 1, "take": 1, "round_failed": 2, "split": 3}
    assert all((a["cycle"], rank[a["kind"]]) <= (b["cycle"], rank[b["kind"]]) for a, b in pairwise(log))
    counted = {kind: sum(row["kind"] == kind for row in log) for kind in KINDS}
    takes = len(record.takes)
    expected = {"give": takes, "take": takes, "dispatch": len(record.group), "split": len(record.splits)}
    assert counted == {**expected, "round_failed": record.failed_rounds}


@examples(20, 300)
@given(records)
def test_replaying_the_log_takes_only_what_is_free_and_gives_all_back(record):
    held = {}
    last = None
    for row in rows(record):
        at = row["module"], row["unit"], row["resource"]
        if row["kind"] == "dispatch":
            last = row
            assert row["channel"] == record.channel[row["group"]] and row["priority"] >= record.priority[row["group"]]
            assert (row["unit"], row["resource"], row["start"], row["amount"], row["parts"]) == (-1, "", -1, -1, -1)
        elif row["kind"] == "take":
            assert (row["group"], row["module"], row["cycle"]) == (last["group"], last["module"], last["cycle"])
            held.setdefault(at, []).append((row["group"], row["start"], row["amount"]))
            assert fits(at[2], held[at])
        elif row["kind"] == "give":
            held[at].remove((row["group"], row["start"], row["amount"]))
        elif row["kind"] == "split":
            assert row["parts"] == 2 and row["group"] >= 0 and row["module"] == -1
    assert not any(held.values())


def fits(resource: str, held: list[tuple[int, int, int]]) -> bool:
    blocks = int(BLOCKS[RESOURCES.index(resource)])
    if CONTIGUOUS[RESOURCES.index(resource)]:
        cells = [cell for _, start, amount in held for cell in range(start, start + amount)]
        return len(set(cells)) == len(cells) and all(0 <= cell < blocks for cell in cells)
    return all(start == -1 for _, start, _ in held) and sum(amount for _, _, amount in held) <= blocks


def test_failed_rounds_in_a_row_are_one_event_each():
    record = toy(groups=0)._replace(failures=np.array([[4, 3], [20, 1]]), round_cycles=2)
    assert [(row["cycle"], row["kind"]) for row in rows(record)] == [(cycle, "round_failed") for cycle in (4, 6, 8, 20)]


def test_without_what_was_taken_the_log_has_the_dispatches_alone():
    record = toy(2, takes=np.zeros((0, 5), np.int64), failures=np.zeros((0, 2), np.int64))
    assert {row["kind"] for row in rows(record)} == {"dispatch", "split"}
