"""`workbench new project`: a folder in which a comparison, its test and its paper are one command each."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from pathlib import Path

from workbench.cli._new_files import add_new_arguments, say_new, write_new
from workbench.cli._new_policy import TEMPLATES, policy_text, test_text
from workbench.cli.commands import DONE
from workbench.errors import InputError

QUESTION, POLICY_NAME = "placement", "my_fit"
FILES = ("README.md", "Makefile", "sweep.yaml", "study.yaml", "notebook.ipynb")


def _arguments_of_new_project(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the folder's name, such as my_paper")
    add_new_arguments(parser, "where to make the folder")


def _run_new_project(args: argparse.Namespace) -> int:
    folder = Path(args.into) / args.name
    written = write_project(folder)
    lines = [
        f"wrote {folder}: {', '.join(path.name for path in written)}",
        f"try it:  cd {shlex.quote(str(folder))} && make run{_python_of_make()}",
    ]
    say_new(written, lines, args.json)
    return DONE


def write_project(folder: Path) -> list[Path]:
    """Write the files of a project into a new or empty folder, and return them.

    Raises
    ------
    InputError
        The folder holds something, or cannot be written.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder} is a folder with files in it; choose another name.")
    contents = {
        folder / name: (TEMPLATES / "project" / name)
        .read_text(encoding="utf-8")
        .replace("PROJECT", folder.resolve().name)
        for name in FILES
    }
    contents[folder / f"{POLICY_NAME}.py"] = policy_text(QUESTION, POLICY_NAME)
    contents[folder / f"test_{POLICY_NAME}.py"] = test_text(QUESTION, POLICY_NAME)
    write_new({path: text.encode() for path, text in contents.items()})
    return list(contents)


def _python_of_make() -> str:
    """Return the variable that `make` needs where the `python3` of the shell is not the one that has this package."""
    candidate = shutil.which("python3")
    same = candidate is not None and Path(candidate).absolute().parent == Path(sys.executable).absolute().parent
    return "" if same else f" PYTHON={shlex.quote(sys.executable)}"


PROJECT = _arguments_of_new_project, _run_new_project
