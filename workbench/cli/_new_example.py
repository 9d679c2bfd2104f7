"""`workbench new sweep`, `new study` and `new notebook`: files that come with the package, copied to be changed."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from workbench.cli._new_files import add_new_arguments, say_new, write_new
from workbench.cli.commands import DONE
from workbench.errors import unknown_name

_READ = re.compile(r"\.\./((?:sweeps|data)/[\w/.-]*\w)")
"""A file that a lesson reads, by its path from the folder of the lessons."""


def shipped(path: str) -> Path:
    """Return a file of `sweeps/`, `notebooks/` or `data/`: of the package, or of the checkout that it lies in."""
    packaged = Path(__file__).parents[1] / "examples"
    return (packaged if packaged.is_dir() else Path(__file__).parents[2]) / path


class Kind(NamedTuple):
    """One kind of file that is copied for an engine."""

    word: str
    sources: Mapping[str, str]
    """The file of each engine."""
    default: str
    """What its copy is called."""
    command: str
    """What uses the copy."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        default = self.default.format("ENGINE")
        parser.add_argument("engine", metavar="ENGINE", help=f"one of {', '.join(self.sources)}")
        parser.add_argument("name", metavar="NAME", nargs="?", help=f"what the copy is called (default: {default})")
        add_new_arguments(parser, "where to write it")

    def run(self, args: argparse.Namespace) -> int:
        path, *others = self.write(args.engine, args.name, Path(args.into))
        read = [f"wrote what it reads: {', '.join(map(str, others))}"] if others else []
        use = f"use it:  {self.command} {shlex.quote(str(path))}"
        say_new([path, *others], [f"wrote {path}", *read, use], args.json)
        return DONE

    def write(self, engine: str, name: str | None, folder: Path) -> list[Path]:
        """Write the copy and the files that it reads; return those that are new, the copy first.

        A file that a notebook reads is left as it is if it lies there already with the same content.

        Raises
        ------
        InputError
            No file of this kind is shipped for the engine, another file is in the way, or the folder cannot be written.
        """
        if engine not in self.sources:
            raise unknown_name("", f"engine with a {self.word} to copy", engine, self.sources)
        default = Path(self.default.format(engine))
        text = shipped(self.sources[engine]).read_text(encoding="utf-8")
        copy = folder / (default if name is None else name.removesuffix(default.suffix) + default.suffix)
        contents = {copy: _READ.sub(r"\1", text).encode()}
        for read in dict.fromkeys(_READ.findall(text)):
            path, content = folder / read, shipped(read).read_bytes()
            if not (path.is_file() and path.read_bytes() == content):
                contents[path] = content
        write_new(contents)
        return list(contents)


SWEEPS = Kind(
    "sweep",
    {
        "dispatch": "sweeps/dispatch/head_of_line.yaml",
        "malloc": "sweeps/malloc/thread_count.yaml",
        "node": "sweeps/node/where_time_goes.yaml",
        "pool": "sweeps/pool/full_card.yaml",
        "shared_memory": "sweeps/placement/drain.yaml",
        "translation": "sweeps/translation/sharing.yaml",
    },
    "{}.yaml",
    "workbench run",
)
STUDIES = Kind(
    "study",
    {
        "dispatch": "sweeps/tune/dispatch.yaml",
        "malloc": "sweeps/tune/malloc.yaml",
        "node": "sweeps/tune/node.yaml",
        "pool": "sweeps/tune/pool.yaml",
        "shared_memory": "sweeps/tune/placement.yaml",
        "translation": "sweeps/tune/translation.yaml",
    },
    "{}_study.yaml",
    "workbench tune",
)
NOTEBOOKS = Kind(
    "notebook",
    {
        "dispatch": "notebooks/02_dispatch.ipynb",
        "malloc": "notebooks/04_malloc.ipynb",
        "node": "notebooks/07_whole_node.ipynb",
        "pool": "notebooks/05_pool.ipynb",
        "shared_memory": "notebooks/01_placement.ipynb",
        "torch_allocator": "notebooks/06_your_snapshot.ipynb",
        "translation": "notebooks/03_translation.ipynb",
    },
    "{}.ipynb",
    "workbench notebook",
)

SWEEP = SWEEPS.add_arguments, SWEEPS.run
STUDY = STUDIES.add_arguments, STUDIES.run
NOTEBOOK = NOTEBOOKS.add_arguments, NOTEBOOKS.run
