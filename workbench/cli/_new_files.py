"""Files that `workbench new` writes: all of them or none, and never over a file that is there."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from workbench.cli._output import add_output_arguments, say_json
from workbench.errors import InputError


def add_new_arguments(parser: argparse.ArgumentParser, place: str) -> None:
    """Add --into, --json and --quiet to the parser of a command that writes new files."""
    parser.add_argument("--into", metavar="DIR", default=".", help=f"{place} (default: here)")
    add_output_arguments(parser)


def say_new(written: Sequence[Path], lines: Sequence[str], as_json: bool) -> None:
    """Print the lines on new files, or their paths as JSON."""
    if as_json:
        say_json({"wrote": [str(path) for path in written]})
    else:
        print("\n".join(lines))


def write_new(contents: Mapping[Path, bytes]) -> None:
    """Write new files with their folders.

    Raises
    ------
    InputError
        A file is there already, or one cannot be written; none of them is left behind.
    """
    refuse_existing(contents)
    written: list[Path] = []
    try:
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                written.append(path)
                file.write(content)
    except OSError as problem:
        for done in written:
            done.unlink(missing_ok=True)
        raise InputError(f"{path.parent}: no file can be written there ({problem.strerror}).") from None


def refuse_existing(paths: Iterable[Path]) -> None:
    """Raise InputError if one of the files is there already."""
    for path in paths:
        if path.exists() or path.is_symlink():
            raise InputError(f"{path} exists already; choose another name, or another folder with --into.")
