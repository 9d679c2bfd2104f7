"""Every manifest by the name of its mechanism, in the order of the specification."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.mechanisms.any_engine import GENERAL
from workbench.mechanisms.dispatch import MECHANISM as DISPATCH
from workbench.mechanisms.malloc import MECHANISM as MALLOC
from workbench.mechanisms.manifest import Manifest
from workbench.mechanisms.node import MECHANISM as NODE
from workbench.mechanisms.pool import MECHANISM as POOL
from workbench.mechanisms.shared_memory import MECHANISM as SHARED_MEMORY
from workbench.mechanisms.torch_allocator import MECHANISM as TORCH_ALLOCATOR
from workbench.mechanisms.translation import MECHANISM as TRANSLATION

OWN: Mapping[str, Manifest] = {
    one.name: one for one in (SHARED_MEMORY, MALLOC, DISPATCH, TRANSLATION, POOL, TORCH_ALLOCATOR, NODE, GENERAL)
}
"""The manifests of this package."""


def figure_engines() -> dict[str, str]:
    """Return the engine of each figure of runs of this package, or `any`; nothing that draws is imported.

    >>> figure_engines()["drain_difference"], figure_engines()["pareto"]
    ('shared_memory', 'any')
    """
    return {figure: name for name, one in OWN.items() for figure in one.figures}


def policy_names() -> dict[str, tuple[str, ...]]:
    """Return the names of the policies of this package by question; no policy is imported.

    >>> policy_names()["frames"]
    ('longest', 'lowest')
    """
    return {question: names for one in OWN.values() for question, names in one.policies.items()}


def measure_names(engine: str) -> tuple[str, ...]:
    """Return the names of the measures of an engine of this package: of its records, then of its circuits.

    >>> measure_names("shared_memory")[-1]
    'relative_delay'
    """
    manifest = OWN[engine]
    return (*manifest.measures, *(name for names in manifest.circuit_measures.values() for name in names))
