"""The machine of a sweep file: levers, a preset's name, or a preset with levers that replace its own."""

from __future__ import annotations

from typing import Any

from workbench.machine.machine import Machine
from workbench.machine.preset import preset, presets


def read_machine(given: object, path: str = "machine", where: str = "") -> Machine:
    """Read the machine that a sweep file describes.

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


def presets_table(name: str | None = None) -> list[dict[str, Any]]:
    """Return what `workbench presets [NAME]` shows: one row a preset, or one row a figure of one preset."""
    if name is None:
        return presets()
    found = preset(name)
    declared = found.of.figures()
    rows = [(figure, declared[figure.name].plain(figure.value)) for figure in found.figures.values()]
    return [{"preset": name, **figure._asdict(), "value": value} for figure, value in rows]
