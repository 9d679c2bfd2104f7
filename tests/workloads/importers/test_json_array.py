"""The elements of an array are found wherever the pieces of the file are cut, and they are what a JSON parser finds."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.workloads.importers.json_arrays import JsonArray

TEXT = st.text(alphabet='ab"\\{}[],: \n\u00e9\U0001f600', max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(TEXT, inside, max_size=3),
    max_leaves=8,
)
BESIDE = st.dictionaries(TEXT.filter(lambda key: key != "events"), VALUES, max_size=2)


def pieces(text, size):
    return (text[k : k + size] for k in range(0, len(text), size))


def read(text, size):
    array = JsonArray(pieces(text, size), "events", "t.json")
    elements = [element for batch in array.batches() for element in json.loads(batch)]
    return elements, array


@given(st.lists(VALUES, max_size=6), BESIDE, BESIDE, st.integers(1, 40), st.sampled_from([None, 1]), st.booleans())
def test_elements_and_rest_are_those_of_the_document(elements, before, after, size, indent, ascii_only):
    document = {**before, "events": elements, **{k: v for k, v in after.items() if k not in before}}
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode()
    result, array = read(text, size)
    assert result == elements
    assert json.loads(array.rest) == {**document, "events": []}
    assert not array.is_document


@given(st.lists(VALUES, max_size=6), st.integers(1, 40))
def test_a_document_that_is_the_array_itself(elements, size):
    result, array = read(json.dumps(elements).encode(), size)
    assert result == elements
    assert array.is_document


@given(st.lists(VALUES, min_size=1, max_size=4), st.integers(1, 40), st.data())
def test_a_document_that_is_cut_within_the_array_is_refused(elements, size, data):
    text = json.dumps({"events": elements}).encode()
    start = text.index(b"[") + 1
    end = text.rindex(b"]")
    cut = data.draw(st.integers(start, end))
    with pytest.raises(InputError, match=r"t.json: is cut off; it ends within its events\."):
        read(text[:cut], size)


def test_what_holds_no_such_array_is_refused():
    for text in (b"{}", b'{"events": 3}', b'{"event": [1]}', b"", b'"events"'):
        with pytest.raises(InputError, match=r"t.json: holds no events\."):
            read(text, 3)


def test_batches_are_as_small_as_the_pieces():
    text = json.dumps({"events": [{"n": n} for n in range(10_000)]}).encode()
    sizes = [len(batch) for batch in JsonArray(pieces(text, 1000), "events", "t.json").batches()]
    assert len(sizes) > 50
    assert max(sizes) < 3000
