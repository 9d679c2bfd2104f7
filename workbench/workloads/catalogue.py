"""The public traces by name: where a file of one lies on this machine, and how it is fetched.

`data/catalogue.yaml` is the single list; an installed package carries it next to this module. A file is looked for in
the folders that `WORKBENCH_TRACES` names (several as `PATH` does, one after the other), then in the user's cache, and
is used only if it is the file that is listed.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

from workbench.errors import InputError, WorkbenchError, missing_extra, nearest_file, nearest_name, unknown_name
from workbench.files import cache_home, digest_of_file
from workbench.strict_yaml import read_mapping

FOLDER_VARIABLE = "WORKBENCH_TRACES"
_RAW = "https://raw.githubusercontent.com"


class Entry(NamedTuple):
    """One public trace, as the catalogue lists it."""

    name: str
    file: str
    """Its path below the folder of traces."""
    format: str
    holds: str
    repository: str
    path: str
    commit: str
    licence: str
    bytes: int
    sha256: str
    change: str
    """none (the repository's bytes), gzip (its contents, compressed since), or cut (edited; cannot be fetched)."""
    upstream_sha256: str = ""
    """Of the repository's file where `change` is gzip."""
    changed: str = ""
    """What was edited where `change` is cut."""

    @property
    def url(self) -> str:
        """Return the path of the repository's file."""
        return f"{_RAW}/{self.repository}/{self.commit}/{self.path}"

    @property
    def fetched(self) -> tuple[str, str]:
        """Return the path below the cache, and the digest, of the file as the repository has it."""
        if self.change == "gzip":
            return self.file.removesuffix(".gz"), self.upstream_sha256
        return self.file, self.sha256


@cache
def catalogue() -> dict[str, Entry]:
    """Return every public trace by name.

    >>> entry = catalogue()["rocprofv3_mi355x_part1"]
    >>> entry.format, entry.change, entry.licence
    ('rocprofv3_json', 'cut', 'MIT')
    """
    return {name: Entry(name, **fields) for name, fields in read_mapping(_file())["files"].items()}


def locate(name: str) -> Path:
    """Return the path of the file of a public trace on this machine.

    Raises
    ------
    InputError
        No trace has this name; or it is not on this machine, or what lies there is another file: the sentence says
        how to get it.
    """
    entry = _entry(name)
    for path, sha256 in _places(entry):
        if path.is_file():
            if digest_of_file(path) != sha256:
                raise InputError(
                    f"{path}: is not the file that the catalogue lists as {name} (another sha256); {_cure(entry)}."
                )
            return path
    raise InputError(f"the trace {name} is not on this machine; {_short_cure(entry)}.")


def available(name: str) -> bool:
    """Return whether the file of a public trace is on this machine, unharmed."""
    try:
        locate(name)
    except InputError:
        return False
    return True


def fetch(name: str) -> Path:
    """Fetch the file of a public trace from its repository first if it is not on this machine; return where it lies.

    Raises
    ------
    WorkbenchError
        The trace cannot be fetched as it is, there is no network, the repository gives another file, or the optional
        part `traces` is not installed.
    """
    entry = _entry(name)
    if available(name):
        return locate(name)
    if entry.change == "cut":
        raise InputError(f"the trace {name} cannot be fetched; {_cure(entry)}.")
    return _download(entry)


def trace_file(named: str) -> Path:
    """Return the file of a trace that a user names: a public trace's name, or a path.

    Raises
    ------
    InputError
        It is neither, or it is a folder or a device.
    """
    if os.sep not in named and named in catalogue():
        return locate(named)
    if os.path.isfile(named):
        return Path(named)
    if os.path.isdir(named):
        raise InputError(f"{named}: is a folder; name one file in it.")
    if os.path.exists(named):
        raise InputError(f"{named}: is a pipe or a device, and files are read twice; copy what it gives into a file.")
    near = nearest_file(named) or nearest_name(named, catalogue())
    cure = f" Did you mean {near}?" if near else ""
    raise InputError(f"{named}: there is no such file, and no public trace of this name.{cure}")


def _entry(name: str) -> Entry:
    if name not in catalogue():
        raise unknown_name("", "public trace", name, catalogue())
    return catalogue()[name]


def _places(entry: Entry) -> list[tuple[Path, str]]:
    """Return the possible places of the file and the digest that it must have at each, the first choice first."""
    folders = filter(None, os.environ.get(FOLDER_VARIABLE, "").split(os.pathsep))
    own = [(Path(folder) / entry.file, entry.sha256) for folder in folders]
    file, sha256 = entry.fetched
    return [*own, (_cache() / file, sha256)]


def _cache() -> Path:
    return cache_home() / "traces"


def _short_cure(entry: Entry) -> str:
    """Return the way to get a trace; of an edited one, `--fetch` names its origin."""
    if entry.change == "cut":
        return f"let {FOLDER_VARIABLE} name a folder that holds {entry.file}"
    return f"get it with: workbench trace import --fetch {entry.name}"


def _cure(entry: Entry) -> str:
    folder = f"let {FOLDER_VARIABLE} name a folder that holds {entry.file}"
    if entry.change == "cut":
        source = f"{entry.path} of {entry.repository}"
        return f"{folder} (it was made from {source}: {entry.changed})"
    return f"fetch it with `workbench trace import --fetch {entry.name}`, or {folder}"


def _download(entry: Entry) -> Path:
    try:
        import pooch
        import requests
    except ImportError:
        raise missing_extra(f"Fetching the trace {entry.name}", "traces") from None
    pooch.get_logger().setLevel("WARNING")
    file, sha256 = entry.fetched
    place = _cache() / file
    otherwise = f"without it, let {FOLDER_VARIABLE} name a folder that holds {entry.file}"
    try:
        pooch.retrieve(entry.url, known_hash=f"sha256:{sha256}", fname=place.name, path=place.parent)
    except requests.ConnectionError:
        raise WorkbenchError(f"{entry.url} cannot be fetched: there is no connection; {otherwise}.") from None
    except requests.RequestException as problem:
        raise WorkbenchError(f"{entry.url} cannot be fetched ({problem}); {otherwise}.") from None
    except ValueError:
        raise WorkbenchError(f"{entry.url} gave another file than the catalogue lists; {otherwise}.") from None
    except OSError as problem:
        raise WorkbenchError(f"{place}: cannot be written ({problem.strerror or problem}).") from None
    return place


def _file() -> Path:
    """Return the catalogue: in a source checkout below `data/`, in an installed package next to this module."""
    packaged = Path(__file__).with_name("catalogue.yaml")
    return packaged if packaged.exists() else Path(__file__).parents[2] / "data" / "catalogue.yaml"
