"""`workbench COMMAND`: find the command, run it, turn a user's mistake into one sentence and an exit status.

Also what `workbench` alone prints: four ways to start, a command each.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from workbench.cli._signals import stoppable
from workbench.cli.commands import GROUPS, PASSED_ON, SOME_FAILED, SPECIFICATIONS, overview, resolved
from workbench.errors import InputError, WorkbenchError, nearest_name
from workbench.process import COMPILING, ENVIRONMENT, has_fixed_hash_seed
from workbench.version import __version__

STOPPED = "stopped; finished runs of a results folder are kept."


class _Help(argparse.HelpFormatter):
    def _format_usage(self, *parts: Any) -> str:
        """Return the usage, its further lines set in little: below a name of two words some would be too wide."""
        return re.sub(r"\n {9,}", "\n        ", super()._format_usage(*parts))


class _Parser(argparse.ArgumentParser):
    """Refuse an option that is not written in full, and guess which one was meant."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False)

    def parsed(self, words: Sequence[str]) -> argparse.Namespace:
        """Return the arguments; where the parser has `PASSED_ON`, the first unknown option and all behind it go there.

        Raises
        ------
        InputError
            There is no such option, or the words are not as the parser takes them.
        """
        passes = self.get_default(PASSED_ON) is not None
        mark = re.compile(r"-" if passes else r"--[^\s=]+(=|$)")
        ends = words.index("--") if "--" in words else len(words)
        options = ((k, word.partition("=")[0]) for k, word in enumerate(words[:ends]) if mark.match(word))
        unknown = next(((k, option) for k, option in options if option not in self._option_string_actions), None)
        if not passes:
            if unknown is not None:
                raise InputError(self._unknown_option(unknown[1]))
            return self.parse_args(words)
        own = ends if unknown is None else unknown[0]
        args = self.parse_args(words[:own])
        setattr(args, PASSED_ON, [word for word in words[own:] if word != "--"])
        return args

    def _unknown_option(self, option: str) -> str:
        near = nearest_name(option, [word for word in self._option_string_actions if word.startswith("--")])
        cure = f" Did you mean {near}?" if near else ""
        return f"{self.prog}: there is no option {option}.{cure} See: {self.prog} --help"

    def error(self, message: str) -> NoReturn:
        option = re.match(r"argument (?:.*/)?(--[\w-]+): expected one argument$", message)
        if option:
            message += f" (one that begins with '-' is joined to it: {option[1]}=-1)"
        raise InputError(f"{self.prog}: {message}. See: {self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    0 done, 1 some runs failed, 2 wrong input, 130 stopped by Ctrl-C (128 and its number by another signal).
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    with stoppable() as stop:
        try:
            return _run(words)
        except WorkbenchError as problem:
            print(f"workbench: {problem}", file=sys.stderr)
            return problem.exit_status
        except KeyboardInterrupt as stopped:
            print(f"workbench: {str(stopped) or STOPPED}", file=sys.stderr)
            return stop.exit_status
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


def program() -> int:
    """Run the command that this process was called with, as `main` does.

    Where Python draws its hash seed, the process begins again with the fixed one that workers have. Rows that are
    computed here, or in a kernel that is started from here, are then as theirs.
    """
    if not has_fixed_hash_seed() and not ENVIRONMENT.items() <= os.environ.items():
        os.environ.update(ENVIRONMENT)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    return main()


def _run(words: list[str]) -> int:
    if words[:1] in ([], ["-h"], ["--help"]):
        print(overview() if words else f"{quickstart()}\n\nAll commands: workbench --help")
        return 0
    if words[0] in ("--version", "-V", "version"):
        print(__version__)
        return 0
    if words[0] == "help":
        return _run([*words[1:], "--help"])
    if words[0] in GROUPS and words[1:] in (["-h"], ["--help"]):
        print(overview(words[0]))
        return 0
    command, behind = resolved(words)
    parser = _Parser(
        prog=f"workbench {command.name}", description=command.description, epilog=SPECIFICATIONS, formatter_class=_Help
    )
    command.add_arguments(parser)
    args = parser.parsed(behind)
    if not getattr(args, "quiet", False):
        with compile_notice():
            return command.run(args)
    with redirect_stdout(io.StringIO()):
        status = command.run(args)
    if status == SOME_FAILED:
        print(f"workbench: {words[0]} ended with status {status}; without --quiet it says why.", file=sys.stderr)
    return status


class Start(NamedTuple):
    """One way to begin: its name, what one does, and its command."""

    name: str
    description: str
    command: str
    file: str
    """What the command begins with where it lies below the working folder, as in a copy of the repository."""
    otherwise: str
    """What it begins with elsewhere: a name that is installed, or a file of the user's, in capitals."""


STARTS = (
    Start("compare", "two policies on the same requests", "workbench run", "sweeps/placement/drain.yaml", "SWEEP.yaml"),
    Start("replay", "your own memory snapshot", "workbench trace replay", "", "SNAPSHOT.pickle"),
    Start("tune", "a policy's levers", "workbench tune", "sweeps/tune/placement.yaml", "STUDY.yaml"),
    Start(
        "look", "with sliders, in a browser", "workbench open dashboard", "sweeps/placement/drain.yaml", "shared_memory"
    ),
)


def quickstart(folder: Path | None = None) -> str:
    """Return the four ways to start as text, two lines each; files that are not below a folder are not named.

    Parameters
    ----------
    folder : path, optional
        The working folder by default.
    """
    lines = [f"  {start.name:<9}{start.description}\n  {'':<9}$ {command_of(start, folder)}" for start in STARTS]
    text = "\n".join(["Four roads, each with a command to start on:", "", *lines])
    yours = (
        "\n\nSWEEP.yaml and STUDY.yaml are files of yours: workbench new project NAME writes\n"
        "some to begin with, workbench list schema says what may stand in a sweep."
    )
    return text + (yours if "SWEEP.yaml" in text else "")


def command_of(start: Start, folder: Path | None = None) -> str:
    """Return the command of a start, with its file if that is below a folder.

    >>> command_of(STARTS[3], Path("nowhere"))
    'workbench open dashboard shared_memory'
    """
    there = bool(start.file) and ((folder or Path()) / start.file).is_file()
    return f"{start.command} {start.file if there else start.otherwise}"


def compile_notice() -> AbstractContextManager[None]:
    """Return a context within which the first compilation of each engine is said on standard error."""
    return COMPILING.told(_tell_of_compilation)


def _tell_of_compilation(module: str) -> None:
    from workbench.mechanisms.compilation import (
        say_as_it_compiles,  # with a compiler at work, its package is loaded anyway
    )

    say_as_it_compiles(lambda line: print(line, file=sys.stderr, flush=True))(module)
