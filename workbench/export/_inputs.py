"""What another machine needs to run the sweep of a bundle again: its files, and what only a notebook defines.

Modules of its folder that a policy's file imports go with it; policies, laws, engines, measures and figures that no
file defines are written as files. A file that was edited since the runs is refused.
"""

from __future__ import annotations

import inspect
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from workbench.engines.kit.engine import Setup
from workbench.errors import InputError
from workbench.experiments.needed_packages import guests_of_presets, specs_in
from workbench.experiments.results import Results
from workbench.experiments.results_folder import SWEEP
from workbench.experiments.saved_results import named, shortest
from workbench.experiments.sweep import with_files
from workbench.figures.registry import FIGURES
from workbench.guests import Guest, guest_package
from workbench.identity import current
from workbench.levers import Spec, identity_of
from workbench.mechanisms.user_measure import UserMeasure
from workbench.parts.source_imports import imports_of
from workbench.parts.user_files import executed_anew, executed_files, file_of

INPUTS = "inputs"
MOST_BYTES = 50_000_000
"""A larger file is not copied; the bundle says where in it the file must lie."""


def write_sweep(runs: Results, folder: Path) -> list[str]:
    """Write the sweep as it was run and copy the files that it names; return what else it needs, in sentences.

    Workloads and policies lie in `inputs/`, a policy's file with every module of its folder that it imports, under the
    names that they import each other by.
    """
    copies, sweep = _Copies(folder), runs.plan.sweep
    seeds = shortest(sweep.seeds) if sweep.until is None else sweep.config["seeds"]
    config: dict[str, Any] = {**named(sweep.config), "seeds": seeds}
    text = yaml.safe_dump(with_files(config, sweep.folder, copies.name_of), sort_keys=False, allow_unicode=True)
    (folder / SWEEP).write_text(text, encoding="utf-8")
    return [*copies.needs, *write_unnamed(runs, folder, INPUTS, set(copies.files))]


class _Copies:
    """The files of a sweep as they are copied into a bundle."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files: dict[Path, str] = {}
        """The path of every file in the bundle."""
        self.needs: list[str] = []

    def name_of(self, path: Path) -> str:
        """Copy a file once and return its path in the bundle, its own name in the first folder that has none of it.

        A file that is too large to be copied has such a path too, where its reader has to put it.
        """
        path = path.resolve()
        if path in self.files:
            return self.files[path]
        beside = self._beside(path) if path.suffix == ".py" else []
        group = {one: one.relative_to(path.parent).as_posix() for one in (path, *beside)}
        home = next(home for home in self._homes() if all(self._free(one, f"{home}/{group[one]}") for one in group))
        for one, name in group.items():
            self._copy(one, f"{home}/{name}")
        return self.files[path]

    def _beside(self, path: Path) -> list[Path]:
        """Return the files in a module's folder that it imports, and note the modules that are nowhere."""
        imports = imports_of(path)
        self.needs.extend(
            f"{path.name} imports {name}, which is neither beside it nor in an installed package: it must be there."
            for name in imports.elsewhere
        )
        return sorted({*imports.beside, *executed_files(path)} - {path})

    def _homes(self) -> list[str]:
        return [INPUTS, *(f"{INPUTS}/{number}" for number in range(2, len(self.files) + 3))]

    def _free(self, path: Path, name: str) -> bool:
        """Return whether a name in the bundle can be that of a file: it is free, or the file's own."""
        return name not in self.files.values() or self.files.get(path) == name

    def _copy(self, path: Path, name: str) -> None:
        self.files[path] = name
        if path.stat().st_size > MOST_BYTES:
            self.needs.append(f"{path.name} is too large for a bundle; put it at {name} to do the runs again.")
            return
        (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, self._folder / name)


def write_unnamed(runs: Results, folder: Path, inputs: str, copied: set[Path]) -> list[str]:
    """Write the text of every class that the bundle cannot bring along, where there is one; say which runs need it.

    Parameters
    ----------
    inputs : str
        The folder of the bundle that takes the texts, for a reader: nothing runs them.
    copied : set of Path
        The files that the bundle has.
    """
    behind: dict[type, int] = {}
    for point in runs.points:
        for cls in set(_classes(point.setup, type(runs.plan.sweep.mechanism.engine))):
            if not _comes_along(cls, copied):
                behind[cls] = behind.get(cls, 0) + len(runs.seeds)
    messages = [_sentence(cls, count, len(runs.plan), _write(cls, folder, inputs)) for cls, count in behind.items()]
    messages += [_of_preset(guest) for guest in guests_of_presets(runs.plan)]
    return [*messages, *(_of_column(part, _write(part, folder, inputs)) for part in _named(runs))]


