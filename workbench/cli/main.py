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
import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from workbench.errors import InputError, WorkbenchError, unknown_name
from workbench.process import COMPILING, ENVIRONMENT, has_fixed_hash_seed
from workbench.version import __version__

COMMANDS = {
    "plan": ("run", "How many runs a sweep has and how many are kept; runs nothing."),
    "run": ("run", "Run a sweep; what is kept already is not run again."),
    "results": ("results", "What a results folder holds: summary, table as CSV, figures."),
    "status": ("results", "How far a sweep is that runs elsewhere, and whether its driver lives."),
    "tune": ("tune", "Tune policies and levers against several measures."),
    "explain sensitivity": ("studies", "Which levers a measure depends on, alone and together."),
    "explain discover": ("studies", "Where in the space of workload and machine a policy loses."),
    "explain blame": ("studies", "How much less a measure is without each kind of delay."),
    "notebook": ("run", "Run notebooks once for each combination of their parameters."),
    "claims": ("studies", "Put the claims of the source documents to the test."),
    "figure": ("results", "Figures of theory, or of the runs of a results folder."),
    "export": ("results", "Write a bundle for a paper from a results folder."),
    "verify": ("results", "Compute a bundle's numbers from its runs, and do some runs again."),
    "list policies": ("listings", "Every policy that can be named in a sweep."),
    "list measures": ("listings", "Every measure that can be named in a sweep."),
    "list figures": ("listings", "Every figure, and what it is drawn of."),
    "list workloads": ("listings", "Every workload that can be named in a sweep."),
    "list levers": ("listings", "Every lever with its range, default and unit."),
    "list presets": ("listings", "Machine presets with the source of each figure."),
    "list schema": ("listings", "The JSON schema of sweep files."),
    "circuit write": ("circuits", "A mechanism as Verilog, golden vectors or a test bench."),
    "circuit synth": ("circuits", "Gates, levels, flip-flops and relative delay of circuits, synthesised."),
    "circuit prove": (
        "circuits",
        "Whether two circuits compute one function, proven by SAT (exit status 1: they differ).",
    ),
    "trace import": ("traces", "What a real trace holds, and the same as workload columns."),
    "trace residency": ("traces", "Lost residency of shared memory on recorded kernels."),
    "trace replay": ("traces", "What each policy would have done with the memory that a trace recorded."),
    "advise": ("advise", "Which settings of an allocator would have carried a recorded program."),
    "new policy": ("scaffold", "Write a policy file and its test, ready to change."),
    "new preset": ("scaffold", "Write a machine preset's file, ready to fill in."),
    "open dashboard": ("browser", "Serve a dashboard in a browser, without any request off this host."),
    "open lab": ("browser", "Open JupyterLab on the notebooks."),
    "open docs": ("browser", "Open the documentation, without any request off this host."),
    "bench": ("bench", "Measure the speed of the engines on this machine."),
    "doctor": ("doctor", "What this machine has and lacks, with the command that brings it."),
    "completion": ("main", "A completion script for bash, zsh or fish."),
}
"""Each command: the module of this room that holds it, as a constant of its last word, and what it does.

Only the module of the command that runs is imported.
"""

GROUPS = {
    "explain": "What a result comes from",
    "list": "What a sweep may name",
    "circuit": "A mechanism as hardware",
    "trace": "What recorded traces hold",
    "new": "Files to begin with",
    "open": "Pages in a browser",
}
"""The first words of commands of two, and what these have in common."""

FORMER = {
    **{name: f"explain {name}" for name in ("sensitivity", "discover", "blame")},
    **{
        name: f"list {name}" for name in ("policies", "measures", "figures", "workloads", "levers", "presets", "schema")
    },
    "circuit": "circuit write",
    "synth": "circuit synth",
    "prove": "circuit prove",
    **{name: f"trace {name}" for name in ("import", "residency", "replay")},
    "new-policy": "new policy",
    "new-preset": "new preset",
    **{name: f"open {name}" for name in ("dashboard", "lab", "docs")},
}
"""Former names, which go with 0.6, and the commands that they are now.

Two sentences of `workbench.workloads` (`catalogue`, `importers.importer`) say former names as long as these count: what
the code of a workload says is part of the names of its runs.
"""

KEPT = "stopped; finished runs of a results folder are kept."

SPECIFICATIONS = (
    "'spec 3, R81' in a text is item R81 of page 3 of docs/specification/ (of an installed package: "
    "workbench/specification/)."
)


class _Help(argparse.HelpFormatter):
    def _format_usage(self, *given: Any) -> str:
        """Return the usage, its further lines set in little: below a name of two words some would be too wide."""
        return re.sub(r"\n {9,}", "\n        ", super()._format_usage(*given))


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
        print(__version__)
        return 0
    if words[0] in GROUPS and words[1:] in (["-h"], ["--help"]):
        print(_overview(words[0]))
        return 0
    command, behind = resolved(words)
    parser = _Parser(
        prog=f"workbench {command.name}", description=command.says, epilog=SPECIFICATIONS, formatter_class=_Help
    )
    command.add_arguments(parser)
    given = parser.parse_args(behind)
    with compile_notice():
        return command.run(given)


