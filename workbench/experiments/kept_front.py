"""The front of a tuning study, as its results folder keeps it for the next sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, at
from workbench.experiments.folder import SWEEP
from workbench.strict_yaml import read_mapping

VARY = "vary"
STUDY, TRIALS = "study.yaml", "trials.csv"
"""What a study keeps of itself, by which its folder is known, and the table of its trials, once it is done."""
STEPPED = "front"
"""What a study zips the levers of its front by."""
ZIP = "front of "
"""What a sweep zips them by, followed by the folder."""
PARTS = ("machine", "policy", "options")
"""The keys of a sweep below which a study tunes."""


class KeptFront(NamedTuple):
    """The front of a study as its folder keeps it."""

    name: str
    """The folder as the sweep says it."""
    engine: str
    tuned: dict[str, list[Any]]
    """By path, such as `policy.placement`, the value of each point."""
    fixed: dict[str, Any]
    """What the study did not tune: by path, or by key where it is no mapping."""

    def choice(self, path: str, where: str) -> dict[str, Any]:
        """Return the choices at a path of the sweep.

        Raises
        ------
        InputError
            The study did not tune what stands there.
        """
        if path not in self.tuned:
            tuned = ", ".join(self.tuned)
            raise InputError(at(where, f"{path}.vary.front: the study {self.name} tuned {tuned}; write it there."))
        return {"vary": self.tuned[path], "zip": f"{ZIP}{self.name}"}


def read_front(name: str, folder: Path, where: str) -> KeptFront:
    """Read the front that the results folder of a study keeps.

    Parameters
    ----------
    name : str
        The folder, as a sweep says it.
    folder : Path
        What it is relative to; else to the current folder.
    where : str
        What refusals begin with.

    Raises
    ------
    InputError
        It is no such folder, or the study has no front.
    """
    place = next((one for one in (folder / name, Path(name)) if one.is_dir()), None)
    if place is None:
        raise InputError(at(where, f"there is no folder {name}; tune first: workbench tune STUDY --out {name}"))
    if not (place / STUDY).is_file():
        raise InputError(at(where, f"{name} is no results folder of a tuning study: it has no {STUDY}."))
    if not (place / SWEEP).is_file():
        done = (place / TRIALS).is_file()
        cure = (
            f"every trial failed or breaks a constraint ({place / TRIALS} says why)" if done else "tune it to its end"
        )
        raise InputError(at(where, f"the study {name} has no front: {cure}."))
    return _kept(name, read_mapping(place / SWEEP), where)


def _kept(name: str, sweep: Mapping[str, Any], where: str) -> KeptFront:
    entries = dict(_entries(sweep))
    tuned = {path: value[VARY] for path, value in entries.items() if _is_stepped(value)}
    fixed = {path: value for path, value in entries.items() if path not in tuned}
    whole = {key: sweep[key] for key in PARTS if isinstance(sweep.get(key), str)}
    if not tuned or len({len(values) for values in tuned.values()}) != 1:
        raise InputError(at(where, f"{name}: its {SWEEP} is not the front of a study; tune it again."))
    return KeptFront(name, str(sweep.get("engine")), tuned, {**whole, **fixed})


def _is_stepped(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("zip") == STEPPED and isinstance(value.get(VARY), list)


def _entries(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in PARTS:
        if isinstance(config.get(key), Mapping):
            yield from ((f"{key}.{name}", value) for name, value in config[key].items())
