"""The schema of sweep files, made once for all tests that put something to it: it takes seconds."""

from __future__ import annotations

import functools

import jsonschema

from workbench.experiments.schema import sweep_schema


@functools.cache
def sweep_validator() -> jsonschema.Draft202012Validator:
    """Says whether an editor would take a sweep; not for a test that adds an engine of its own."""
    return jsonschema.Draft202012Validator(sweep_schema())
