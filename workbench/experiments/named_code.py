"""The code that sweep files name as `FILE.py:NAME`: which files it is, whether it can be executed here, its signature.

Nothing of a results folder or a bundle is executed to find its code: names stand in the sweep, imports are found in
the text of each file.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, StoreError, at
from workbench.experiments.results_folder import SWEEP
from workbench.parts import file_and_name, is_in_file, module_in_file
from workbench.parts.source_imports import with_imported
from workbench.parts.user_files import executed_files, file_path
from workbench.strict_yaml import read_mapping
from workbench.trust import Admission, UntrustedError, digest_of, forget, home_of, name_in, sign

TEXTS = ("question",)
"""The keys of a sweep that hold words for a reader."""


def code_names(config: Any) -> list[str]:
    """Return every `FILE.py:NAME` in a sweep, in its order.

    >>> code_names({"question": "mine.py: why?", "policy": {"placement": {"vary": ["first_fit", "mine.py:Fit"]}}})
    ['mine.py:Fit']
    """
    return list(dict.fromkeys(_names(config)))


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in TEXTS:
                yield from _names(key)
                yield from _names(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _names(inner)
    elif is_in_file(value):
        yield value


def admitted_folder(path: Path, config: Mapping[str, Any]) -> Path:
    """Return the folder from which relative paths of a sweep file start: absolute in a results folder or a bundle.

    Raises
    ------
    UntrustedError
        The file lies in one and names code, and the user has not signed it.
    """
    home = home_of(path.parent)
    if home is None:
        return path.parent
    folder = Path(os.path.abspath(path.parent))
    if names := code_names(config):
        _check_signed(Admission(home), path, _path(file_and_name(names[0])[0], folder))
    return folder


def _check_signed(admission: Admission, sweep: Path, code: Path) -> None:
    """Refuse a sweep file that the user has not signed as it is; the sentence names it if the rest is signed."""
    if not admission.admits(sweep, sweep.read_bytes()):
        raise UntrustedError(admission.refusal(sweep if admission.files else code))


def _path(file: str, folder: Path) -> Path:
    """Return the path of a file of code, whether it exists or not."""
    try:
        return file_path(file, folder, "", "code")
    except InputError:
        return folder / file


def code_problem(path: Path) -> str:
    """Return the reason why the code that a sweep file names cannot be executed here; empty if it can, or if it names
    none.

    Code that the user has signed is executed.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    if b".py:" not in path.read_bytes():
        return ""
    config = read_mapping(path)
    try:
        folder = admitted_folder(path, config)
        for key, value in config.items():
            for name in code_names({key: value}):
                file, inside = file_and_name(name)
                module = module_in_file(file, folder, "", "code")
                if key != "figures" and not hasattr(module, inside):
                    raise InputError(f"{Path(file).name} has no {inside} any more.")
    except InputError as problem:
        return str(problem)
    return ""


def refuse_unsigned_front(config: Mapping[str, Any], folder: Path, where: str) -> None:
    """Refuse the front of a study whose points name code that the user has not signed.

    Raises
    ------
    UntrustedError
        The sentence says which, and what signs it.
    """
    if names := code_names(config):
        admission, place = Admission(folder), Path(os.path.abspath(folder))
        try:
            _check_signed(admission, folder / SWEEP, _path(file_and_name(names[0])[0], place))
            for file in [one for named in code_files(config, place) for one in with_imported(named)]:
                admission.check(file, file.read_bytes())
        except UntrustedError as problem:
            raise UntrustedError(at(where, str(problem))) from None


def code_files(config: Any, folder: Path) -> dict[Path, list[str]]:
    """Return the files of the code that a sweep names, each with what is named in it.

    Raises
    ------
    InputError
        There is no such file.
    """
    files: dict[Path, list[str]] = {}
    for name in code_names(config):
        file, inside = file_and_name(name)
        files.setdefault(file_path(file, folder, "", "code"), []).append(inside)
    return files


class CodeFile(NamedTuple):
    """A file that would be executed for what a folder says."""

    name: str
    """As a signature names it."""
    digest: str
    named: list[str]
    """What sweeps name in it; nothing if other files import it."""


