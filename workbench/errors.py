"""The wording of every message a user can meet: where, what was expected, what came, the nearest cure."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

DISTRIBUTION = "gpu-policy-workbench"
"""What the package is called where it is installed."""


class WorkbenchError(Exception):
    """A mistake that a user can fix; the command line prints its one sentence and ends with status 2.

    What it quotes of a file or a name may hold any character; those that no terminal shows are shown by their number.

    >>> print(WorkbenchError("unknown card 'a\\ufeffb'"))
    unknown card 'a\\ufeffb'
    """

    exit_status = 2

    def __str__(self) -> str:
        """Return the sentence with every character that is not printable escaped, but ends of lines."""
        return "".join(map(_visible, super().__str__()))


class InputError(WorkbenchError, ValueError):
    """Something that came in (a sweep, a lever, a trace, an argument) is not what was expected."""


class PolicyError(WorkbenchError):
    """A policy broke the contract of its question: it raised, or its answer is not allowed."""


class StarvedError(PolicyError):
    """A run cannot end: something waits, and nothing can happen any more that would help it (spec 3)."""


class StoreError(WorkbenchError):
    """A results folder cannot be used: it belongs to another sweep, a newer version, or another driver."""


def at(where: str, sentence: str) -> str:
    """Put the place before the sentence; an empty one adds nothing.

    >>> at("drain.yaml", "is empty"), at("", "is empty"), at("drain.yaml", "")
    ('drain.yaml: is empty', 'is empty', 'drain.yaml')
    """
    return ": ".join(part for part in (where, sentence) if part)


def wrong_value(where: str, name: str, expected: str, got: object, nearest: object = None) -> InputError:
    """Say that a value is not allowed.

    >>> print(wrong_value("drain.yaml", "machine.segments", "must be a whole number from 2 to 4096", 1, 2))
    drain.yaml: machine.segments must be a whole number from 2 to 4096. Got 1. Nearest: 2.
    """
    cure = f" Nearest: {nearest}." if nearest is not None else ""
    return InputError(at(where, f"{name} {expected}. Got {shown(got)}.{cure}"))


def unknown_name(where: str, what: str, got: object, known: Iterable[str]) -> InputError:
    """Say that a name is not known, list what there is, and guess what was meant.

    >>> print(unknown_name("", "placement policy", "bestfit", ["best_fit", "first_fit"]))
    unknown placement policy 'bestfit'; there are best_fit, first_fit. Did you mean best_fit?
    """
    names = sorted(known)
    there = f"there are {_listed(got, names)}" if names else "there are none"
    guess = nearest_name(got, names)
    cure = f" Did you mean {guess}?" if guess else ""
    return InputError(at(where, f"unknown {what} {shown(got)}; {there}.{cure}"))


_MOST_LISTED = 40


def _listed(got: object, names: list[str]) -> str:
    """Return all names, or, of very many, those that are most like what was given and how many there are."""
    if len(names) <= _MOST_LISTED:
        return ", ".join(names)
    near = difflib.get_close_matches(shown(got).strip("'"), names, n=6, cutoff=0.0)
    return f"{', '.join(near)} and {len(names) - len(near)} more"


def nearest_name(got: object, known: Iterable[str]) -> str | None:
    """Return the known name that a wrong one is most like, None where it is like none.

    >>> nearest_name("Worst-Fit", ["best_fit", "worst_fit"]), nearest_name("zebra", ["best_fit"])
    ('worst_fit', None)
    >>> nearest_name("TPESamplr", ["CmaEsSampler", "TPESampler"])
    'TPESampler'
    """
    names = {name.lower(): name for name in sorted(known)}
    close = difflib.get_close_matches(shown(got).strip("'").lower(), names, n=1, cutoff=0.5)
    return names[close[0]] if close else None


_ALIKE = 0.6
"""Of the part of a file's name before its first dot, from 0 to 1: below this, two names are not alike."""
_MOST_FILES = 10_000
"""Of a folder in which a similar name is looked for."""


