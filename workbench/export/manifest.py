"""`manifest.json`: for every number, table and figure of a bundle the runs behind it, and a digest of every file."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import math
from pathlib import Path
from typing import Any

from workbench.errors import InputError
from workbench.export.owner import OWNED

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
    return content


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
