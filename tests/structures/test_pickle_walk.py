"""Pickles walked before they are loaded: sound ones pass, whatever writes them; others are refused in time."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.depth import deeper
from workbench.structures.pickle_walk import (
    CUT_OFF,
    EMPTY_STACK,
    LARGE_MEMO,
    LARGE_TUPLE,
    LONG_NUMBER,
    SOUND,
    UNUSUAL,
    look,
)

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 70), 1 << 70) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=30,
)


def found(content):
    return look(np.frombuffer(content, np.uint8))


@deeper(80, 400)
@given(PLAIN, st.integers(2, 5))
def test_what_python_writes_is_sound(value, protocol):
    assert found(pickle.dumps([value, value], protocol)) == (SOUND, found(pickle.dumps([value, value], protocol))[1])


@deeper(80, 400)
@given(st.binary(max_size=200))
def test_any_bytes_are_walked_to_an_end(content):
    assert found(b"\x80\x04" + content)[0] in range(7)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (bytes.fromhex("80045d72000000102e"), LARGE_MEMO),
        (b"\x80\x04]j\x00\x00\x00\x10.", LARGE_MEMO),
        (b"\x80\x04X\xff\xff\xff\x7fab.", CUT_OFF),
        (b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.", CUT_OFF),
        (b"\x80\x04]p4294967295\n.", UNUSUAL),
        (b"\x80\x04]Nb.", UNUSUAL),
        (b"\x80\x04\x8b\x00\x01\x00\x00" + bytes(256) + b".", LONG_NUMBER),
        (b"\x80\x04\x85.", EMPTY_STACK),
        (b"\x80\x04t.", EMPTY_STACK),
        (b"\x80\x04q\x00.", EMPTY_STACK),
        (b"\x80\x04", CUT_OFF),
    ],
)
def test_what_no_snapshot_needs_is_refused(content, said):
    assert found(content)[0] == said


def test_a_tuple_of_tuples_of_tuples_is_counted():
    """Twenty times the same tuple, twelve levels deep: 20**12 parts in 300 bytes, and a hash that never ends."""
    level = b"K\x01\x94"
    for memo in range(12):
        level += b"0(" + b"h".join([b""] + [bytes([memo])] * 20) + b"t\x94"
    assert found(b"\x80\x04" + level + b".")[0] == LARGE_TUPLE
