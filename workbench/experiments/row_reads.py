"""What each row of a user's code read, and the invocation that made it, as a results folder keeps them.

None of this enters an id. Files below the folder of the sweep are named from the results folder, so that both can be
moved together.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from workbench.digests import canonical, digest
from workbench.identity.reads import Reads


class RowReads(NamedTuple):
    """What one or more rows of an invocation read, with whole paths."""

    invocation: str
    reads: Reads

    def text(self, results: Path | None, base: Path | None) -> str:
        """Return it as one text; parameters as of `named_from`.

        >>> read = RowReads("a1", Reads({"/study/aim.csv": "8c"}))
        >>> read.text(Path("/study/out"), Path("/study"))
        '{"files":{"../aim.csv":"8c"},"invocation":"a1"}'
        """
        return canonical({**json.loads(named_from(self.reads, results, base).text()), "invocation": self.invocation})

    @staticmethod
    def read(text: str, results: Path | None) -> RowReads:
        """Return the content of a text of a results folder.

        >>> RowReads.read('{"files":{"../aim.csv":"8c"},"invocation":"a1"}', Path("/moved/out")).reads.files
        {'/moved/aim.csv': '8c'}
        """
        facts = json.loads(text)
        invocation = facts.pop("invocation")
        return RowReads(invocation, placed(Reads.read(canonical(facts)), results))


def named_from(reads: Reads, results: Path | None, base: Path | None) -> Reads:
    """Return reads with the names that files have in a results folder.

    Parameters
    ----------
    results : Path, optional
        The results folder, from which files are named.
    base : Path, optional
        The folder of the sweep: of files elsewhere the whole path is kept.
    """
    folder = digest_of_folder(reads.folder, results) if os.path.isabs(reads.folder) else reads.folder
    if results is None or base is None:
        return reads._replace(folder=folder)
    above = os.path.abspath(base)
    files = {
        os.path.relpath(place, results) if Path(place).is_relative_to(above) else place: state
        for place, state in reads.files.items()
    }
    return reads._replace(files=files, folder=folder)


def digest_of_folder(folder: str, results: Path | None) -> str:
    """Return the kept form of the working folder: a digest of how it lies to the results folder, nothing else."""
    return digest(folder if results is None else os.path.relpath(folder, results))


def digest_of_place(results: Path | None) -> str:
    """Return the kept form of the place of a results folder: a digest."""
    return "" if results is None else digest(os.path.abspath(results))


def placed(reads: Reads, results: Path | None) -> Reads:
    """Return reads of a results folder with whole paths."""
    home = os.path.abspath(results or "")
    files = {os.path.normpath(os.path.join(home, name)): state for name, state in reads.files.items()}
    return reads._replace(files=files)


def moved_reads(text: str, old: Path, new: Path) -> str:
    """Return the reads of rows of a results folder, as another folder on the same machine keeps them.

    >>> moved_reads('{"files":{"../aim.csv":"8c"},"invocation":"a1"}', Path("/study/shards/1"), Path("/study/out"))
    '{"files":{"../shards/aim.csv":"8c"},"invocation":"a1"}'
    """
    return canonical(_moved(json.loads(text), old, new))


def moved_verdict(text: str, old: Path, new: Path) -> str:
    """Return a verdict on rows of a results folder, as another folder on the same machine keeps it.

    >>> old, new = Path("/study/shards/1"), Path("/study/out")
    >>> text = canonical({"place": digest_of_place(old), "reads": '{"files":{"../aim.csv":"8c"}}'})
    >>> facts = json.loads(moved_verdict(text, old, new))
    >>> facts["place"] == digest_of_place(new), facts["reads"]
    (True, '{"files":{"../shards/aim.csv":"8c"}}')
    """
    facts = json.loads(text)
    place = digest_of_place(new) if facts.get("place") == digest_of_place(old) else facts.get("place", "")
    return canonical({**facts, "place": place, "reads": canonical(_moved(json.loads(facts["reads"]), old, new))})


def _moved(facts: dict[str, Any], old: Path, new: Path) -> dict[str, Any]:
    """Return reads whose files are named from the new folder; a working folder stays known if it is the one of now."""
    known = dict(facts)
    if "files" in facts:
        known["files"] = {
            name if os.path.isabs(name) else os.path.relpath(os.path.normpath(os.path.join(old, name)), new): state
            for name, state in facts["files"].items()
        }
    if facts.get("folder") == digest_of_folder(os.getcwd(), old):
        known["folder"] = digest_of_folder(os.getcwd(), new)
    return known
