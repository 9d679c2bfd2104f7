"""The sweep of a bundle with the files that it names: what is needed to run it again on another machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from workbench.experiments.folder import SWEEP
from workbench.experiments.keep import named, shortest
from workbench.experiments.named_files import with_files
from workbench.experiments.run_set import RunSet
from workbench.export.imported_modules import imports_of
from workbench.export.unnamed import write_unnamed
from workbench.parts.user_files import files_of

INPUTS = "inputs"
MOST_BYTES = 50_000_000
"""A larger file is named where it lies instead of copied."""


def write_sweep(runs: RunSet, folder: Path) -> list[str]:
    """Write the sweep as it was run and copy the files that it names; return what else it needs, in sentences.

    Workloads and policies lie in `inputs/`, a policy's file with every module that it imports from beside it, under
    the names that they import each other by.
    """
    copies, sweep = _Copies(folder), runs.plan.sweep
    seeds = shortest(sweep.seeds) if sweep.until is None else sweep.said["seeds"]
    config: dict[str, Any] = {**named(sweep.said), "seeds": seeds}
    text = yaml.safe_dump(with_files(config, sweep.folder, copies.name_of), sort_keys=False, allow_unicode=True)
    (folder / SWEEP).write_text(text, encoding="utf-8")
    return [*copies.needs, *write_unnamed(runs, folder, INPUTS, set(copies.files))]


class _Copies:
    """The files of a sweep as they are copied into a bundle."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files: dict[Path, str] = {}
        """The path in the bundle of every file that was copied."""
        self.needs: list[str] = []

    def name_of(self, path: Path) -> str:
        """Copy a file once and return its path in the bundle, or where it lies if it is too large to be copied."""
        path = path.resolve()
        if path in self.files:
            return self.files[path]
        if path.stat().st_size > MOST_BYTES:
            self.needs.append(f"{path} is too large for a bundle; it must lie there where the runs are done again.")
            return str(path)
        return self._module(path) if path.suffix == ".py" else self._copy(path, f"{INPUTS}/{self._different(path)}")

    def _module(self, path: Path) -> str:
        imports = imports_of(path)
        self.needs.extend(
            f"{path.name} imports {name}, which is neither beside it nor in an installed package: it must be there."
            for name in imports.elsewhere
        )
        beside = sorted({*imports.beside, *files_of(path)} - {path})
        if not beside:
            return self._copy(path, f"{INPUTS}/{self._different(path)}")
        group = {one: one.relative_to(path.parent).as_posix() for one in (path, *beside)}
        home = next(home for home in self._homes() if all(self._free(one, f"{home}/{group[one]}") for one in group))
        for one, name in group.items():
            self._copy(one, f"{home}/{name}")
        return self.files[path]

    def _homes(self) -> list[str]:
        return [INPUTS, *(f"{INPUTS}/{number}" for number in range(2, len(self.files) + 3))]

    def _free(self, path: Path, name: str) -> bool:
        """Return whether a name in the bundle can be that of a file: nobody has it, or the file itself."""
        return name not in self.files.values() or self.files.get(path) == name

    def _copy(self, path: Path, name: str) -> str:
        (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, self._folder / name)
        self.files[path] = name
        return name

    def _different(self, path: Path) -> str:
        """Return a file's own name, or one with a number where another file of that name is there already."""
        taken = set(self.files.values())
        names = (path.name if k == 0 else f"{path.stem}_{k + 1}{path.suffix}" for k in range(len(taken) + 1))
        return next(name for name in names if f"{INPUTS}/{name}" not in taken)
