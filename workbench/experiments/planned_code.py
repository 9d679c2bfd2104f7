"""The user's code in a setup: a run is of the code that its plan was made with, or it is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.engines.engine import Setup
from workbench.errors import PolicyError
from workbench.experiments.mechanism import is_built_in, mechanism
from workbench.identity import current
from workbench.levers import Spec
from workbench.workloads.importers import Importer
from workbench.workloads.workload import Workload


def with_code(setup: Setup) -> Setup:
    """Return a setup that knows the digest of each class of the user's in it, and of the user's engine."""
    parts = setup.machine, setup.workload, setup.options, *setup.policies.values()
    classes = dict.fromkeys(cls for part in parts for cls in own_classes(part))
    code = tuple((cls, current(cls).digest) for cls in classes)
    return setup._replace(code=code, engine_code=_of_engine(setup)) if code or not is_built_in(setup.engine) else setup


def _of_engine(setup: Setup) -> str:
    revision = mechanism(setup.engine).revision
    return revision[1] if isinstance(revision, tuple) else ""


def own_classes(part: Any) -> Iterator[type]:
    """Yield the class of a part of a setup, of each spec within it, and of an importer, if not part of this package."""
    if isinstance(part, Spec):
        if not part.built_in:
            yield type(part)
        for name in part.nested:
            yield from own_classes(getattr(part, name))
        if isinstance(part, Workload):
            yield from part.further_code()
    elif isinstance(part, tuple):
        for one in part:
            yield from own_classes(one)


def has_own_code(setup: Setup, own: Mapping[str, Any]) -> bool:
    """Return whether anything of the user's is executed in a run: of its setup, its engine or the measures of it."""
    return bool(setup.code or setup.engine_code or own)


def name_of(cls: type) -> str:
    """Return how messages name a class of the user's."""
    return f"importer {cls.format}" if issubclass(cls, Importer) else str(getattr(cls, "name", cls.__name__))


def check_code(setup: Setup, moment: str = "before") -> None:
    """Refuse a setup whose code is another than when its plan was made.

    Parameters
    ----------
    moment : {"before", "during"}
        Whether a run is about to begin, or has just ended.

    Raises
    ------
    PolicyError
        It is; the sentence names the class or the engine.
    """
    for cls, digest in setup.code:
        if current(cls).digest != digest:
            raise PolicyError(f"{name_of(cls)}: {_SENTENCES[moment]}.")
    if setup.engine_code and _of_engine(setup) != setup.engine_code:
        raise PolicyError(f"engine {setup.engine}: {_OF_ENGINES[moment]}.")


_SENTENCES = {
    "before": "its code, or something it refers to, is not what it was when this run was planned; run the sweep again",
    "during": "something it refers to changed while this run went on; let answers change nothing but their memory",
}
_OF_ENGINES = {
    "before": "its code, its attributes or something they refer to is not what it was when this run was planned; "
    "run the sweep again",
    "during": "its attributes, or something it refers to, changed while this run went on; keep what a run remembers in "
    "the run",
}