def resolved(words: Sequence[str]) -> tuple[Command, Sequence[str]]:
    """Return the command that words begin with, and the words behind its name; of a former name say the new one."""
    first, two = words[0], " ".join(words[:2])
    name = two if two in COMMANDS else first
    if name in COMMANDS:
        return find(name), words[len(name.split()) :]
    if first in FORMER and (words[1:] or first not in GROUPS):
        hint = f"`workbench {first}` is `workbench {FORMER[first]}` since 0.5; the old name goes with 0.6."
        print(f"workbench: {hint}", file=sys.stderr)
        return find(FORMER[first]), words[1:]
    if first not in GROUPS:
        raise unknown_name("", "command", first, first_words())
    if not words[1:]:
        raise InputError(f"workbench {first} takes one of {', '.join(kinds(first))}. See: workbench {first} --help")
    raise unknown_name("", f"{first} command", words[1], kinds(first))


def find(name: str) -> Command:
    """Return the command of a name."""
    room, says = COMMANDS[name]
    module = importlib.import_module(f"workbench.cli.{room}")
    return Command(name, says, *getattr(module, name.split()[-1].upper()))


def first_words() -> list[str]:
    """Return what may stand after `workbench`: commands of one word, and the first words of the others."""
    return list(dict.fromkeys(name.split()[0] for name in COMMANDS))


def kinds(group: str) -> list[str]:
    """Return the second words of the commands that begin with a word."""
    return [name.split()[1] for name in COMMANDS if name.startswith(f"{group} ")]


def _description(word: str) -> str:
    return f"{GROUPS[word]}: {', '.join(kinds(word))}." if word in GROUPS else COMMANDS[word][1]


def _overview(group: str = "") -> str:
    if group:
        usage, rows = f"workbench {group} KIND", [(word, COMMANDS[f"{group} {word}"][1]) for word in kinds(group)]
    else:
        usage, rows = "workbench COMMAND", [(word, _description(word)) for word in first_words()]
    lines = [textwrap.fill(f"  {word:<13}{says}", 80, subsequent_indent=" " * 15) for word, says in rows]
    return "\n".join([f"{usage} ... (each has --help)", "", *lines, "", SPECIFICATIONS])


DONE, SOME_FAILED, WRONG_INPUT = 0, 1, 2
"""Exit statuses."""


Arguments = Callable[[argparse.ArgumentParser], None]
Run = Callable[[argparse.Namespace], int]


class Command(NamedTuple):
    """One or two words after `workbench`."""

    name: str
    says: str
    add_arguments: Arguments
    run: Run


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
    lines = [f"  {start.name:<9}{start.says}\n  {'':<9}$ {command_of(start, folder)}" for start in STARTS]
    text = "\n".join(["Four roads, each with a command to start on:", "", *lines])
    yours = "\n\nSWEEP.yaml and STUDY.yaml are files of yours; workbench list schema says\nwhat may stand in a sweep."
    return text + (yours if "SWEEP.yaml" in text else "")


def command_of(start: Start, folder: Path | None = None) -> str:
    """Return the command of a start, with its file if that is below a folder.

    >>> command_of(STARTS[3], Path("nowhere"))
    'workbench open dashboard shared_memory'
    """
    there = bool(start.file) and ((folder or Path()) / start.file).is_file()
    return f"{start.command} {start.file if there else start.otherwise}"


BASH = """_workbench() {
  local word=${COMP_WORDS[COMP_CWORD]} first=${COMP_WORDS[1]} names words
  case "$COMP_CWORD $first" in
    "1 "*) names="%(commands)s" ;;
%(groups)s
  esac
  if [ "$names" ]; then
    COMPREPLY=( $(compgen -W "$names" -- "$word") ); return
  fi
  case "$first ${COMP_WORDS[2]} " in
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
    print(completion_script(given.shell))
    return DONE


COMPLETION = _arguments_of_completion, _run_completion


def completion_script(shell: str) -> str:
    """Return the completion script of a shell, with the options that the parsers have; zsh reads that of bash."""
    options = {name: _long_options(find(name)) for name in COMMANDS}
    if shell == "fish":
        return _fish_script(options)
    cases = "\n".join(f'    "{name} "*) words="{" ".join(words)}" ;;' for name, words in options.items())
    groups = "\n".join(f'    "2 {group}") names="{" ".join(kinds(group))}" ;;' for group in GROUPS)
    text = BASH % {"commands": " ".join(first_words()), "groups": groups, "cases": cases}
    return f"autoload -U +X bashcompinit && bashcompinit\n{text}" if shell == "zsh" else text


def _long_options(command: Command) -> list[str]:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return [word for action in parser._actions for word in action.option_strings if word.startswith("--")]


def _fish_script(options: dict[str, list[str]]) -> str:
    start, seen = "complete -c workbench -n", "__fish_seen_subcommand_from"
    lines = [f"{start} __fish_use_subcommand -f -a {word}" for word in first_words()]
    for group in GROUPS:
        inner = " ".join(kinds(group))
        lines.append(f"{start} '{seen} {group}; and not {seen} {inner}' -f -a '{inner}'")
    for name, words in options.items():
        condition = "; and ".join(f"{seen} {word}" for word in name.split())
        lines += [f"{start} '{condition}' -l {word[2:]}" for word in words]
    return "\n".join(lines)


def compile_notice() -> AbstractContextManager[None]:
    """Return a context within which the first compilation of each engine is said on standard error."""
    return COMPILING.told(_tell_of_compilation)


def _tell_of_compilation(module: str) -> None:
    from workbench.mechanisms.compilation import (
        say_as_it_compiles,  # with a compiler at work, its room is loaded anyway
    )

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
