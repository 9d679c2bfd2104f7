"""`workbench COMMAND`: find the command, run it, turn a user's mistake into one sentence and an exit status.

Also what a command is, what `workbench` alone prints (four starts, a command each), the completion scripts, which are
made from the parsers themselves, and what a signal does: the first asks runs to end, a later one ends the process.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from workbench.errors import InputError, WorkbenchError, unknown_name
from workbench.process import COMPILING, ENVIRONMENT, has_fixed_hash_seed

COMMANDS = {
    "plan": "run",
    "run": "run",
    "results": "results",
    "status": "results",
    "tune": "tune",
    "sensitivity": "studies",
    "discover": "studies",
    "blame": "studies",
    "notebook": "run",
    "claims": "studies",
    "figure": "results",
    "export": "results",
    "verify": "results",
    "policies": "listings",
    "measures": "listings",
    "figures": "listings",
    "workloads": "listings",
    "levers": "listings",
    "presets": "listings",
    "schema": "scaffold",
    "circuit": "circuits",
    "synth": "circuits",
    "prove": "circuits",
    "import": "traces",
    "residency": "traces",
    "replay": "traces",
    "advise": "advise",
    "new-policy": "scaffold",
    "new-preset": "scaffold",
    "dashboard": "browser",
    "lab": "browser",
    "docs": "browser",
    "bench": "doctor",
    "doctor": "doctor",
    "completion": "main",
}
"""Each command and the module of this room that holds it, as a constant of its name; only that module is imported."""


KEPT = "stopped; finished runs of a results folder are kept."

SPECIFICATIONS = (
    "'spec 3, R81' in a text is item R81 of page 3 of docs/specification/ (of an installed package: "
    "workbench/specification/)."
)


class _Parser(argparse.ArgumentParser):
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
            print(f"workbench: {str(stopped) or KEPT}", file=sys.stderr)
            return stop.exit_status
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


def program() -> int:
    """Run the command that this process was called with, as `main` does.

    Where Python draws its hash seed, the process begins anew with the fixed one that workers have: rows that are
    computed here, or in a kernel that is started from here, are then as theirs.
    """
    if not has_fixed_hash_seed() and not ENVIRONMENT.items() <= os.environ.items():
        os.environ.update(ENVIRONMENT)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    return main()


def _run(words: list[str]) -> int:
    if words[:1] in ([], ["-h"], ["--help"]):
        print(_overview() if words else f"{quickstart()}\n\nAll commands: workbench --help")
        return 0
    if words[0] == "--version":
        import workbench

        print(workbench.__version__)
        return 0
    if words[0] not in COMMANDS:
        raise unknown_name("", "command", words[0], COMMANDS)
    command = find(words[0])
    parser = _Parser(prog=f"workbench {command.name}", description=command.says, epilog=SPECIFICATIONS)
    command.add_arguments(parser)
    given = _parsed(parser, words[1:])
    with compile_notice():
        return command.run(given)


def _parsed(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    return parser.parse_args(words)


def find(name: str) -> Command:
    """Return the command of a name."""
    module: Any = importlib.import_module(f"workbench.cli.{COMMANDS[name]}")
    command: Command = getattr(module, name.upper().replace("-", "_"))
    return command


def _overview() -> str:
    lines = [f"  {name:<12}{find(name).says}" for name in COMMANDS]
    return "\n".join(["workbench COMMAND ... (each has --help)", "", *lines, "", SPECIFICATIONS])


DONE, SOME_FAILED, WRONG_INPUT = 0, 1, 2
"""Exit statuses."""


class Command(NamedTuple):
    """One word after `workbench`."""

    name: str
    says: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


class Start(NamedTuple):
    """One way to begin: its name, what one does, and its command."""

    name: str
    says: str
    command: str
    file: str
    """What the command begins with where it lies below the working folder, as in a copy of the repository."""
    otherwise: str
    """What it begins with elsewhere: a name that is installed, or a file of the user's, in capitals."""


STARTS = (
    Start("compare", "two policies on the same requests", "workbench run", "sweeps/placement/drain.yaml", "SWEEP.yaml"),
    Start("replay", "your own memory snapshot", "workbench replay", "", "SNAPSHOT.pickle"),
    Start("tune", "a policy's levers", "workbench tune", "sweeps/tune/placement.yaml", "STUDY.yaml"),
    Start("look", "with sliders, in a browser", "workbench dashboard", "sweeps/placement/drain.yaml", "shared_memory"),
)


