"""The installed packages that bring parts of a sweep: the provenance names them for a reader who lacks one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from workbench.guests import Guest, every_guest, guest_package, guests
from workbench.levers import Spec
from workbench.machine.presets import preset_names

if TYPE_CHECKING:
    from workbench.engines.kit.engine import Setup
    from workbench.experiments.plan import Plan

PACKAGES = "packages_of_parts"
"""The key of the provenance."""


def needed_packages(plan: Plan) -> list[str]:
    """Return the packages, with their versions, that bring a part of a sweep."""
    setups = [point.setup for point in plan.points if point.setup]
    held = {id(one): one for setup in setups for one in _parts(setup)}.values()
    specs = {type(spec) for part in held if not part.is_of_the_package for spec in specs_in(part)}
    measures = (one.function for one in plan.sweep.user_measures.values())
    modules = {part.__module__ for part in (type(plan.sweep.mechanism.engine), *measures, *specs)}
    of_classes = (guest_package(name) for name in modules if not name.startswith("workbench."))
    named = (guest.package for guest in (*guests_of_presets(plan), *_guests_of_figures(plan)))
    return sorted({*filter(None, of_classes), *named})


def guests_of_presets(plan: Plan) -> list[Guest]:
    """Return the machine presets of installed packages that a sweep names."""
    names = {*texts_in(plan.sweep.config.get("machine"))} - {*preset_names()}
    if not names:
        return []
    of = plan.sweep.mechanism.engine.machine
    kinds = (of, *(declared.spec for declared in of.levers.values() if declared.spec is not None))
    brought = {name: guest for kind in kinds for name, guest in guests("preset", kind.name).items()}
    return [guest for name, guest in sorted(brought.items()) if name in names]


def missing_packages(provenance: Mapping[str, Any]) -> str:
    """Return a sentence about packages that a provenance names and that are not installed here; empty if all are.

    >>> missing_packages({"packages_of_parts": ["lab-parts 1.0"]})
    'it needs the package lab-parts 1.0, which is not installed here; install it.'
    >>> missing_packages({})
    ''
    """
    named = provenance.get(PACKAGES)
    here = {_name(guest.package) for guest in every_guest()}
    missing = [str(one) for one in named if _name(str(one)) not in here] if isinstance(named, list) else []
    if not missing:
        return ""
    if len(missing) == 1:
        return f"it needs the package {missing[0]}, which is not installed here; install it."
    return f"it needs the packages {', '.join(missing)}, which are not installed here; install them."


def specs_in(value: Any) -> Iterator[Spec]:
    """Yield a spec and those that it holds."""
    if isinstance(value, Spec):
        yield value
        for name in value.levers:
            yield from specs_in(getattr(value, name))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from specs_in(one)


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a part of a sweep, or in a spec."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Spec):
        for name in value.levers:
            yield from texts_in(getattr(value, name))
    elif isinstance(value, dict):
        for one in value.values():
            yield from texts_in(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from texts_in(one)


def _name(package: str) -> str:
    return package.partition(" ")[0]


def _guests_of_figures(plan: Plan) -> Iterator[Guest]:
    brought = guests("figure") if plan.sweep.figures else {}
    yield from (brought[name] for name in plan.sweep.figures if name in brought)


def _parts(setup: Setup) -> tuple[Spec, ...]:
    return setup.machine, setup.workload, setup.options, *setup.policies.values()
