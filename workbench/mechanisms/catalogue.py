"""Every manifest by the name of its mechanism, in the order of the specification."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from workbench.errors import InputError
from workbench.guests import Guest, guests, load
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


def manifest_of(engine: str) -> Manifest | None:
    """Return the manifest of an engine, of this package or of another; None for an engine without one.

    >>> manifest_of("pool").page
    'mechanisms/pool.md'
    """
    return OWN.get(engine) or next((manifest for guest, manifest in _manifests() if guest.name == engine), None)


def brought(field: str, kind: str) -> dict[str, Guest]:
    """Return the names in a field of the manifests of other packages, as parts of a kind.

    Their modules are imported; a package that does not import brings nothing here.
    """
    result: dict[str, Guest] = {}
    for guest, manifest in _manifests():
        value = getattr(manifest, field)
        places = {manifest.name: value} if isinstance(value, str) else value
        for key, names in places.items():
            pairs = [(key, names)] if isinstance(names, str) else [(name, key) for name in names]
            result |= {
                name: guest._replace(kind=kind, within=guest.name, name=name, place=at) for name, at in pairs if at
            }
    return result


def _manifests() -> Iterator[tuple[Guest, Manifest]]:
    """Yield the manifests of other packages with their entry points."""
    for guest in guests("engine").values():
        with suppress(InputError):
            manifest = load(guest, lambda value: True, "engine")
            if isinstance(manifest, Manifest):
                yield guest, manifest


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
