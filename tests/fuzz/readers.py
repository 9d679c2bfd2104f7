"""The readers of files, each as a function of a path, and the files that each begins from."""

from __future__ import annotations

import atexit
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tests.public_traces import FACTS
from tests.public_traces import path as public_path
from tests.workloads.importers.profiles import samples
from workbench.errors import InputError
from workbench.machine import Board
from workbench.machine.topologies import read_topology
from workbench.strict_yaml import read_mapping
from workbench.workloads.access_file import AccessFile
from workbench.workloads.group_file import GroupFile
from workbench.workloads.importers import read_trace
from workbench.workloads.malloc_calls import MallocFile
from workbench.workloads.pool_file import PoolFile
from workbench.workloads.workgroup_file import WorkgroupFile

DATA = Path(__file__).parents[1] / "data"
CRASHES = DATA / "crashes"
NOT_READ = ("stats.csv",)
"""Public files of a format without an importer."""
MOST_PUBLIC_BYTES = 30_000
"""Of a public file that is mutated: larger ones are read slowly, and hold no other shapes."""


def _trace(path: Path) -> None:
    json.dumps(read_trace(path).facts(), ensure_ascii=False).encode()


def _topology(path: Path) -> None:
    json.dumps(read_topology(path).facts(), ensure_ascii=False).encode()
    Board.read({"topology": str(path)}, "machine").paths()


def _of_file(kind: Any) -> Callable[[Path], None]:
    return lambda path: kind.read({"file": str(path)}, "workload").content()


READERS: dict[str, Callable[[Path], None]] = {
    "traces": _trace,
    "profiles": _trace,
    "topologies": _topology,
    "workgroups": _of_file(WorkgroupFile),
    "groups": _of_file(GroupFile),
    "accesses": _of_file(AccessFile),
    "mallocs": _of_file(MallocFile),
    "pool": _of_file(PoolFile),
    "yaml": read_mapping,
}
FOLDERS = {"traces": ("traces",), "topologies": ("topologies",), "yaml": ("yaml",)}


def corpus(reader: str) -> list[Path]:
    """The files that a reader's mutations begin from: small ones written by hand or by code, and small public ones."""
    if reader == "profiles":
        return _samples()
    if reader in FOLDERS:
        own = sorted(file for file in (DATA / reader).iterdir() if file.suffix != ".md")
    else:
        own = [DATA / "workloads" / f"{reader}.csv"]
    return own + _public(reader)


@cache
def _samples() -> list[Path]:
    """A file of every profiler's format, databases among them, written once a process."""
    folder = tempfile.TemporaryDirectory(prefix="profiles")
    atexit.register(folder.cleanup)
    return [write(Path(folder.name, str(number))) for number, (_, write) in enumerate(samples().values())]


def _public(reader: str) -> list[Path]:
    starts = {"topologies": ("topology/",), "traces": ("kineto/", "rocm/", "warp_traces/", "alloc/")}.get(reader)
    if starts is None:
        return []
    results = [public_path(file) for file in sorted(FACTS) if file.startswith(starts)]
    return [file for file in results if file.stat().st_size <= MOST_PUBLIC_BYTES and file.name not in NOT_READ]


def fault(reader: str, path: Path) -> str:
    """What is wrong with how a reader took a file; empty where it read it or refused it in one whole sentence."""
    try:
        READERS[reader](path)
    except InputError as refused:
        return _fault_of_sentence(str(refused))
    except Exception as problem:  # whatever a reader lets through is what is looked for
        return f"{type(problem).__name__}: {problem}"
    return ""


def _fault_of_sentence(message: str) -> str:
    if len(message.splitlines()) != 1 or not message.isprintable():
        return f"no one printable line: {message!r}"
    return message if " raised " in message and "see what stands there" in message else ""
