"""Of which generators do seeds make copies of one run? Each as it stands, by digests of what it asks."""

from __future__ import annotations

from typing import NamedTuple

import workbench as wb
from workbench.engines.kit.engine import Setup
from workbench.errors import InputError
from workbench.experiments.seeds import different_workloads, draws
from workbench.mechanisms.mechanism import mechanism
from workbench.parts.registry import Part
from workbench.workloads.workload import Generator

SEEDS = 20
ENGINES = ("shared_memory", "dispatch", "translation", "malloc", "pool")


class Copies(NamedTuple):
    """One generator under one engine."""

    engine: str
    generator: str
    different: int
    """Workloads that `SEEDS` seeds make."""
    refused: bool
    """Whether a sweep of so many seeds is refused."""


def table() -> list[Copies]:
    """Every generator with its levers as they stand, under every engine that takes it."""
    return [copies(engine, part.name) for engine in ENGINES for part in generators_of(engine)]


def generators_of(engine: str) -> list[Part]:
    """The package's generators that give what an engine asks for."""
    wanted = mechanism(engine).engine.workload_kind
    known = [part for part in Generator.members.parts() if part.built_in]
    return [part for part in known if Generator.members[part.name].gives(wanted)]


def copies(engine: str, generator: str) -> Copies:
    """Count the workloads of one generator, its levers as they stand."""
    config = {"engine": engine, "workload": {"synthetic": generator}, "seeds": 1}
    setup: Setup = wb.plan(config).points[0].setup
    different = different_workloads(setup, mechanism(engine).engine.workload_kind, range(SEEDS))
    return Copies(engine, generator, SEEDS if draws(setup) else different, _refused({**config, "seeds": SEEDS}))


def _refused(config: dict[str, object]) -> bool:
    try:
        wb.plan(config)
    except InputError:
        return True
    return False
