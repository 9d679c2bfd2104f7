"""Pickles walked before they are loaded: sound ones pass, whatever writes them; others are refused in time."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.slow import examples
from workbench.structures.pickle_scan import (
    CUT_OFF,
    EMPTY_STACK,
    LARGE_MEMO,
    LARGE_TUPLE,
    LONG_NUMBER,
    NO_PROTOCOL,
    SOUND,
    UNUSUAL,
    holds_half_a_character,
    look,
)

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 70), 1 << 70) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=30,
)


def found(content):
    return look(np.frombuffer(content, np.uint8))


@pytest.mark.slow
@examples(80, 400)
@given(PLAIN, st.integers(2, 5))
def test_what_python_writes_is_sound(value, protocol):
    assert found(pickle.dumps([value, value], protocol)) == (SOUND, found(pickle.dumps([value, value], protocol))[1])


@examples(80, 400)
@given(st.binary(max_size=200))
def test_any_bytes_are_walked_to_an_end(content):
    assert found(b"\x80\x04" + content)[0] in range(7)
    assert found(content)[0] in range(8)


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
        (b"\x80\x04\x95\x02" + bytes(7) + b"N.", SOUND),
        (b"\x80\x04\x95\x03" + bytes(7) + b"N.", CUT_OFF),
        (b"\x80\x04\x95" + b"\xff" * 8 + b"N.", CUT_OFF),
        (b"", NO_PROTOCOL),
        (b"\x80", NO_PROTOCOL),
        (b"Nr\xff\xff\xff\x00.", NO_PROTOCOL),
        (b"\x80\x01N.", NO_PROTOCOL),
        (b"\x80\x06N.", NO_PROTOCOL),
        (pickle.dumps([1], 0), NO_PROTOCOL),
        (pickle.dumps([1], 1), NO_PROTOCOL),
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


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize("before", ["", "a" * 300, "\ud7ff\ue000"])
def test_half_a_character_is_seen_in_texts_alone(protocol, before):
    """Short and long texts, beside the characters around the halves; numbers with the same bytes are none."""

    def has_half(value: object, tail: bytes = b"") -> bool:
        content = pickle.dumps(value, protocol) + tail
        return holds_half_a_character(np.frombuffer(content, np.uint8))

    for half in ("\ud800", "\udfff"):
        assert has_half([{before + half: 1}]) and has_half({"frames": [{"name": before + half + "x"}]})
        assert not has_half([before], tail=half.encode("utf-8", "surrogatepass")), "what follows the end is not read"
    numbers = [int.from_bytes(bytes([0xED, 0xA0 + k, 0x80, 0x7F, 0, 0]), "little") for k in range(32)]
    assert not has_half([before, *numbers, 1e300]), "an address may look the same"
