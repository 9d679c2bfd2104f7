"""A page for every public word of the package, what `import workbench as wb` gives, and for every command.

A command's arguments stand there as the command itself prints them.
"""

from __future__ import annotations

import argparse
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

import workbench as wb
from workbench.cli.main import COMMANDS, GROUPS, Command, find
from workbench.docs.markdown import (
    Kind,
    Page,
    address,
    code,
    crumbs,
    docstring_page,
    first_sentence,
    parsed,
    prose,
    sections,
    table,
)


def word_path(name: str) -> str:
    """Return the path of a word's page."""
    return f"reference/python/{name}"


def word_pages() -> Iterator[Page]:
    """Yield a page for every word of `workbench.__all__`."""
    for name in wb.__all__:
        yield _word_page(name, getattr(wb, name))


def word_names() -> list[str]:
    """Return the path of every word's page."""
    return [word_path(name) for name in wb.__all__]


def _word_page(name: str, value: Any) -> Page:
    here = word_path(name)
    text = " ".join(parsed(value)["Summary"])
    return Page(
        here,
        name,
        sections(
            crumbs(here, ("Python", "reference/python/index")),
            f"# wb.{name}",
            _signature(name, value),
            _question(value, here),
            docstring_page(value, here),
            _methods(value, here) if isinstance(value, type) else "",
        ),
        summary=first_sentence(prose(text, here, getattr(value, "__module__", "") or "")),
        group="Bases of policies" if _asks_of_word(value) else "Words",
    )


def _asks_of_word(value: Any) -> str:
    return str(getattr(value, "question", "")) if isinstance(value, type) else ""


def _question(value: Any, here: str) -> str:
    question = _asks_of_word(value)
    there = address(here, f"reference/questions/{question}")
    return f"The base of every policy that answers the question [`{question}`]({there})." if question else ""


def _signature(name: str, value: Any) -> str:
    if isinstance(value, type) or not callable(value):
        return ""
    try:
        return code(f"wb.{name}{inspect.signature(value)}".replace("'", ""), "python")
    except (TypeError, ValueError):
        return ""


def _methods(cls: type, here: str) -> str:
    rows = [
        [f"`{name}`", first_sentence(prose(_text(member), here, cls.__module__))]
        for name, member in vars(cls).items()
        if not name.startswith("_") and _text(member)
    ]
    return sections("## Methods and properties", table(["name", "what it does"], rows)) if rows else ""


def _text(member: Any) -> str:
    callables = (staticmethod, classmethod, property)
    of = inspect.unwrap(member.__func__) if isinstance(member, (staticmethod, classmethod)) else member
    if not isinstance(member, callables) and not inspect.isfunction(of):
        return ""
    return inspect.cleandoc(of.__doc__ or "")


WORD_KIND = Kind(
    "python",
    "Python",
    "The public words of `import workbench as wb`. Each is imported when it is first used.",
    word_pages,
    word_names,
)


def command_path(name: str) -> str:
    """Return the path of a command's page."""
    return f"reference/commands/{name.replace(' ', '-')}"


def command_pages() -> Iterator[Page]:
    """Yield a page for every command."""
    for name in COMMANDS:
        yield _command_page(find(name))


def command_names() -> list[str]:
    """Return the path of every command's page."""
    return [command_path(name) for name in COMMANDS]


def _command_page(command: Command) -> Page:
    here = command_path(command.name)
    parser = argparse.ArgumentParser(prog=f"workbench {command.name}", add_help=False)
    command.add_arguments(parser)
    words = " ".join(parser.format_usage().removeprefix("usage: ").split())
    usage = textwrap.fill(words, 80, subsequent_indent=" " * 8, break_on_hyphens=False)
    return Page(
        here,
        command.name,
        sections(
            crumbs(here, ("Commands", "reference/commands/index")),
            f"# workbench {command.name}",
            prose(command.says, here),
            code(usage, "text"),
            _arguments(parser, here),
            "Exit status: 0 done, 1 some runs failed (they are rows), 2 the input is wrong (one sentence, nothing "
            "written), 130 stopped by Ctrl-C.",
            sections("## Help", code(f"workbench {command.name} --help", "bash")),
        ),
        summary=prose(command.says, here),
        group=f"workbench {first}" if (first := command.name.split()[0]) in GROUPS else "",
    )


def _arguments(parser: argparse.ArgumentParser, here: str) -> str:
    rows = [
        [f"`{_written(action)}`", prose((action.help or "").replace("%%", "%"), here), _default(action)]
        for action in parser._actions
    ]
    return sections("## Arguments", table(["argument", "meaning", "default"], rows)) if rows else ""


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


COMMAND_KIND = Kind(
    "commands",
    "Commands",
    "One command a station of the road from a sweep file to a figure in a paper. Each has `--help`, and `--json` where "
    "it prints rows.",
    command_pages,
    command_names,
)
