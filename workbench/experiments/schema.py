"""The JSON schema of sweep files, made of the same declarations that check them.

Every part is written once: what occurs again stands in `$defs` and is referred to.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from workbench.experiments.designs import Design
from workbench.experiments.designs.ranges import RANGE_SCHEMA
from workbench.experiments.seeds import Until
from workbench.experiments.sweep import KEYS, MOST_SEEDS, REQUIRED
from workbench.machine.guest_presets import known_preset_names
from workbench.machine.presets import KIND_OF_MACHINE, preset_names
from workbench.mechanisms.measures import measures_of, of_setup
from workbench.mechanisms.mechanism import Mechanism, mechanism, mechanisms
from workbench.metrics.measure import Measure, Measures
from workbench.policies.policy import policies
from workbench.workloads.workload_key import workload_schema

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NAMES = {"type": "array", "items": {"type": "string"}}
_FRONT = {
    "type": "object",
    "required": ["front"],
    "additionalProperties": False,
    "properties": {"front": {"type": "string", "description": "the results folder of a tuning study"}},
}
_CHOICE = {
    "type": "object",
    "required": ["vary"],
    "additionalProperties": False,
    "properties": {
        "vary": {"anyOf": [{"type": "array", "minItems": 1}, *RANGE_SCHEMA["anyOf"], _FRONT]},
        "zip": {"type": "string"},
    },
}
"""A choice of several, the same object wherever one may stand: it is put into words once."""


def sweep_schema() -> dict[str, Any]:
    """Return the schema of every sweep file: one alternative a mechanism."""
    alternatives = [_of_mechanism(mechanism(name)) for name in mechanisms()]
    shape = {"type": "object", "required": list(REQUIRED), "additionalProperties": False}
    whole = written_once({"anyOf": [{**shape, **a} for a in alternatives]})
    return {"$schema": _DIALECT, "title": "A sweep of the GPU policy workbench", **whole}


def _of_mechanism(registered: Mechanism) -> dict[str, Any]:
    engine = registered.engine
    slots = {slot: varied(policy_schema(engine.question_of(slot))) for slot in engine.slots}
    chosen = {"type": "object", "additionalProperties": False, "properties": slots}
    names = _measure_names(registered.measures, [*of_setup(engine.name), *measures_of(engine.name).all()])
    parts = {
        "question": {"type": "string"},
        "engine": {"const": engine.name},
        "machine": varied(_or_file(engine.machine.schema())),
        "workload": varied(workload_schema(engine.workload_kind)),
        "policy": chosen,
        "options": _inside(engine.options.schema()),
        "vary": _FRONT,
        "design": Design.schema(),
        "baseline": chosen,
        "seeds": _seeds(),
        "planned": {"type": "integer", "minimum": 1, "maximum": MOST_SEEDS},
        "most_points": {"type": "integer", "minimum": 1},
        "measures": {"type": "array", "items": names},
        "least_effect": {
            "type": "object",
            "propertyNames": names,
            "additionalProperties": {"type": "number", "exclusiveMinimum": 0},
        },
        "figures": _NAMES,
    }
    return {"properties": {key: {**parts[key], "description": KEYS[key]} for key in KEYS}}


def _or_file(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a machine with two more values wherever it names a preset.

    These are the presets of installed packages, and a preset's file.
    """
    kind = next((one for one in KIND_OF_MACHINE.values() if schema.get("enum") == preset_names(one)), None)
    if kind is not None:
        named = {**schema, "enum": known_preset_names(kind)}
        return {"anyOf": [named, {"type": "string", "pattern": r"\.ya?ml$"}]}
    return _each_part(schema, _or_file)


def _measure_names(known: Mapping[str, Measure], further: Iterable[str]) -> dict[str, Any]:
    """Return the names of the engine's measures, of further ones, and those of parts: `wait_p99_cycles[4]`."""
    listed = {"enum": [*known, *further]}
    patterns = (
        [{"type": "string", "pattern": f"^{p}$"} for p in known.patterns()] if isinstance(known, Measures) else []
    )
    return {"anyOf": [listed, *patterns, {"type": "string", "pattern": r"\.py:"}]}


def policy_schema(question: str) -> dict[str, Any]:
    """Return a policy by its name, or by its name with levers."""
    named = policies(question)
    one = {name: cls.schema() for name, cls in named.items()}
    with_levers = {"type": "object", "minProperties": 1, "maxProperties": 1, "properties": one}
    return {"anyOf": [{"enum": list(named)}, with_levers, {"type": "string", "pattern": r"\.py:"}]}


def varied(schema: dict[str, Any]) -> dict[str, Any]:
    """Return something, or a choice of several of it; and the same for every part of it, as `vary` may stand at any
    depth."""
    return {"anyOf": [_inside(schema), _CHOICE]}


def _inside(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with a choice allowed for each of its parts."""
    parts = dict(schema)
    if "properties" in schema:
        parts["properties"] = {name: varied(inner) for name, inner in schema["properties"].items()}
    if "items" in schema:
        parts["items"] = varied(schema["items"])
    if "anyOf" in schema:
        parts["anyOf"] = [_inside(alternative) for alternative in schema["anyOf"]]
    return parts


def _seeds() -> dict[str, Any]:
    whole = {"type": "integer", "minimum": 1}
    span = {"first": {"type": "integer", "minimum": 0}, "count": whole}
    shape = {"type": "object", "additionalProperties": False, "properties": span}
    until = {**shape, "properties": {"first": span["first"], "until": Until.schema()}, "required": ["until"]}
    return {"anyOf": [whole, {"type": "array", "items": {"type": "integer", "minimum": 0}}, shape, until]}


_WORTH_A_NAME = 120
"""Characters from which on a part that occurs again is taken out; shorter ones stay where they are read."""

_Part = dict[str, Any]
_text_of = json.JSONEncoder(sort_keys=True).encode


def written_once(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the same schema with every part that occurs more than once in `$defs`.

    A law is allowed in a dozen places of a workload and holds other laws: written out, such a schema has megabytes.

    >>> long = {"type": "integer", "description": "a number of which much can be said: " + 90 * "."}
    >>> short = written_once({"type": "object", "properties": {"a": long, "b": {"anyOf": [long, {"type": "null"}]}}})
    >>> short["properties"]["a"], short["$defs"]["part_1"] == long
    ({'$ref': '#/$defs/part_1'}, True)
    """
    numbers: dict[str, int] = {}
    parts: list[_Part] = []
    uses: Counter[int] = Counter()
    sizes: list[int] = []
    known: dict[int, _Part] = {}

    def number_of(part: _Part) -> _Part:
        """Return a part as a number alone, its own parts likewise; equal parts have the same."""
        if id(part) not in known:  # the schema keeps all parts alive, so that none has another's address
            known[id(part)] = numbered(part)
        return known[id(part)]

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
    result = dict(schema)
    if "properties" in result:
        result["properties"] = {name: change(inner) for name, inner in result["properties"].items()}
    if "items" in result:
        result["items"] = change(result["items"])
    if "anyOf" in result:
        result["anyOf"] = [change(inner) for inner in result["anyOf"]]
    return result


def _parts_of(schema: _Part) -> list[_Part]:
    """Return every schema directly inside a schema."""
    parts: list[_Part] = []

    def keep(inner: _Part) -> _Part:
        parts.append(inner)
        return inner

    _each_part(schema, keep)
    return parts
