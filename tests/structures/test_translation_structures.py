"""Hash tables, page numbers, entry sets and core sets against dicts, lists and sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.structures.bitmaps import add_core, count_cores, drop_core, has_core, next_core
from workbench.structures.key_index import (
    ABSENT,
    NEAR,
    look_up,
    new_key_index,
    new_page_numbers,
    number_pages,
    put_key,
    take_key,
    with_room,
)
from workbench.structures.set_assoc import insert, new_entry_sets, remove, replace, take_free, touch

few = settings(max_examples=40, deadline=None)


keys = st.integers(0, 12) | st.integers(0, 1 << 40) | st.integers(0, 5).map(lambda k: k << 20)


@few
@given(st.lists(st.tuples(keys, st.booleans()), max_size=60))
def test_key_index(steps):
    index, twin = new_key_index(np.array([3, 60])), dict[int, int]()
    for at, (key, gone) in enumerate(steps):
        if key in twin and gone:
            take_key(index, 1, key)
            del twin[key]
        elif key not in twin:
            put_key(index, 1, key, at)
            twin[key] = at
        assert all(look_up(index, 1, k) == twin.get(k, ABSENT) for k, _ in steps)
        assert look_up(index, 0, key) == ABSENT


def test_a_long_run_of_keys_is_no_long_run_of_places():
    """Taking a key out reads the places up to the next free one: few, also where 50,000 keys follow each other."""
    index = new_key_index(np.array([50_000]))
    for key in range(50_000):
        put_key(index, 0, key, key)
    free = np.flatnonzero(index.keys == ABSENT)
    assert np.diff(free).max() < 500
    for key in range(0, 50_000, 2):
        take_key(index, 0, key)
    assert all(look_up(index, 0, key) == (key if key % 2 else ABSENT) for key in range(50_000))


@few
@given(st.lists(st.lists(keys | st.integers(NEAR - 2, NEAR + 2), max_size=40), max_size=4))
def test_page_numbers(blocks):
    table, twin = new_page_numbers(1), dict[int, int]()
    for block in blocks:
        pages, numbers = np.array(block, np.int64), np.zeros(len(block), np.int32)
        table = with_room(table, len(block))
        number_pages(table, pages, numbers)
        assert numbers.tolist() == [twin.setdefault(page, len(twin)) for page in block]
        assert table.pages[: table.given[0]].tolist() == list(twin)


@few
@given(st.lists(st.tuples(st.integers(0, 129), st.booleans()), max_size=40))
def test_core_bits(steps):
    words, twin = np.zeros(4, np.uint64), set[int]()
    for core, comes in steps:
        (add_core if comes else drop_core)(words, 1, core)
        (twin.add if comes else twin.discard)(core)
        assert count_cores(words, 1, 3) == len(twin)
        assert has_core(words, 1, core) == comes
        assert next_core(words, 1, 3, core) == min((c for c in twin if c >= core), default=-1)


@few
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=30))
def test_a_page_that_takes_the_entry_of_another_leaves_the_lists_of_one_that_is_removed_and_one_that_comes(steps):
    one, other = (new_entry_sets(np.array([2, 5]), np.arange(2)) for _ in range(2))
    for table in (one, other):
        for page in range(5):
            insert(table, 1, take_free(table, 1), page, 0, -1)
    for page, (way, is_use) in enumerate(steps, start=5):
        entry = 2 + way
        if is_use:
            touch(one, 1, entry)
            touch(other, 1, entry)
        else:
            replace(one, 1, entry, page, 7, 3)
            remove(other, 1, entry)
            insert(other, 1, take_free(other, 1), page, 7, 3)
        assert one.entries.tolist() == other.entries.tolist()
        assert one.sets.tolist() == other.sets.tolist()
