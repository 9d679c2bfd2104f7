"""A bundle for a paper, written from runs: tables, figures and numbers, each traceable to its runs.

It is written whole or not at all, in the place of an earlier one only: the folder grows under another name, beside a
locked file that says whether its writer still lives, and is renamed. Its manifest says what it holds and of what: files
with their digests, what it needs, with which versions it was drawn.
"""

from __future__ import annotations

import fcntl
import glob
import hashlib
import importlib.metadata
import json
import math
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import msgspec

from workbench.errors import InputError, StoreError
from workbench.experiments.provenance import provenance
from workbench.experiments.results_folder import PROVENANCE, write_json
from workbench.experiments.run_set import RunSet
from workbench.export.content import MAIN, Content, Selection, check_unedited, content, in_order, selected, selection
from workbench.export.drawings import drawings, write_figures
from workbench.export.inputs import write_sweep
from workbench.export.tex import Columns, style
from workbench.runs.origin import environment


def export(
    runs: RunSet,
    to: str | Path,
    style_name: str = "ieee",
    columns: Columns = 1,
    measures: Sequence[str] | None = None,
    figures: Sequence[str] | None = None,
) -> Path:
    """Write a bundle; it appears whole or not at all.

    `tables/MEASURE.tex` (booktabs), `figures/NAME.pdf` with `.csv`, `.txt` (what it shows, for who does not see it),
    `.tex` (picture, caption and label) and `.pgf` where there is a TeX, `numbers.tex` (a macro a number), `methods.tex`
    (how it was done, in sentences), `references.bib` (what it rests on), `runs.csv` (every run, to the bit),
    `sweep.yaml` with `inputs/` (a policy's file with the modules that it imports from beside it), `provenance.json`,
    `manifest.json`, and `main.tex`, an example that shows all of it. What a bundle cannot bring along, such as a policy
    of a notebook, stands under `needs` in the manifest. The same runs give the same bytes.

    An earlier bundle is replaced; what a researcher put into its folder, and an edited `main.tex`, stay.

    Parameters
    ----------
    runs : RunSet
        What `workbench.run` returns, or the hold-out runs of a study.
    style_name : {"ieee", "acm", "usenix"}
        The width of a column, the letters of the figures, and the class of the example.
    columns : {1, 2}
        How many columns of the paper a figure is wide.
    measures, figures : sequences of names, optional
        Which tables and macros, which figures: any of the engine's; those of the sweep if None.

    Raises
    ------
    InputError
        A style, measure or figure is unknown, no run is finished, or a file that the sweep names was edited since it
        was run.
    StoreError
        The folder holds something else, or cannot be written.
    """
    style(style_name, columns)
    to = Path(to)
    chosen = selection(measures, figures)
    if not any(row.status == "done" for row in runs.rows.values()):
        raise InputError(f"nothing to export: none of the {len(runs.plan)} runs of {runs.plan.sweep.name} is finished.")
    check_unedited(runs)
    with appearing(to, is_bundle, _carry) as folder:
        _write(selected(runs, chosen), folder, style_name, columns, chosen)
    return to


def _write(runs: RunSet, folder: Path, style_name: str, columns: Columns, chosen: Selection) -> None:
    drawn, refused = drawings(in_order(runs), style(style_name).figures(columns))
    computed = content(in_order(runs), style_name, drawn, refused, columns=columns)
    write_texts(computed, folder)
    needs = [*write_figures(drawn, folder), *write_sweep(runs, folder)]
    made = {**environment(), "needs": needs, "drawn_with": drawn_with()}
    write_json(folder / PROVENANCE, {"runs": provenance(runs), "export": made})
    more = {**({"selected": chosen} if chosen else {}), **runs.checked.plain()}
    write_manifest(folder, {**computed.manifest, **more, "needs": needs})


def write_texts(computed: Content, folder: Path) -> None:
    """Write every computed file into a folder."""
    for name, text in computed.texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="")


OWNED = ".workbench-export"
"""The file; its lock goes with the process that holds it, however that ends."""


def _carry(old: Path, new: Path) -> None:
    """Bring over what a researcher wrote: files that the old bundle did not have, and an edited example."""
    if not is_bundle(old):
        return
    manifest = read_manifest(old)
    own = {path.relative_to(old).as_posix() for path in old.rglob("*") if path.is_file()} - {
        *manifest["files"],
        MANIFEST,
        OWNED,
    }
    for name in sorted(own | ({MAIN} & {*changed(old, manifest)})):
        if (old / name).is_file():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(old / name, new / name)


MANIFEST = "manifest.json"
FORMAT = 3
"""3: captions, methods and references beside what `verify` computed of 2; 1 (until 0.4) and 2 are still read."""


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file in a folder, by its path in it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in (MANIFEST, OWNED))
    return {path.relative_to(folder).as_posix(): digest_of(path) for path in files}


def changed(folder: Path, manifest: dict[str, Any]) -> list[str]:
    """Return the files of a bundle that are not as they were exported, or not there."""
    now = digests(folder)
    return [name for name, digest in manifest["files"].items() if now.get(name) != digest]


