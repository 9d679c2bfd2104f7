"""A JSON schema in which every part is written once: what occurs again stands in `$defs` and is referred to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

_WORTH_A_NAME = 120
"""Characters from which on a part that occurs again is taken out; shorter ones stay where they are read."""

_Part = dict[str, Any]
_text_of = json.JSONEncoder(sort_keys=True).encode


def written_once(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the same schema with every part that occurs more than once in `$defs`.

    A law is allowed in a dozen places of a workload and holds other laws: written out, such a schema has megabytes.

    >>> long = {"type": "integer", "description": "a number of which much can be said: " + 90 * "."}
    >>> found = written_once({"type": "object", "properties": {"a": long, "b": {"anyOf": [long, {"type": "null"}]}}})
    >>> found["properties"]["a"], found["$defs"]["part_1"] == long
    ({'$ref': '#/$defs/part_1'}, True)
    """
    numbers: dict[str, int] = {}
    parts: list[_Part] = []
    uses: Counter[int] = Counter()
    sizes: list[int] = []
    known: dict[int, _Part] = {}

    def number_of(part: _Part) -> _Part:
        """Return a part as a number alone, its own parts likewise; equal parts have the same."""
        found = known.get(id(part))
        if found is None:  # the schema keeps all parts alive, so that none has another's address
            found = known[id(part)] = numbered(part)
        return found

    def numbered(part: _Part) -> _Part:
        inner = _each_part(part, number_of)
        text = _text_of(inner)
        if text not in numbers:
            numbers[text] = len(parts)
            parts.append(inner)
            own = [held["$part"] for held in _parts_of(inner)]
            uses.update(own)
            sizes.append(len(text) + sum(sizes[number] for number in own))
        return {"$part": numbers[text]}

    root = number_of(schema)["$part"]
    named = [number for number in range(len(parts)) if uses[number] > 1 and sizes[number] >= _WORTH_A_NAME]
    names = {number: f"part_{place}" for place, number in enumerate(named, 1)}

    def written(inner: _Part) -> _Part:
        number = inner["$part"]
        return {"$ref": f"#/$defs/{names[number]}"} if number in names else _each_part(parts[number], written)

    defined = {name: _each_part(parts[number], written) for number, name in names.items()}
    return {**_each_part(parts[root], written), **({"$defs": defined} if defined else {})}


def _each_part(schema: _Part, change: Callable[[_Part], _Part]) -> _Part:
    """Return a schema with every schema directly inside it changed."""
    found = dict(schema)
    if "properties" in found:
        found["properties"] = {name: change(inner) for name, inner in found["properties"].items()}
    if "items" in found:
        found["items"] = change(found["items"])
    if "anyOf" in found:
        found["anyOf"] = [change(inner) for inner in found["anyOf"]]
    return found


def _parts_of(schema: _Part) -> list[_Part]:
    """Return every schema directly inside a schema."""
    found: list[_Part] = []

    def keep(inner: _Part) -> _Part:
        found.append(inner)
        return inner

    _each_part(schema, keep)
    return found