def code_homes(folder: Path) -> list[Path]:
    """Return a folder and those inside it, as far as they are results folders or bundles; none if it is none."""
    if home_of(folder) != Path(os.path.abspath(folder)):
        return []
    inside = sorted(Path(place) for place, *_ in os.walk(os.path.abspath(folder)))
    return [folder, *(one for one in inside[1:] if home_of(one) == one)]


def code_listing(home: Path) -> tuple[dict[str, str], list[CodeFile]]:
    """Return the digests that a signature of a folder would hold, and the code among them.

    Every YAML file of the folder counts that names code, such as the points of a study's front; results folders
    inside it have signatures of their own.

    Raises
    ------
    InputError
        A file that is named is not there.
    """
    files: dict[str, str] = {}
    code: dict[str, CodeFile] = {}
    for sweep in _sweeps_in(home):
        config = read_mapping(sweep)
        listed = _listed(home, sweep.parent.absolute(), config, executed=False)
        if listed:
            files[name_in(home, sweep)] = digest_of(sweep.read_bytes())
        for one in listed:
            before = code[one.name].named if one.name in code else []
            code[one.name] = one._replace(named=list(dict.fromkeys([*before, *one.named])))
    return {**files, **{one.name: one.digest for one in code.values()}}, list(code.values())


def _sweeps_in(home: Path) -> Iterator[Path]:
    """Yield the YAML files of a folder that are mappings."""
    for place, folders, names in os.walk(home):
        folders[:] = sorted(name for name in folders if home_of(Path(place, name)) == home_of(home))
        for name in sorted(names):
            if name.endswith((".yaml", ".yml")):
                try:
                    read_mapping(Path(place, name))
                except InputError:
                    continue
                yield Path(place, name)


def _listed(home: Path, folder: Path, config: Mapping[str, Any], executed: bool) -> list[CodeFile]:
    """Return the code files of a sweep; with the digests of what this process has executed, or of what there is."""
    result: dict[str, CodeFile] = {}
    for file, names in code_files(config, folder).items():
        ran = executed_files(file) if executed else {}
        for one in dict.fromkeys([*with_imported(file), *ran]):
            name = name_in(home, one)
            digest = ran.get(one) or digest_of(one.read_bytes())
            before = result[name].named if name in result else []
            result[name] = CodeFile(name, digest, [*before, *(names if one == file else [])])
    return list(result.values())


def _inside(home: Path, source: Path) -> dict[str, dict[str, Any]]:
    """Return the content of a sweep file, by its name, if it lies in a folder."""
    name = name_in(home, source)
    with suppress(InputError):  # what Python was given as a mapping has no file
        return {} if name.startswith("..") or not source.is_file() else {name: read_mapping(source)}
    return {}


def sign_own(home: Path, sweeps: Mapping[str, Mapping[str, Any]], source: str = "", keep: bool = False) -> None:
    """Write the signature of the sweeps that a run of this user has left in a folder, and of the code that it executed.

    A run goes on without a signature if none can be written, with a warning.

    Parameters
    ----------
    sweeps : mapping
        What each file holds, by its name.
    source : str
        The file that was run: if it lies in the folder, it can be run again.
    keep : bool
        Whether what was signed before stays signed: of a study, whose files are not all written again.
    """
    files: dict[str, str] = {}
    for name, config in {**_inside(home, Path(source)), **sweeps}.items():
        if not code_names(config):
            continue
        with suppress(InputError, OSError):  # a file that was removed meanwhile
            code = _listed(home, (home / name).parent.absolute(), config, executed=True)
            files[name_in(home, home / name)] = digest_of((home / name).read_bytes())
            files.update({one.name: one.digest for one in code})
    if keep:
        files = {**Admission(home).files, **files}
    if not files:
        forget(home)
        return
    try:
        sign(home, files)
    except StoreError as problem:
        warnings.warn(f"{home} is not signed, so its code is not run when it is opened: {problem}", stacklevel=2)
