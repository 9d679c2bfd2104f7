"""The JSON schema of sweep files, made of the same declarations that check them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from workbench.experiments.designs import Design
from workbench.experiments.designs.ranges import RANGE_SCHEMA
from workbench.experiments.mechanism import Mechanism, mechanism, mechanisms
from workbench.experiments.seeds import Until
from workbench.experiments.sweep import ESTIMANDS, KEYS, REQUIRED
from workbench.experiments.user_measures import of_setup
from workbench.levers.schema import written_once
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
    parts = {
        "question": {"type": "string"},
        "engine": {"const": engine.name},
        "machine": varied(engine.machine.schema()),
        "workload": varied(workload_schema(engine.workload_kind)),
        "policy": chosen,
        "options": _inside(engine.options.schema()),
        "vary": _FRONT,
        "design": Design.schema(),
        "baseline": chosen,
        "seeds": _seeds(),
        "looks": {"type": "array", "items": {"type": "integer", "minimum": 1}},
        "most_points": {"type": "integer", "minimum": 1},
        "estimand": {"enum": list(ESTIMANDS)},
        "measures": {"type": "array", "items": _measure_names(registered.measures, of_setup(engine.name))},
        "figures": _NAMES,
    }
    return {"properties": {key: {**parts[key], "description": KEYS[key]} for key in KEYS}}


def _measure_names(known: Mapping[str, Measure], of_setups: Iterable[str]) -> dict[str, Any]:
    """Return the listed names, those of a setup's measures, and those of parts: `wait_p99_cycles[4]`."""
    listed = {"enum": [*known, *of_setups]}
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
