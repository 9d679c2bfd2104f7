"""Pages of the commands, with their arguments as each prints them, and of the public words of `import workbench as wb`.

What a word is Sphinx itself reads from its docstring (`autodoc`).
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator

from workbench.cli.commands import COMMANDS, Command, find
from workbench.docs.markdown import Kind, Page, code, entry, from_docstring, ref, refs, sections, table
from workbench.docs.spec_links import prose
from workbench.policies.bases import BASES
from workbench.words import WORDS
from workbench.words import find as find_word

TASKS: dict[str, list[str]] = {
    "Run a sweep": ["run", "planned", "status", "gather", "step", "presets"],
    "Look at results": ["Results", "open_results", "figure", "headline"],
    "Tune": ["tune", "open_study", "objective"],
    "Explain": ["sensitivity", "discover", "blame", "occupancy", "coresident"],
    "Test claims": ["claims"],
    "Fix an out-of-memory error": ["advise", "advise_message", "advice_figure"],
    "Write a policy": ["lever", "kernel", "is_free", "first_start", "last_start"],
    "Define other parts": [
        *("measure", "add_measure", "Recipe", "add_figure", "Generator", "add_generator"),
        *("Importer", "Claim", "add_claim", "add_dashboard", "remove"),
    ],
    "Show pages": ["dashboard"],
}
"""The public words by what a reader wants to do; the page of Python lists those that are in no task too."""


def word_pages() -> Iterator[Page]:
    """Yield the one page of all public words, and of the bases that `workbench.policies` has."""
    listed = {name for names in TASKS.values() for name in names}
    bases = ["policies", *(f"policies.{base}" for base in sorted(BASES))]
    groups = {**TASKS, "Other words": sorted(set(WORDS) - listed), "Bases of policies": bases}
    names = [name for members in groups.values() for name in members]
    rows = [[task, refs("reference/python", members)] for task, members in groups.items() if members]
    text = sections("# Python", WORD_KIND.description, table(["task", "words"], rows), *map(_documented, names))
    yield Page("reference/python", "Python", text, names=tuple(names))


def _documented(name: str) -> str:
    """Return the directive by which Sphinx inserts the docstring of a word."""
    base = name.removeprefix("policies.")
    value = find_word(name) if base == name else getattr(find_word("policies"), base)
    kind = "class" if isinstance(value, type) else "function"
    where = f"workbench::{name}" if base == name else f"workbench.policies::{base}"
    text = from_docstring(where, kind, *(["members"] if kind == "class" else []))
    question = getattr(value, "question", "") if kind == "class" else ""
    answers = f"The base of every policy that answers {ref(f'`{question}`', f'reference/policies/{question}')}."
    return entry(name, answers if question else "", text)


WORD_KIND = Kind(
    "python",
    "Python",
    "The public words of `import workbench as wb`. Each is imported when it is first used.",
    word_pages,
)


_ABOUT_COMMANDS = (
    "One command a station of the road from a sweep file to a figure in a paper. Each has `--help`, and `--json` where "
    "it prints rows."
)


def command_pages() -> Iterator[Page]:
    """Yield the one page of all commands."""
    text = sections(
        "# Commands",
        _ABOUT_COMMANDS,
        "Exit status: 0 done, 1 some runs failed (they are rows), 2 the input is wrong (one sentence, nothing "
        "written), 130 stopped by Ctrl-C.",
        *(_command_entry(find(name)) for name in COMMANDS),
    )
    yield Page("reference/commands", "Commands", text, names=tuple(name.replace(" ", "-") for name in COMMANDS))


def _command_entry(command: Command) -> str:
    parser = argparse.ArgumentParser(prog=f"workbench {command.name}", add_help=False)
    command.add_arguments(parser)
    words = " ".join(parser.format_usage().removeprefix("usage: ").split())
    usage = textwrap.fill(words, 80, subsequent_indent=" " * 8, break_on_hyphens=False)
    rows = [
        [f"`{_written(action)}`", prose((action.help or "").replace("%%", "%")), _default(action)]
        for action in parser._actions
    ]
    arguments = table(["argument", "meaning", "default"], rows) if rows else ""
    return entry(command.name, prose(command.description), code(usage, "text"), arguments)


def _written(action: argparse.Action) -> str:
    names = ", ".join(action.option_strings)
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else ""
    named = str(action.metavar or choices or (action.dest.upper() if names else action.dest))
    value = "" if action.nargs == 0 else named
    return " ".join(part for part in (names, value) if part)


def _default(action: argparse.Action) -> str:
    if action.default in (None, False, argparse.SUPPRESS, [], ()):
        return ""
    return f"`{action.default}`"


COMMAND_KIND = Kind("commands", "Commands", _ABOUT_COMMANDS, command_pages)
