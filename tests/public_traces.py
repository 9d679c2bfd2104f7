"""Where the public traces lie for the tests: the folders of WORKBENCH_TRACES, or those in shared/ beside the checkout.

`FACTS` knows the files that the catalogue lists; what else lies in the folders is nobody's business yet.
"""

import json
import os
from pathlib import Path

import pytest

from workbench.workloads.catalogue import FOLDER_VARIABLE, catalogue

CHECKOUT = Path(__file__).parents[1]
BESIDE = ("traces", "inputs-2")
"""The folders below ../shared that are read where the variable names none."""


def _folders() -> list[Path]:
    named = os.environ.get(FOLDER_VARIABLE)
    if not named:
        beside = [CHECKOUT.parent / "shared" / name for name in BESIDE]
        return [folder for folder in beside if (folder / "facts.json").is_file()]
    folders = [Path(name).resolve() for name in named.split(os.pathsep) if name]
    for folder in folders:
        assert (folder / "facts.json").is_file(), f"{FOLDER_VARIABLE}={named}: {folder} holds no facts.json"
    return folders


def _facts() -> dict:
    known = {entry.file for entry in catalogue().values()}
    every = {}
    for folder in reversed(FOLDERS):
        every |= json.loads((folder / "facts.json").read_text())
    return {file: facts for file, facts in every.items() if file in known}


FOLDERS = _folders()
FACTS = _facts()
NAMED = os.pathsep.join(map(str, FOLDERS))
"""The folders as the variable names them."""
if NAMED:
    os.environ[FOLDER_VARIABLE] = NAMED  # the package itself reads them there, also those beside the checkout
needs_public_traces = pytest.mark.needs("public traces")


def files(format_name: str) -> list[str]:
    """The files of a format, as facts.json names them."""
    return sorted(file for file, facts in FACTS.items() if facts["format"] == format_name)


def path(file: str) -> Path:
    """A file of the folders."""
    return next(folder / file for folder in FOLDERS if (folder / file).exists())


def recordings() -> list[Path]:
    """The memory snapshots of PyTorch in the folders, whether the catalogue and facts.json list them or not: a
    small one first and one last, which `thinned` keeps."""
    places = [place for folder in FOLDERS for place in folder.glob("alloc/snapshot_*.pickle.gz")]
    places.sort(key=lambda place: (place.stat().st_size, place.name))
    return [*places[:1], *places[2:], *places[1:2]]
