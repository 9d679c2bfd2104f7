"""`workbench new preset`: a machine preset's file to fill in, each figure with what it means."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli._new_files import add_new_arguments, say_new
from workbench.cli._new_policy import is_snake_case
from workbench.cli.commands import DONE
from workbench.errors import InputError, unknown_name

if TYPE_CHECKING:
    from workbench.levers import Lever


_WIDE = 100


def _arguments_of_new_preset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", help="machine, translation_machine, board or node_machine")
    parser.add_argument("name", metavar="NAME", help="the preset's name, such as my_card")
    add_new_arguments(parser, "where to write NAME.yaml")


def _run_new_preset(args: argparse.Namespace) -> int:
    path = write_preset(args.kind, args.name, Path(args.into))
    lines = [
        f"wrote {path}",
        "fill in each value, its mark and its source; this says what is missing, then shows them:",
        f"workbench list presets {path}",
        f"use it:  machine: {path} in a sweep",
    ]
    say_new([path], lines, args.json)
    return DONE


def write_preset(kind: str, name: str, folder: Path) -> Path:
    """Write the file of a preset in which no figure has a value yet, and return it.

    Raises
    ------
    InputError
        There is no such kind of machine, the name is no plain snake_case word or is taken, or the file cannot be
        written.
    """
    from workbench.machine.guest_presets import known_preset_names
    from workbench.machine.presets import KIND_OF_MACHINE

    if kind not in KIND_OF_MACHINE:
        raise unknown_name("", "kind of machine", kind, sorted(KIND_OF_MACHINE))
    if not is_snake_case(name):
        raise InputError(f"a preset's name must be words in small letters joined by _, such as my_card. Got {name!r}.")
    if name in known_preset_names():
        raise InputError(f"{name} is already a machine preset (workbench list presets {name}); choose another name.")
    path = folder / f"{name}.yaml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(preset_text(kind, name))
    except OSError as problem:
        raise InputError(f"{path}: cannot be written ({problem.strerror}).") from None
    return path


def preset_text(kind: str, name: str) -> str:
    """Return the text of a preset of a kind of machine, without values; the meaning of each figure stands next to it.

    >>> print(preset_text("board", "mine").splitlines()[0])
    # A machine preset: Frozen description of a board; a card that stands earlier has the lower id
    """
    from workbench.machine.presets import KIND_OF_MACHINE, KINDS, MARKS

    of = KIND_OF_MACHINE[kind]
    first = (of.__doc__ or "").splitlines()[0]
    head = [
        f"A machine preset: {first}",
        "Every figure has a value, a mark that says how far its source can be trusted, and the source in words that "
        "lead a reader there. Marks:",
        *(f"  {mark}: {meaning}" for mark, meaning in MARKS.items()),
    ]
    return "\n".join(
        [
            *(part for line in head for part in _comment(line)),
            f'title: "{name}"',
            f"kind: hardware  # {', '.join(KINDS)}: of a card, of a simulator's model of one, of a source document",
            "devices: []  # words in the names that traces give such a card, such as [H100]",
            "figures:",
            *(line for lever in of.figures().values() for line in _figure_lines(lever)),
            "",
        ]
    )


def _figure_lines(lever: Lever) -> list[str]:
    """Return the lines of one figure: its meaning, unit and the workbench's own default as comments."""
    import yaml

    meaning = f"{lever.description}{f' ({lever.unit})' if lever.unit else ''}"
    if not lever.required:
        default = yaml.safe_dump(lever.plain(lever.default), default_flow_style=True, width=10**6).split("\n...")[0]
        meaning += f"; without a preset {default.strip()}"
    comment = [f"  {line}" for line in _comment(meaning)]
    return [*comment, f"  {lever.name}:", "    value:", "    mark: not_verified", '    source: ""']


def _comment(line: str) -> list[str]:
    return [f"# {part}" for part in textwrap.wrap(line, _WIDE, subsequent_indent="    ", drop_whitespace=True)]


PRESET = _arguments_of_new_preset, _run_new_preset
