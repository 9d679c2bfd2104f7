"""A machine of some kind, which a sweep writes as levers, as a preset's name, or as a preset with levers beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from workbench.levers import Lever, Spec


class Described(Spec):
    """The base of every kind of machine: what one engine needs to know of the hardware.

    Its presets are the files of `presets/<name of the kind>/`; each of them gives every figure of the kind.
    """

    kinds: ClassVar[dict[str, type[Described]]] = {}
    """Every kind of machine, by name."""
    shown: ClassVar[tuple[str, ...]] = ()
    """The levers that a table of presets shows."""
    __describes__: ClassVar[tuple[str, ...]] = ("kinds", "shown")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.built_in:
            Described.kinds[cls.name] = cls

    @classmethod
    def figures(cls) -> Mapping[str, Lever]:
        """What a preset's file states, each with its range and unit."""
        return cls.levers

    @classmethod
    def of_figures(cls, figures: Mapping[str, Any]) -> Self:
        """The machine that has these figures."""
        return cls(**figures)

    def row(self) -> dict[str, Any]:
        """What a table of presets shows of this machine."""
        return {name: getattr(self, name) for name in self.shown}

    @classmethod
    def read(cls, given: object, path: str = "machine", where: str = "") -> Self:
        """The machine that a sweep file describes: a preset's name, levers, or both (see `read_machine`)."""
        from workbench.machine.read import levers_of_preset

        return super().read(levers_of_preset(cls, given, path, where), path, where)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of what `read` takes: a preset's name, or levers with or without one."""
        from workbench.machine.preset import preset_names

        named = {"enum": preset_names(cls), "description": "a preset whose figures stand where no lever is given"}
        levers = super().schema()
        return {"anyOf": [named, {**levers, "properties": {"preset": named, **levers["properties"]}}]}
