"""Blocks of code that fit their page: long lines of commands and of sweeps become several lines that mean the same."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

MOST_LETTERS = 88
"""Letters of a line that a page shows without a break."""
_BLOCK = re.compile(
    r"^(?P<fence>```+)(?P<language>console|bash|yaml)\n(?P<body>.*?)\n(?P=fence)$", re.MULTILINE | re.DOTALL
)
_REMARK = re.compile(r"^(?P<code>\s*[^#\s].*?) +(?P<remark># .*)$")


def fitted(text: str) -> str:
    """Return a page whose blocks of commands and sweeps have no longer lines than can be helped."""
    return _BLOCK.sub(_fitted_block, text)


def _fitted_block(match: re.Match[str]) -> str:
    lines = [short for line in match["body"].split("\n") for short in _short(line)]
    return "\n".join([f"{match['fence']}{match['language']}", *lines, match["fence"]])


def _short(line: str) -> Iterator[str]:
    """Yield a line as one or several lines.

    >>> list(_short("$ workbench run " + "a" * 70 + "   # runs it"))[0]
    '# runs it'
    >>> [len(line) <= MOST_LETTERS for line in _short("measures: [" + ", ".join(["a" * 30] * 5) + "]")]
    [True, True, True]
    """
    if len(line) <= MOST_LETTERS:
        yield line
    elif match := _REMARK.match(line):
        indent = re.match(r"\s*", line)[0]  # type: ignore[index]
        yield from textwrap.wrap(indent + match["remark"], MOST_LETTERS, subsequent_indent=f"{indent}# ")
        yield from _short(match["code"])
    elif line.lstrip().startswith("#"):
        indent = re.match(r"\s*#\s*", line)[0]  # type: ignore[index]
        yield from textwrap.wrap(line, MOST_LETTERS, subsequent_indent=indent, break_on_hyphens=False)
    elif re.match(r"(\$ )?(workbench|python) .* --", line):
        yield from _command(line)
    elif re.match(r"\s*(- )?([\w\"]+: )?[\[{]", line) and line.endswith(("]", "}")):
        yield from _flow(line)
    elif re.match(r"question: [^\"'].*", line):
        yield from textwrap.wrap(line, MOST_LETTERS, subsequent_indent="  ")
    else:
        yield line


def _command(line: str) -> Iterator[str]:
    """Yield a command as several lines, broken before options.

    >>> [*_command("$ workbench export results/placement/drain --to " + "a" * 30 + " --columns " + "2" * 30)][1].strip()
    '--columns 222222222222222222222222222222'
    """
    current = ""
    for piece in re.split(r" (?=--)", line):
        if current and len(current) + len(piece) > MOST_LETTERS - 3:
            yield f"{current} \\"
            current = f"    {piece}"
        else:
            current = f"{current} {piece}" if current else piece
    yield current


def _flow(line: str) -> Iterator[str]:
    """Yield a YAML list or mapping on one line as several, broken behind commas outside of quotes."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    current = ""
    for piece in re.findall(r"(?:[^,\"']|\"[^\"]*\"|'[^']*')+,? ?", line):
        if current.strip() and len(current) + len(piece.rstrip()) > MOST_LETTERS:
            yield current.rstrip()
            current = indent
        current += piece
    yield current.rstrip()
