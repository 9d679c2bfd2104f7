"""A page for every command: its arguments, as the command itself prints them."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator

from workbench.cli.main import COMMANDS, Command, find
from workbench.docs.page import Page, code, sections, table
from workbench.docs.prose import prose
from workbench.docs.reference.kind import Kind, crumbs


def path(name: str) -> str:
    """Return the path of a command's page."""
    return f"reference/commands/{name}"


def pages() -> Iterator[Page]:
    """Yield a page for every command."""
    for name in COMMANDS:
        yield _page(find(name))


def names() -> list[str]:
    """Return the path of every command's page."""
    return [path(name) for name in COMMANDS]


def _page(command: Command) -> Page:
    here = path(command.name)
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


KIND = Kind(
    "commands",
    "Commands",
    "One command a station of the road from a sweep file to a figure in a paper. Each has `--help`, and `--json` where "
    "it prints rows.",
    pages,
    names,
)
