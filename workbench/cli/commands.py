"""The commands of `workbench`: what each is called, which module holds it, what it does, and how it ends."""

from __future__ import annotations

import argparse
import importlib
import textwrap
from collections.abc import Callable, Sequence
from typing import NamedTuple

from workbench.errors import InputError, unknown_name

DONE, SOME_FAILED, WRONG_INPUT = 0, 1, 2
"""Exit statuses."""

COMMANDS = {
    "plan": ("run", "How many runs a sweep has and how many are kept; runs nothing."),
    "run": ("run", "Run a sweep; what is kept already is not run again."),
    "gather": ("run", "Merge the folders of all shards of a sweep, once nothing is missing."),
    "results": ("_results", "What a results folder holds: summary, table as CSV, figures."),
    "status": ("_results", "How far a sweep is that runs elsewhere, and whether its driver lives."),
    "tune": ("_tune", "Tune policies and levers against several measures."),
    "explain sensitivity": ("_explain", "Which levers a measure depends on, alone and together."),
    "explain discover": ("_explain", "Where in the space of workload and machine a policy loses."),
    "explain blame": ("_explain", "How much less a measure is without each kind of delay."),
    "notebook": ("_notebook", "Run notebooks once for each combination of their parameters."),
    "claims": ("_claims", "Put the claims of the source documents to the test."),
    "figure": ("_results", "Figures of theory, or of the runs of a results folder."),
    "export": ("_results", "Write a bundle for a paper from a results folder."),
    "verify": ("_results", "Compute a bundle's numbers from its runs, and do some runs again."),
    "trust": ("_trust", "List the code that a results folder or a bundle names, and sign it."),
    "list policies": ("_policy_listing", "Every policy that can be named in a sweep."),
    "list measures": ("_listings", "Every measure that can be named in a sweep."),
    "list figures": ("_listings", "Every figure, and what it is drawn of."),
    "list workloads": ("_listings", "Every workload that can be named in a sweep."),
    "list levers": ("_listings", "Every lever with its range, default and unit."),
    "list presets": ("_listings", "Machine presets with the source of each figure."),
    "list packages": ("_packages", "The parts that installed packages bring."),
    "list schema": ("_listings", "The JSON schema of sweep files."),
    "circuit write": ("_circuits", "A mechanism as Verilog, golden vectors or a test bench."),
    "circuit synth": ("_circuits", "Gates, levels, flip-flops and relative delay of circuits, synthesised."),
    "circuit prove": (
        "_circuits",
        "Whether two circuits compute one function, proven by SAT (exit status 1: they differ).",
    ),
    "trace import": ("_trace_import", "What a real trace holds, and the same as workload columns."),
    "trace residency": ("_trace_residency", "Lost residency of shared memory on recorded kernels."),
    "trace replay": ("_trace_replay", "What each policy would have done with the memory that a trace recorded."),
    "validate": ("_validate", "The laws of the engines compared with public measurements on real cards."),
    "occupancy": ("_occupancy", "How many workgroups of a kernel a unit holds, and which limit binds."),
    "coresident": ("_coresident", "Whether several kernels start at once, and what to keep free so that they do."),
    "advise": (
        "_advise",
        "The cause of an out-of-memory error, and settings that help: from its message or a recording.",
    ),
    "new project": ("_new_project", "Write a folder to begin with: sweep, study, notebook, policy, test, Makefile."),
    "new sweep": ("_new_example", "Copy a sweep of an engine, ready to change."),
    "new study": ("_new_example", "Copy a study of an engine, which tunes its policies."),
    "new notebook": ("_new_example", "Copy the lesson on an engine, and what it reads."),
    "new policy": ("_new_policy", "Write a policy file and its test, ready to change."),
    "new preset": ("_new_preset", "Write a machine preset's file, ready to fill in."),
    "open dashboard": ("_browser", "Serve a dashboard in a browser, without any request off this host."),
    "open lab": ("_browser", "Open JupyterLab on the notebooks."),
    "open docs": ("_browser", "Open the documentation, without any request off this host."),
    "bench": ("_bench", "Measure the speed of the engines on this machine."),
    "doctor": ("_doctor", "What this machine has and lacks, with the command that brings it."),
    "completion": ("_completion", "A completion script for bash, zsh or fish."),
}
"""Each command: the module of this package that holds it, as a constant of its last word, and what it does.

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

PASSED_ON = "passed_on"
"""The argument that takes unknown options of a command, for the program that it starts; a list by default."""

SPECIFICATIONS = (
    "'spec 3, R81' in a text is item R81 of page 3 of docs/specification/ (of an installed package: "
    "workbench/specification/)."
)
Arguments = Callable[[argparse.ArgumentParser], None]
Run = Callable[[argparse.Namespace], int]


class Command(NamedTuple):
    """One or two words after `workbench`."""

    name: str
    description: str
    add_arguments: Arguments
    run: Run


def resolved(words: Sequence[str]) -> tuple[Command, Sequence[str]]:
    """Return the command that words begin with, and the words behind its name."""
    first, two = words[0], " ".join(words[:2])
    name = two if two in COMMANDS else first
    if name in COMMANDS:
        return find(name), words[len(name.split()) :]
    if first not in GROUPS:
        raise unknown_name("", "command", first, first_words())
    if not words[1:]:
        raise InputError(f"workbench {first} takes one of {', '.join(kinds(first))}. See: workbench {first} --help")
    raise unknown_name("", f"{first} command", words[1], kinds(first))


def find(name: str) -> Command:
    """Return the command of a name."""
    module_name, description = COMMANDS[name]
    module = importlib.import_module(f"workbench.cli.{module_name}")
    return Command(name, description, *getattr(module, name.split()[-1].upper()))


def first_words() -> list[str]:
    """Return the words that may follow `workbench`: commands of one word, and the first words of the others."""
    return list(dict.fromkeys(name.split()[0] for name in COMMANDS))


def kinds(group: str) -> list[str]:
    """Return the second words of the commands that begin with a word."""
    return [name.split()[1] for name in COMMANDS if name.startswith(f"{group} ")]


def _description(word: str) -> str:
    return f"{GROUPS[word]}: {', '.join(kinds(word))}." if word in GROUPS else COMMANDS[word][1]


def overview(group: str = "") -> str:
    if group:
        usage, rows = f"workbench {group} KIND", [(word, COMMANDS[f"{group} {word}"][1]) for word in kinds(group)]
    else:
        usage, rows = "workbench COMMAND", [(word, _description(word)) for word in first_words()]
    lines = [textwrap.fill(f"  {word:<13}{description}", 80, subsequent_indent=" " * 15) for word, description in rows]
    same = "" if group else "; the same: workbench help COMMAND"
    return "\n".join([f"{usage} ... (each has --help{same})", "", *lines, "", SPECIFICATIONS])