def write_manifest(folder: Path, content: dict[str, Any]) -> None:
    """Write the manifest, last of all files; a number that JSON does not know is null."""
    whole = {"format": FORMAT, **content, "drawn_with": drawn_with(), "files": digests(folder)}
    text = json.dumps(plain(whole), indent=1, sort_keys=False, allow_nan=False, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def is_bundle(folder: Path) -> bool:
    """Return whether a folder is a bundle, of whatever format."""
    try:
        return "format" in json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return False


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a bundle.

    Raises
    ------
    InputError
        The folder is no bundle, or was written by a newer version.
    """
    if not is_bundle(folder):
        raise InputError(f"{folder} is no bundle that `workbench export` wrote: it has no {MANIFEST} of one.")
    content: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if content["format"] not in (1, 2, FORMAT):
        raise InputError(f"{folder} is a bundle of format {content['format']}; this version reads 1 to {FORMAT}.")
    _refuse_mangled(folder / MANIFEST, content)
    return content


def _refuse_mangled(path: Path, content: dict[str, Any]) -> None:
    """Refuse a manifest that says something in another form than an export writes it."""
    needed = _Manifest.__annotations__.keys() - {"checked"} if content["format"] == FORMAT else {"files"}
    for key in sorted(needed):
        if key not in content:
            raise InputError(f"{path}: has no {key!r}, which every export writes; export the bundle again.")
    try:
        msgspec.convert(content, _Manifest)
    except msgspec.ValidationError as problem:
        raise InputError(f"{path}: is not as an export writes it ({problem}); export the bundle again.") from None


class _Point(TypedDict):
    setting: str
    policy: str
    coordinates: dict[str, Any]
    baseline: str | None


class _Checked(msgspec.Struct, forbid_unknown_fields=True):
    """How many rows of code of one's own there are, how many are checked, by how many runs, why not all."""

    rows: int
    checked: int
    reasons: list[str]
    repeated: int

    def __post_init__(self) -> None:
        if not 0 <= self.checked <= self.rows:
            raise ValueError("checked must be at most rows")


class _Manifest(TypedDict, total=False):
    """What an export writes under each key, as far as `verify` builds on it; `checked` only where it has something."""

    sweep: str
    question: str
    style: str
    columns: Literal[1, 2]
    engine: str
    engine_revision: int | list[Any]
    measures: list[str]
    notes: list[str]
    origins: dict[str, dict[str, Any]]
    macros: dict[str, dict[str, Any]]
    tables: dict[str, list[Any]]
    figures: dict[str, dict[str, Any]]
    figures_left_out: dict[str, str]
    run_sets: dict[str, Any]
    points: Annotated[dict[str, _Point], msgspec.Meta(min_length=1)]
    needs: list[str]
    drawn_with: dict[str, str]
    files: dict[str, str]
    checked: _Checked


def drawn_with() -> dict[str, str]:
    """Return what pictures are drawn with here: the same figure has other bytes with other versions."""
    return {"matplotlib": importlib.metadata.version("matplotlib")}


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def plain(value: Any) -> Any:
    """Return a value as JSON reads it back: a number that JSON does not know is None."""
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def appearing(to: Path, replaceable: Callable[[Path], bool], carry: Callable[[Path, Path], None]) -> Iterator[Path]:
    """Return a temporary folder beside the target that takes its name when everything inside went well.

    What an export that was killed left beside the target is taken away first; one that still runs is left alone.

    Parameters
    ----------
    replaceable : callable
        Whether what is there already may be replaced; an empty folder may be.
    carry : callable
        Takes the old folder and the new one, and brings over what must not be lost.

    Raises
    ------
    StoreError
        What is there may not be replaced, or nothing can be written there.
    """
    _tidy(to, replaceable)
    if to.exists() and not (to.is_dir() and (not any(to.iterdir()) or replaceable(to))):
        raise StoreError(f"{to} holds something that is no bundle; choose another folder.")
    beside = to.with_name(f".{to.name}.{os.getpid()}")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        with owned(beside) as mark:
            yield beside
            if to.exists():
                carry(to, beside)
            _exchange(beside, to)
            (to / mark.name).unlink()
    except OSError as problem:
        raise StoreError(f"{to} cannot be written: {problem.strerror or problem}.") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _exchange(new: Path, to: Path) -> None:
    """Put the new folder in place of the old one, which comes back if that fails."""
    old = to.with_name(f".{to.name}.{os.getpid()}.old")
    if to.exists():
        os.rename(to, old)
    try:
        os.rename(new, to)
    except OSError:
        if old.exists():
            os.rename(old, to)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _tidy(to: Path, replaceable: Callable[[Path], bool]) -> None:
    """Take away what killed exports to a folder left; the old folder comes back where it was only set aside."""
    ours = re.compile(rf"\.{re.escape(to.name)}\.(\d+)(\.old)?")
    for path in sorted(to.parent.glob(f".{glob.escape(to.name)}.*")):
        match = ours.fullmatch(path.name)
        if match is None or not path.is_dir() or not is_orphan(path, int(match[1])):
            continue
        if match[2] and replaceable(path) and not to.exists():
            os.rename(path, to)
        elif (path / OWNED).exists() or (match[2] and replaceable(path)):
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def owned(folder: Path) -> Iterator[Path]:
    """Mark a folder as written by this process, for as long as the block takes; the path of the mark is yielded."""
    mark = folder / OWNED
    with open(mark, "w", encoding="utf-8") as file:
        with suppress(OSError):  # a file system without locks: the number of the process must do
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.write(f"{os.getpid()} {socket.gethostname()}\n")
        file.flush()
        yield mark


def is_orphan(folder: Path, process: int) -> bool:
    """Return whether a process left a folder behind: it is gone, and it was one of this machine.

    A marked folder is asked for its lock, as another process may have the number by now.
    """
    if process == os.getpid():
        return False
    mark = folder / OWNED
    if not mark.exists():
        return not _lives(process)
    try:
        with open(mark, encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            host = file.read().partition(" ")[2].strip()
    except OSError:
        return False
    return host in ("", socket.gethostname())


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