def quickstart(folder: Path | None = None) -> str:
    """Return the four ways to start as text, two lines each; files that are not below a folder are not named.

    Parameters
    ----------
    folder : path, optional
        The working folder by default.
    """
    lines = [f"  {start.name:<9}{start.says}\n  {'':<9}$ {command_of(start, folder)}" for start in STARTS]
    text = "\n".join(["Four roads, each with a command to start on:", "", *lines])
    yours = "\n\nSWEEP.yaml and STUDY.yaml are files of yours; workbench schema says what\nmay stand in a sweep."
    return text + (yours if "SWEEP.yaml" in text else "")


def command_of(start: Start, folder: Path | None = None) -> str:
    """Return the command of a start, with its file if that is below a folder.

    >>> command_of(STARTS[3], Path("nowhere"))
    'workbench dashboard shared_memory'
    """
    there = bool(start.file) and ((folder or Path()) / start.file).is_file()
    return f"{start.command} {start.file if there else start.otherwise}"


BASH = """_workbench() {
  local word=${COMP_WORDS[COMP_CWORD]} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=( $(compgen -W "%(commands)s" -- "$word") ); return
  fi
  case "${COMP_WORDS[1]}" in
%(cases)s
  esac
  case "$word" in
    -*) COMPREPLY=( $(compgen -W "$words" -- "$word") ) ;;
    *) COMPREPLY=( $(compgen -f -- "$word") ) ;;
  esac
}
complete -o filenames -F _workbench workbench"""


def _arguments_of_completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="for which shell")


def _run_completion(given: argparse.Namespace) -> int:
    print(completion_script(given.shell, options_of_commands()))
    return DONE


def options_of_commands() -> dict[str, list[str]]:
    """Return the long options of every command, as its parser has them."""
    return {name: _long_options(find(name)) for name in COMMANDS}


def _long_options(command: Command) -> list[str]:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return [word for action in parser._actions for word in action.option_strings if word.startswith("--")]


def completion_script(shell: str, known: dict[str, list[str]]) -> str:
    """Return the completion script of a shell; zsh reads that of bash."""
    if shell == "fish":
        return _fish_script(known)
    cases = "\n".join(f'    {name}) words="{" ".join(words)}" ;;' for name, words in known.items())
    text = BASH % {"commands": " ".join(known), "cases": cases}
    return f"autoload -U +X bashcompinit && bashcompinit\n{text}" if shell == "zsh" else text


def _fish_script(known: dict[str, list[str]]) -> str:
    lines = [f"complete -c workbench -n __fish_use_subcommand -f -a {name}" for name in known]
    for name, words in known.items():
        lines += [f"complete -c workbench -n '__fish_seen_subcommand_from {name}' -l {word[2:]}" for word in words]
    return "\n".join(lines)


COMPLETION = Command(
    "completion", "A completion script for bash, zsh or fish.", _arguments_of_completion, _run_completion
)


def compile_notice() -> AbstractContextManager[None]:
    """Return a context within which the first compilation of each engine is said on standard error."""
    return COMPILING.told(_tell_of_compilation)


def _tell_of_compilation(module: str) -> None:
    from workbench.experiments.mechanism import say_as_it_compiles  # with a compiler at work, its room is loaded anyway

    say_as_it_compiles(lambda line: print(line, file=sys.stderr, flush=True))(module)


SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
MOST_SIGNALS = 3
"""The signal that ends the process at once: whatever is still being ended does not end by itself."""


class Stop:
    """How often the process was asked to stop, and by which signal first."""

    def __init__(self) -> None:
        self.times = 0
        self.number: int = signal.SIGINT

    @property
    def exit_status(self) -> int:
        """Return the status that shells give to a process that ended by the signal."""
        return 128 + self.number

    def heed(self, number: int, frame: FrameType | None) -> None:
        """Stop what is under way at the first signal, wait at the second, end at the third."""
        self.times += 1
        if self.times == 1:
            self.number = number
            raise KeyboardInterrupt
        if self.times < MOST_SIGNALS:
            _say_at_once("workbench: stopping; what is finished is kept (once more ends it at once).")
        else:
            os._exit(self.exit_status)


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Raise `KeyboardInterrupt` once, within this context, at the signals that ask to end.

    A signal that is ignored (as `nohup` has it) stays so. After one came its kind is heard quietly for as long as the
    process lives: what ends it takes a moment.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, stop.heed)
    try:
        yield stop
    finally:
        if not stop.times:
            for number, handler in before.items():
                signal.signal(number, handler)


def _say_at_once(line: str) -> None:
    """Write a line past Python's streams, which the signal may have found in the middle of another."""
    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"{line}\n".encode())
