"""Machine presets that installed packages bring: a sweep names one, and its figures are read as levers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbench.errors import InputError, unknown_name
from workbench.guests import Guest, guests, load, rivals
from workbench.machine.presets import (
    FOLDER,
    KIND_OF_MACHINE,
    Preset,
    no_preset,
    preset,
    preset_names,
    read_preset,
)


def guest_preset(name: object, of: Any) -> Preset | None:
    """Return the preset of a kind of machine that an installed package brings; None if this package has the name.

    Raises
    ------
    InputError
        Several packages bring it, or its file is not what a preset's file must be.
    """
    guest = guests("preset", of.name).get(name) if isinstance(name, str) and not _is_own(name, of.name) else None
    return None if guest is None else preset_of(guest)


def guest_presets(of: Any = None) -> Iterator[tuple[Guest, Preset]]:
    """Yield the presets that installed packages bring, of every kind of machine or of one.

    A preset that cannot be read is left out; `preset_of` says why.
    """
    for kind in KIND_OF_MACHINE if of is None else [of.name]:
        for guest in guests("preset", kind).values():
            with suppress(InputError):
                yield guest, preset_of(guest)


def known_preset_names(of: Any = None) -> list[str]:
    """Return the name of every preset, of this package and of installed packages, or those of one kind of machine."""
    return sorted({*preset_names(of), *(guest.name for guest, _ in guest_presets(of))})


def known_preset(name: str, of: Any = None) -> Preset:
    """Return the preset of a name, of this package or of an installed package.

    >>> known_preset("mi355x").machine().segments
    128

    Raises
    ------
    InputError
        There is no such preset, or its file is not what a preset's file must be.
    """
    if name in preset_names(of) or "/" in name:
        return preset(name, of)
    guest = guests("preset", of.name if of else "").get(name)
    if guest is None:
        raise no_preset("", name, known_preset_names(of), of.name if of else "machine")
    return preset_of(guest)


def preset_of(guest: Guest) -> Preset:
    """Return the preset that an installed package brings.

    Raises
    ------
    InputError
        This package or another one has a preset of the name, or the file is not what a preset's file must be.
    """
    if guest.within not in KIND_OF_MACHINE:
        raise unknown_name("", "kind of machine", guest.within, KIND_OF_MACHINE)
    if _is_own(guest.name, guest.within):
        raise InputError(guest.says(f"is left out: {guest.name} is already a preset of the workbench; rename it."))
    if others := rivals(guest):
        named = ", ".join(f"{one.package} ({one.place})" for one in (guest, *others))
        raise InputError(f"{guest.name} is a preset of several packages, {named}; remove all but one of them.")
    path = Path(load(guest, lambda value: isinstance(value, (str, os.PathLike)), "preset's file"))
    return read_preset(path, KIND_OF_MACHINE[guest.within])._replace(name=guest.name)


def _is_own(name: str, kind: str) -> bool:
    return (FOLDER / kind / f"{name}.yaml").is_file()
