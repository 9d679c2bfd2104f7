"""A schema whose parts are written once takes and refuses exactly what the same schema written out does."""

import copy
import json

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from workbench.experiments.schema import written_once

LEAVES = st.sampled_from(
    [
        {"type": "integer", "minimum": 3, "description": "says " + "much " * 40},
        {"enum": ["a", "b"], "description": "says " + "more " * 40},
        {"type": "null"},
        {"const": {"anyOf": [1]}, "default": {"items": {}}, "description": "what only looks like a schema " * 5},
    ]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"anyOf": parts}),
        inner.map(lambda part: {"type": "array", "items": part}),
        st.dictionaries(st.sampled_from(["a", "b", "items", "anyOf"]), inner, min_size=1).map(
            lambda parts: {"type": "object", "additionalProperties": False, "properties": parts}
        ),
    ),
    max_leaves=8,
)
VALUES = st.recursive(
    st.sampled_from([1, 3, "a", "c", None, {"anyOf": [1]}]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b", "items", "anyOf"]), inner),
    max_leaves=5,
)


@given(SCHEMAS, st.lists(VALUES, min_size=5, max_size=5))
def test_it_takes_and_refuses_the_same(schema, values):
    before = copy.deepcopy(schema)
    short = written_once(schema)
    assert schema == before
    jsonschema.Draft202012Validator.check_schema(short)
    for value in values:
        written_out = jsonschema.Draft202012Validator(schema).is_valid(value)
        assert jsonschema.Draft202012Validator(short).is_valid(value) == written_out


@given(SCHEMAS)
def test_no_long_part_is_written_twice(schema):
    pair = {"anyOf": [schema, {"items": schema}]}
    texts = []

    def walk(part):
        texts.append(json.dumps(part, sort_keys=True))
        items = [part["items"]] if "items" in part else []
        for inner in [*part.get("properties", {}).values(), *part.get("anyOf", []), *items]:
            walk(inner)

    short = written_once(pair)
    for part in ({k: v for k, v in short.items() if k != "$defs"}, *short.get("$defs", {}).values()):
        walk(part)
    long = [text for text in texts if len(text) >= 200]
    assert len(long) == len(set(long))


def test_what_occurs_once_stays_where_it_is():
    schema = {"type": "object", "properties": {"a": {"type": "integer", "description": "x" * 500}}}
    assert written_once(schema) == schema