def nearest_file(path: str | os.PathLike[str]) -> str | None:
    """Return the path that a missing one is most like, each wrong part replaced; None where there is none like it.

    >>> nearest_file(__file__.replace("errors", "erors")) == __file__, nearest_file("nowhere/zebra.yaml")
    (True, None)
    """
    wanted = Path(path)
    place = Path(wanted.anchor)
    for part in wanted.parts[1:] if wanted.anchor else wanted.parts:
        near = part if os.path.lexists(place / part) else _nearest_entry(place, part)
        if near is None:
            return None
        place /= near
    return str(place) if place != wanted and place.exists() else None


def _nearest_entry(folder: Path, name: str) -> str | None:
    """Return the name in a folder that is most like another one: first its part before the first dot, then all."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, _MOST_FILES)]
    except (OSError, ValueError):
        return None
    likeness = {other: (_likeness(_stem(name), _stem(other)), _likeness(name, other)) for other in sorted(names)}
    best = max(likeness, key=lambda other: likeness[other], default=None)
    return best if best is not None and likeness[best][0] >= _ALIKE else None


def _stem(name: str) -> str:
    return name.lower().partition(".")[0]


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def no_file(path: str | os.PathLike[str], sentence: str = "there is no such file.") -> InputError:
    """Say that there is no file of a name, and guess which one was meant.

    >>> print(no_file("nowhere/zebra.yaml"))
    nowhere/zebra.yaml: there is no such file.
    """
    return InputError(f"{os.fspath(path)}: {sentence}{file_guess(path)}")


def file_guess(path: str | os.PathLike[str]) -> str:
    """Return the end of a sentence about a missing file or folder: which one was perhaps meant."""
    near = nearest_file(path)
    return f" Did you mean {near}?" if near else ""


def unreadable(path: str | os.PathLike[str], problem: OSError) -> InputError:
    """Say why a file cannot be read, and of one that is not there which was perhaps meant."""
    return no_file(path, f"cannot be read ({problem.strerror or problem}).")


class MissingPart(WorkbenchError):
    """Something that needs a package which is not installed; what does not need it goes on."""


def missing_extra(what: str, extra: str) -> MissingPart:
    """Say which optional part of the installation is needed for something."""
    return MissingPart(f"{what} needs an optional part. Install it with: {install_command(extra)}.")


def install_command(extra: str) -> str:
    """Return the command that installs an optional part: of this checkout, or the packages that it stands for."""
    if (Path(__file__).parents[1] / "pyproject.toml").is_file():
        return f"pip install -e '.[{extra}]'"
    return f"pip install {' '.join(map(repr, _packages_of(extra)))}"


def _packages_of(extra: str) -> list[str]:
    """Return the requirements of an optional part as the installed package states them."""
    from importlib.metadata import requires

    needs = (need.partition(";") for need in requires(DISTRIBUTION) or ())
    return [name.strip() for name, _, marker in needs if re.search(rf"extra == ['\"]{extra}['\"]", marker)]


def shown(value: object, most: int = 80) -> str:
    """Return the value as a user typed it, on one line, cut to a readable length.

    >>> shown("x" * 100)[-6:], shown(3), shown([1.5, "a"])
    ('xxx...', '3', "[1.5, 'a']")
    """
    try:
        text = " ".join(line.strip() for line in repr(_unwrapped(value)).splitlines())
    except Exception:  # a number too long for Python to print, a list inside itself, a user's own class
        text = f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= most else text[: most - 3] + "..."


def _visible(letter: str) -> str:
    """Return a character as it is where a terminal shows it, its escape otherwise."""
    return letter if letter.isprintable() or letter == "\n" else letter.encode("unicode_escape").decode()


def _unwrapped(value: object) -> object:
    """Return a single NumPy number as the Python number that it is."""
    return value.item() if hasattr(value, "dtype") and getattr(value, "shape", None) == () else value  # type: ignore[attr-defined]