def _named(runs: Results) -> Iterator[Any]:
    """Yield the functions of the measures and figures of the user's that the sweep names without a file."""
    yield from (one.function for one in runs.plan.sweep.user_measures.values() if not one.source and not one.built_in)
    figures = runs.plan.sweep.config.get("figures") or []
    drawn = (FIGURES[name] for name in figures if name in FIGURES)
    yield from (recipe.data for recipe in drawn if not recipe.built_in)


def _classes(setup: Setup, engine: type) -> Iterator[type]:
    yield engine
    yield from map(type, specs_in([setup.machine, setup.workload, setup.options, *setup.policies.values()]))


def _comes_along(cls: type, copied: set[Path]) -> bool:
    if cls.__module__.split(".")[0] == "workbench":
        return True
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return file is not None and Path(file).resolve() in copied


def _write(cls: Any, folder: Path, inputs: str) -> str | None:
    try:
        text = inspect.getsource(cls)
    except (OSError, TypeError):
        return None
    name = f"{inputs}/{getattr(cls, 'name', cls.__name__)}.source.txt"
    (folder / inputs).mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return name


def _sentence(cls: type, count: int, of: int, text: str | None) -> str:
    if package := guest_package(cls.__module__):
        return f"{count} of {of} runs need {cls.__name__} of the package {package}: install it to do them again."
    return (
        f"{count} of {of} runs need {cls.__name__}, which {_home(cls)} defines and the bundle does not bring along"
        f"{_text_note(text)}: "
        "they cannot be done again elsewhere unless it is defined there first. A policy in a file comes along."
    )


def _of_preset(guest: Guest) -> str:
    return f"the machine preset {guest.name} is of the package {guest.package}: install it to do the runs again."


def _of_column(function: Any, text: str | None) -> str:
    if package := guest_package(function.__module__):
        return f"{function.__name__} is of the package {package}: install it to compute it again."
    return (
        f"{function.__name__} is computed by what {_home(function)} defines and the bundle does not bring along"
        f"{_text_note(text)}: it cannot be computed elsewhere unless it is defined there first. Named as FILE.py:NAME "
        "it comes along."
    )


def _home(part: Any) -> str:
    return "a notebook or a script" if part.__module__ == "__main__" else f"the module {part.__module__}"


def _text_note(text: str | None) -> str:
    return f" (its text: {text})" if text else ""


def check_unedited(runs: Results) -> None:
    """Refuse runs whose files of policies, measures or workloads are not what the runs were computed with.

    An edit of what does not execute, such as a comment, is none.

    Raises
    ------
    InputError
        A file was edited since, or it is not there any more; the sentence names it.
    """
    points = [point.setup for point in runs.points if point.setup is not None]
    own = [(one.function, current(one.function).digest) for one in runs.plan.sweep.user_measures.values()]
    for part, digest in dict.fromkeys([*(pair for setup in points for pair in setup.code), *own]):
        file = file_of(part)
        if file is not None and digest not in _digests(file):
            raise InputError(
                f"{file}: was edited since these runs were computed, and a bundle would hold it as it is now; run the "
                "sweep again, or undo the edit."
            )
    for workload in {id(setup.workload): setup.workload for setup in points}.values():
        identity_of(workload)  # which refuses a file that has changed


def _digests(file: Path) -> set[str]:
    """Return the digests of the policies, generators and measures that a file defines as it is now."""
    try:
        defined = [*vars(executed_anew(file)).values()]
    except (Exception, SystemExit) as problem:
        raise InputError(f"{file}: does not run any more: {type(problem).__name__}: {problem}") from None
    specs = (one for one in defined if isinstance(one, type) and issubclass(one, Spec) and not one.built_in)
    functions = (one.function for one in defined if isinstance(one, UserMeasure))
    return {current(one).digest for one in (*specs, *functions)}
