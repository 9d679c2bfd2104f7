"""The manifest of a bundle: what it holds and of what, with the digests of its files.

What it needs, and with which versions it was drawn, stands there too.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import math
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import msgspec

from workbench.errors import InputError, file_guess
from workbench.export._whole_folder import OWNED
from workbench.trust import SIGNATURE

MANIFEST = "manifest.json"
FORMAT = 3
"""3: captions, methods and references as well as what `verify` computed of 2, which is still read."""


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file in a folder, by its path in it."""
    files = sorted(
        path for path in folder.rglob("*") if path.is_file() and path.name not in (MANIFEST, OWNED, SIGNATURE)
    )
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
        The folder is no bundle, or was written by version 0.4 or a newer version.
    """
    if not is_bundle(folder):
        lack = f"it has no {MANIFEST} of one.{file_guess(folder)}"
        raise InputError(f"{folder} is no bundle that `workbench export` wrote: {lack}")
    content: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if content["format"] not in (2, FORMAT):
        raise InputError(f"{folder} is a bundle of format {content['format']}; this version reads 2 to {FORMAT}.")
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
    """Rows of code of the user's: their number, how many are checked, by how many runs, and why not all."""

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
    """Return the versions with which pictures are drawn here: the same figure has other bytes with other versions."""
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
