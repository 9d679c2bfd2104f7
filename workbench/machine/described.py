"""A machine of some kind, which a sweep writes as levers, as a preset's name, or as a preset with levers beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypeVar

from workbench.errors import at, unknown_name, wrong_value
from workbench.levers import Lever, Spec
from workbench.machine.preset import KIND_OF_MACHINE, preset, preset_names


class Described(Spec):
    """The base of every kind of machine: what one engine needs to know of the hardware.

    Its presets are the files of `presets/<name of the kind>/`; each of them gives every figure of the kind.
    """

    shown: ClassVar[tuple[str, ...]] = ()
    """The levers that a table of presets shows."""
    __describes__: ClassVar[tuple[str, ...]] = ("shown",)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.built_in:
            KIND_OF_MACHINE[cls.name] = cls

    @classmethod
    def figures(cls) -> Mapping[str, Lever]:
        """Return what a preset's file states, each with its range and unit."""
        return cls.levers

    @classmethod
    def of_figures(cls, figures: Mapping[str, Any]) -> Self:
        """Return the machine that has these figures."""
        return cls(**figures)

    def row(self) -> dict[str, Any]:
        """Return what a table of presets shows of this machine."""
        return {name: getattr(self, name) for name in self.shown}

    @classmethod
    def read(cls, given: object, path: str = "machine", where: str = "") -> Self:
        """Read the machine that a sweep file describes: a preset's name, levers, or both (see `read_machine`)."""
        return super().read(_levers_of_preset(cls, given, path, where), path, where)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of what `read` takes: a preset's name, or levers with or without one."""
        named = {"enum": preset_names(cls), "description": "a preset whose figures stand where no lever is given"}
        levers = super().schema()
        return {"anyOf": [named, {**levers, "properties": {"preset": named, **levers["properties"]}}]}


_D = TypeVar("_D", bound=Described)


def _levers_of_preset(cls: type[Described], given: object, path: str, where: str) -> object:
    """Return what was given with the preset that it names written out as levers; what names none is given back as it
    is."""
    if isinstance(given, str):
        return _named(cls, given, path, where).values()
    if isinstance(given, Mapping) and "preset" in given:
        replaced = {name: value for name, value in given.items() if name != "preset"}
        return {**_named(cls, given["preset"], f"{path}.preset", where).values(), **replaced}
    if not isinstance(given, (cls, Mapping)):
        raise wrong_value(where, path, "must be a preset's name or a mapping of levers", given)
    return given


def _named(cls: type[_D], name: object, path: str, where: str) -> _D:
    if name not in preset_names(cls):
        raise unknown_name(at(where, path), "machine preset", name, preset_names(cls))
    machine = preset(str(name), cls).machine()
    assert isinstance(machine, cls)
    return machine
