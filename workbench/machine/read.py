"""The machine of a sweep file: levers, a preset's name, or a preset with levers that replace its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from workbench.errors import at, unknown_name, wrong_value
from workbench.machine.described import Described
from workbench.machine.machine import Machine
from workbench.machine.preset import preset, preset_names, presets


def read_machine(given: object, path: str = "machine", where: str = "") -> Machine:
    """The machine that a sweep file describes.

    >>> read_machine("h100").segments
    1824
    >>> read_machine({"preset": "mi355x", "segments": 64}).shared_memory_bytes
    81920
    >>> read_machine({"preset": "mi355"}, where="drain.yaml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.errors.InputError: drain.yaml: machine.preset: unknown machine preset 'mi355'; ... Did you mean mi355x?

    Raises
    ------
    InputError
        The preset or a lever is unknown, or a value is not allowed; the message holds the path.
    """
    return Machine.read(given, path, where)


_D = TypeVar("_D", bound=Described)


def levers_of_preset(cls: type[Described], given: object, path: str, where: str) -> object:
    """What was given with the preset that it names written out as levers; what names none is given back as it is."""
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
    found = preset(str(name)).machine()
    assert isinstance(found, cls)
    return found


def presets_table(name: str | None = None) -> list[dict[str, Any]]:
    """What `workbench presets [NAME]` shows: one row a preset, or one row a figure of one preset."""
    if name is None:
        return presets()
    found = preset(name)
    declared = found.of.figures()
    rows = [(figure, declared[figure.name].plain(figure.value)) for figure in found.figures.values()]
    return [{"preset": name, **figure._asdict(), "value": value} for figure, value in rows]
