"""The user's code in a setup: how ids name it, and how a run is held to it.

A run is of the code that its plan was made with, or it is refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from workbench.digests import canonical, digest
from workbench.engines.kit.engine import Setup
from workbench.errors import PolicyError
from workbench.identity import FORMAT, PYTHON, current
from workbench.identity.observed import forget_reads, read_by_import
from workbench.levers import Spec, identity_of
from workbench.loaded_sources import edited
from workbench.mechanisms.mechanism import Revision, is_built_in, mechanism
from workbench.policies.policy import Policy
from workbench.streams import Streams
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


def has_own_code(setup: Setup, user_measures: Mapping[str, Any]) -> bool:
    """Return whether anything of the user's is executed in a run: of its setup, its engine or the measures of it."""
    return bool(setup.code or setup.engine_code or user_measures)


def own_things(setup: Setup, user_measures: Mapping[str, Any]) -> list[Any]:
    """Return the classes and functions of the user's that a run executes, but for those of its engine."""
    measures = (one.function for one in user_measures.values() if not one.built_in)
    return [*(cls for cls, _ in setup.code), *measures]


def begin_anew(setups: Iterable[Setup], user_measures: Mapping[str, Any]) -> None:
    """Forget what was read, and empty what functions of the user's keep (`functools.lru_cache`): it is read again.

    So the reads of the runs that follow are all that these depend on.
    """
    forget_reads()
    for thing in {id(thing): thing for setup in setups for thing in own_things(setup, user_measures)}.values():
        for cached in current(thing).caches:
            cached.cache_clear()


def name_of(cls: type) -> str:
    """Return the name of a class of the user's in messages."""
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
    for cls, planned in setup.code:
        if current(cls).digest != planned:
            raise PolicyError(f"{name_of(cls)}: {_SENTENCES[moment]}.")
    if setup.engine_code and _of_engine(setup) != setup.engine_code:
        raise PolicyError(f"engine {setup.engine}: {_OF_ENGINES[moment]}.")


_SENTENCES = {
    "before": "its code, or something it refers to, is not what it was when this run was planned; run the sweep again, "
    "and keep what runs remember in a functools.cache or an empty dictionary",
    "during": "something it refers to changed while this run went on; let answers change nothing but their memory, a "
    "functools.cache or an empty dictionary",
}
_OF_ENGINES = {
    "before": "its code, its attributes or something they refer to is not what it was when this run was planned; "
    "run the sweep again",
    "during": "its attributes, or something it refers to, changed while this run went on; keep what a run remembers in "
    "the run",
}


def check_loaded(things: Iterable[Any]) -> None:
    """Refuse code of the user's whose files hold something else than when this process imported them.

    Parameters
    ----------
    things : iterable
        Classes and functions of the user's.

    Raises
    ------
    PolicyError
        A module was edited, a file that it opened as it was imported has changed, or a class is of a module as it was
        before it was imported again.
    """
    for thing in things:
        for name in sorted(current(thing).modules):
            cure = f"import {name} again (importlib.reload, or another kernel), then run"
            if file := edited(name):
                raise PolicyError(f"{os.path.basename(file)} was edited since this process imported it; {cure}.")
            if changed := read_by_import(name).changed():
                raise PolicyError(f"{changed}, which {name} read when it was imported, is not what it was; {cure}.")
        now = getattr(sys.modules.get(thing.__module__), thing.__qualname__, thing)
        if isinstance(now, type) and now is not thing and now.__qualname__ == thing.__qualname__:
            raise PolicyError(
                f"{thing.__qualname__} is of {thing.__module__} as it was before it was imported again; "
                "take it from the module once more."
            )


class PointIds:
    """Names setups exactly as `point_id` names their identities.

    The points of a sweep share most of their parts, as the same objects; each part's text is kept while this is. With
    100,000 points of a grid that is the difference between 4 s and 1 s.
    """

    def __init__(self, revision: Revision) -> None:
        self._python, self._revision = canonical(PYTHON), canonical(revision)
        self._streams = canonical(current(Streams).digest)
        self._known: dict[int, tuple[Any, str, bool]] = {}

    def of(self, setup: Setup) -> tuple[str, Setup]:
        """Return the name of a setup, and the setup with the digests of the user's classes in it, if there are any."""
        text, own = self._text(setup, f'"revision":{self._revision},')
        return digest(text), with_code(setup) if own or isinstance(self._revision, tuple) else setup

    def identity(self, setup: Setup) -> str:
        """Return the identity of a setup as canonical JSON, which says nothing of the engine's revision."""
        return self._text(setup)[0]

    def _text(self, setup: Setup, revision: str = "") -> tuple[str, bool]:
        """Return the identity as canonical JSON, with one more entry, and whether a part is of the user's."""
        machine, m = self._part(setup.machine)
        options, o = self._part(setup.options)
        workload, w = self._part(setup.workload)
        policies, p = self._policies(setup.policies)
        text = (
            f'{{"engine":"{setup.engine}","format":{FORMAT},"machine":{machine},"options":{options},'
            f'"policies":{{{policies}}},"python":{self._python},{revision}'
            f'"streams":{self._streams},"workload":{workload}}}'
        )
        return text, m or o or w or p

    def _policies(self, policies: Mapping[str, Policy]) -> tuple[str, bool]:
        """Return the text of all policies and whether one is the user's; alternatives share the mapping too."""
        if (known := self._known.get(id(policies))) is None:
            parts = {slot: self._part(policies[slot]) for slot in sorted(policies)}
            text = ",".join([f'"{slot}":{part}' for slot, (part, _) in parts.items()])
            known = self._known[id(policies)] = policies, text, any(own for _, own in parts.values())
        return known[1], known[2]

    def _part(self, part: Any) -> tuple[str, bool]:
        """Return a part's text and whether it is of the user's; kept with the part, whose address no other gets."""
        if (known := self._known.get(id(part))) is None:
            own = any(True for _ in own_classes(part))
            known = self._known[id(part)] = part, canonical(identity_of(part)), own
        return known[1], known[2]
