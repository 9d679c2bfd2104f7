"""Refuse long sentences, and words that a reader has to guess.

    python -m tests.house.sentences [BASE]    exit with 1 if there is a fault (part of `make check`)

Two checks. The sentences that a change touches have no fault at all. The pages and the package as a whole have no word
to guess and no sentence above 45 words. In each area of them half of the sentences have at most 15 words, and at most
5 % have more than 30.

A sentence is touched if the base does not have it in the files that changed, so one that only moved is not. Uncommitted
work and new files count. The base is where the branch left `origin/main` or `main`; in CI it is the parent commit.

The text is that of Markdown pages, docstrings, comments, errors and help. Three folders are left out: the specification
quotes others, and both folders of data hold files as they came.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import statistics
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
LEFT_OUT = ("docs/specification/", "data/", "tests/data/")
MOST_WORDS = 30
"""Most words of a touched sentence. A semicolon or a colon ends none; a code span or a link is one word."""
LEAST_OF_A_SENTENCE = 2
"""Fewer or as many words are a name or a title, and do not count among the lengths."""
LONGEST, MEDIAN, LONG_SHARE = 45, 15, 0.05
"""Upper bounds for the pages and the package: words of a sentence, their median, the share above `MOST_WORDS`."""
WORDS = {
    "anew": "again",
    "beside": "compared with, or next to",
    "nobody": "no, with the noun",
    "one's own": "the user's",
    "dear": "slow",
    "landing": "commit",
    "mend": "fix",
    "house": "project",
    "room": "package, or free space",
    "colour": "color",
    "grey": "gray",
    "neighbour": "neighbor",
    "behaviour": "behavior",
    "favour": "favor",
    "centre": "center",
    "licence": "license",
    "normalise": "it with a z",
    "optimise": "it with a z",
    "initialise": "it with a z",
    "serialise": "it with a z",
    "recognise": "it with a z",
}
"""What no touched sentence has, and what it may have instead."""
KEPT = (
    "must leave room in the shared memory",
    "stand in X beside it, as its writer",
    "so nobody knows what is released",
)
"""Parts of messages in code that run ids are digests of. An edit of the text would change the ids."""
VALUES = {
    "found": "result, match, rows, candidate",
    "said": "config, message, text",
    "told": "reply, settings, messages",
    "shown": "text, panels, rows",
    "asked": "request, requests, requested",
}
"""What no variable is called, and what it may be called instead; fields and columns of records are another matter."""


class Sentence(NamedTuple):
    """A sentence and the line that it begins on."""

    line: int
    text: str


class Fault(NamedTuple):
    """A fault, its line, and the sentence or the line of code that has it."""

    line: int
    message: str
    text: str


_FORMS = {"landing": "landings?", "mend": "mend(?:s|ed|ing)?", "house": "houses?", "room": "rooms?"}
_FORMS |= {"colour": "colour(?:s|ed|ing)?", "neighbour": "neighbour(?:s|ing)?", "behaviour": "behaviours?"}
_FORMS |= {"favour": "favour(?:s|ed|ing)?", "centre": "centre[ds]?", "licence": "licences?"}
_FORMS |= {verb: rf"{verb}[ds]?" for verb in ("normalise", "optimise", "initialise", "serialise", "recognise")}
_GUESSED = re.compile(rf"(?<![\w/.\[-])(?:{'|'.join(_FORMS.get(word, word) for word in WORDS)})(?![\w/-]|\.\w)", re.I)
_ONE_WORD = re.compile(r"(`+).+?\1|!?\[[^\]]*\]\([^)]*\)|<https?:[^>]*>")
"""A code span, a link or a picture."""


def faults(path: str, text: str) -> list[Fault]:
    """Return the faults of a file, touched or not, by their lines."""
    values = _value_faults(_nodes(text), text.splitlines()) if path.endswith(".py") else ()
    return sorted([*prose_faults(path, text, MOST_WORDS), *values])


def prose_faults(path: str, text: str, most_words: int) -> list[Fault]:
    """Return the faults of the sentences of a file, which may have so many words, by their lines."""
    result = [fault for sentence in sentences(path, text) for fault in _sentence_faults(sentence, most_words)]
    if path.endswith(".py"):
        result += _opening_faults(_nodes(text))
    return sorted(result)


def count_words(sentence: str) -> int:
    """Return the number of words of a sentence."""
    return sum(re.search(r"\w", word) is not None for word in _ONE_WORD.sub("X", sentence).split())


def _sentence_faults(sentence: Sentence, most_words: int) -> Iterator[Fault]:
    count, plain = count_words(sentence.text), _ONE_WORD.sub("X", sentence.text)
    start = " ".join(sentence.text.split()[:8])
    if count > most_words:
        message = f"{count} words in a sentence, at most {most_words}: divide it: {start} ..."
        yield Fault(sentence.line, message, sentence.text)
    for match in () if any(part in plain for part in KEPT) else _GUESSED.finditer(plain):
        better = next(WORDS[word] for word in WORDS if match[0].lower().startswith(word))
        yield Fault(sentence.line, f"the word `{match[0]}`: write {better}: {start} ...", sentence.text)


_RIDDLE = re.compile(r"(?:Return|Yield) (?:what|how|where|which|who|whose|when|why)\b")


def _opening_faults(nodes: Iterable[ast.AST]) -> Iterator[Fault]:
    """Yield the docstrings that do not name the thing that comes back."""
    for node in nodes:
        text = ast.get_docstring(node) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
        match = _RIDDLE.match(text or "")
        if text and match:
            first = text.splitlines()[0]
            yield Fault(node.body[0].lineno, f"`{match[0]}`: name the thing: {first}", first)


@functools.lru_cache(maxsize=1)
def _nodes(text: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(text)))


def _value_faults(nodes: list[ast.AST], lines: Sequence[str]) -> Iterator[Fault]:
    bodies = (node.body for node in nodes if isinstance(node, ast.ClassDef))
    fields = {id(one.target) for body in bodies for one in body if isinstance(one, ast.AnnAssign)}
    for node in nodes:
        if not isinstance(node, (ast.arg, ast.Name)) or isinstance(getattr(node, "ctx", None), ast.Load):
            continue
        name = node.arg if isinstance(node, ast.arg) else node.id
        if name in VALUES and id(node) not in fields:
            line = lines[node.lineno - 1].strip()
            yield Fault(node.lineno, f"a value is called `{name}`: call it {VALUES[name]}: {line}", line)


def sentences(path: str, text: str) -> Iterator[Sentence]:
    """Yield the sentences of a page, or of the docstrings, comments, errors and help of a module."""
    lines = list(enumerate(text.splitlines(), 1))
    if path.endswith(".md"):
        yield from _of_lines(lines)
        return
    nodes = _nodes(text)
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield from _of_lines(_docstring(node, lines))
    for block in _comments(nodes, lines):
        yield from _of_lines(block)
    for line, message in _messages(nodes):
        yield from _of_lines([(line, part) for part in message.splitlines()])


Lines = Sequence[tuple[int, str]]
"""Lines of text with their numbers."""


def _docstring(node: ast.Expr, lines: Lines) -> Lines:
    """Return the lines of a docstring without its quotes; the first is indented like the others."""
    (number, first), *others = lines[node.lineno - 1 : node.end_lineno]
    opened = re.sub(r"""^\s*\w?("{3}|'{3}|"|')""", " " * node.col_offset, first)
    return [(one, re.sub(r"""("{3}|'{3}|"|')\s*$""", "", line)) for one, line in [(number, opened), *others]]


_COMMENT = re.compile(r"""((?:[^"'#]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')*)#(.*)""")
"""A line with a comment: the code in front, and what the comment says."""


def _comments(nodes: Iterable[ast.AST], lines: Lines) -> Iterator[Lines]:
    """Yield the blocks of comments; one behind code is a block."""
    texts = (node for node in nodes if isinstance(node, (ast.Constant, ast.JoinedStr)))
    ends = ((node.lineno, node.end_lineno or 0) for node in texts)
    within = {line for first, last in ends if first != last for line in range(first, last + 1)}
    block: list[tuple[int, str]] = []
    front: str | None = None
    for number, line in lines:
        match = _COMMENT.fullmatch(line) if "#" in line and number not in within else None
        if block and (match is None or match[1] != front or match[1].strip()):
            yield block
            block = []
        if match:
            front = match[1]
            block.append((number, match[2]))
    yield block


_HELP = {"help", "description", "epilog", "says"}
_SAYS = {"wrong_value", "unknown_name", "missing_extra", "at", "error", "warn", "exit", "fail"}
_LEAST_WORDS = 6
"""Shorter literals are names and the like."""


def _messages(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield the literals that errors and help are made of."""
    for node in nodes:
        if isinstance(node, ast.Call) and _is_error(node.func):
            parts: list[ast.AST] = [*node.args, *(word.value for word in node.keywords)]
        else:
            parts = [word.value for word in getattr(node, "keywords", []) if word.arg in _HELP]
        for line, text in (literal for part in parts for literal in _literals(part)):
            if len(text.split()) >= _LEAST_WORDS:
                yield line, text


def _is_error(called: ast.expr) -> bool:
    name = getattr(called, "attr", getattr(called, "id", ""))
    return name in _SAYS or name.endswith(("Error", "Warning", "Exception"))


def _literals(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.JoinedStr):
        words = (str(getattr(part, "value", "X")) if isinstance(part, ast.Constant) else "X" for part in node.values)
        yield node.lineno, "".join(words)
    elif isinstance(node, ast.Constant):
        yield from [(node.lineno, node.value)] if isinstance(node.value, str) else []
    elif not isinstance(node, ast.Call):
        for part in ast.iter_child_nodes(node):
            yield from _literals(part)


_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?=\S)")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_NO_TEXT = re.compile(r"\W*$|\s*(?:<!--|\{\{|:::)")


def _of_lines(lines: Lines) -> Iterator[Sentence]:
    """Yield the sentences of paragraphs, items of lists and cells of tables; code between fences has none."""
    block: list[tuple[int, str]] = []
    indent, fenced, example = 0, False, False
    for number, line in lines:
        fence = _FENCE.match(line) is not None
        example = (example and bool(line.strip())) or line.lstrip().startswith(">>>")
        cells = _cells(line)
        bullet = _BULLET.match(line)
        here = bullet.end() if bullet else len(line) - len(line.lstrip())
        if fence or fenced or example or len(cells) > 1 or _NO_TEXT.match(line) or bullet or here != indent:
            yield from _of_block(block)
            block = []
        fenced ^= fence
        if fence or fenced or example or _NO_TEXT.match(line):
            continue
        if len(cells) > 1:
            for cell in cells:
                yield from _of_block([(number, cell)])
            continue
        indent = here
        block.append((number, line[bullet.end() :] if bullet else line))
    yield from _of_block(block)


def _cells(line: str) -> list[str]:
    """Return the cells of a line of a table, of a page or of a docstring that aligns its columns."""
    return re.split(r"(?<!\\)\|" if line.lstrip().startswith("|") else r"\s{2,}", line.strip())


_END = re.compile(r"""(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bcf\.)(?<!\bvs\.)(?<!\bal\.)(?<!\.\.\.)["')*_]*\s+""")


def _of_block(block: Lines) -> Iterator[Sentence]:
    """Yield the sentences of lines that belong together, each with the line that it begins on."""
    starts, text = [], ""
    for _, line in block:
        starts.append(len(text))
        text += line.strip() + " "
    plain = _ONE_WORD.sub(lambda match: "X" * len(match[0]), text)
    begin = 0
    for end in [*(match.end() for match in _END.finditer(plain)), len(text)]:
        if text[begin:end].strip():
            yield Sentence(block[bisect_right(starts, begin) - 1][0], text[begin:end].strip())
        begin = end


def touched_faults(base: str) -> tuple[int, list[str]]:
    """Return how many files changed since a commit, and a line for each fault that the commit does not have."""
    changed = [path for path in _changed(base) if path.endswith((".md", ".py")) and not path.startswith(LEFT_OUT)]
    now = {path: (ROOT / path).read_text(encoding="utf-8") for path in changed if (ROOT / path).is_file()}
    there = [(path, fault) for path, text in now.items() for fault in faults(path, text)]
    if there:
        before: set[str] = set()
        for path in changed:
            text = _git("show", f"{base}:{path}") or ""
            before.update(sentence.text for sentence in sentences(path, text))
            before.update(line.strip() for line in text.splitlines())
        there = [(path, fault) for path, fault in there if fault.text not in before]
    return len(changed), [f"{path}:{fault.line}: {fault.message}" for path, fault in there]


def area_of(path: str) -> str | None:
    """Return the area of the pages or the package that a file belongs to, and None where it has none."""
    if path.startswith(LEFT_OUT) or not path.endswith((".md", ".py")):
        return None
    parts = path.split("/")
    if parts[0] == "workbench":
        return "/".join(parts[:2]) if len(parts) > 2 else "workbench"
    return path if len(parts) == 1 and path.endswith(".md") else parts[0] if parts[0] == "docs" else None


def tree_faults(texts: Mapping[str, str]) -> list[str]:
    """Return a line for each fault of the pages and the package, given their texts by path."""
    lines: list[str] = []
    lengths: dict[str, list[int]] = {}
    for path, text in texts.items():
        area = area_of(path)
        if area is None:
            continue
        lines += [f"{path}:{fault.line}: {fault.message}" for fault in prose_faults(path, text, LONGEST)]
        counts = (count_words(sentence.text) for sentence in sentences(path, text))
        lengths.setdefault(area, []).extend(count for count in counts if count > LEAST_OF_A_SENTENCE)
    for area, counted in lengths.items():
        median, long = statistics.median(counted or [0]), sum(count > MOST_WORDS for count in counted)
        if median > MEDIAN:
            lines.append(f"{area}: half of the sentences have {median:g} words and more, at most {MEDIAN}")
        if long > LONG_SHARE * len(counted):
            lines.append(f"{area}: {long} of {len(counted)} sentences have more than {MOST_WORDS} words, at most 5 %")
    return lines


def _texts() -> dict[str, str]:
    """Return the texts of the pages and the package by path."""
    paths = (_git("ls-files", "-z", "--cached", "--others", "--exclude-standard") or "").split("\0")
    return {
        path: (ROOT / path).read_text(encoding="utf-8") for path in paths if area_of(path) and (ROOT / path).is_file()
    }


def _changed(base: str) -> list[str]:
    """Return the paths that a commit and the working tree do not have alike."""
    tracked = _git("diff", "--name-only", "--no-renames", "-z", base) or ""
    new = _git("ls-files", "--others", "--exclude-standard", "-z") or ""
    return sorted({*tracked.split("\0"), *new.split("\0")} - {""})


def _git(*words: str) -> str | None:
    """Return what git prints, and None if it fails."""
    reply = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, encoding="utf-8")
    return reply.stdout if reply.returncode == 0 else None


def base_commit() -> str | None:
    """Return the commit that a change is compared with, and None if there is none."""
    parent = _git("rev-parse", "--verify", "--quiet", "HEAD~1")
    left = [] if os.environ.get("CI") else [_git("merge-base", "HEAD", main) for main in ("origin/main", "main")]
    return next((commit.strip() for commit in [*left, parent] if commit), None)


def main(arguments: Sequence[str] = ()) -> int:
    """Print the faults of touched sentences; return 1 if there is one."""
    base = arguments[0] if arguments else base_commit()
    files, lines = touched_faults(base) if base else (0, [])
    lines = list(dict.fromkeys([*lines, *tree_faults(_texts())]))
    sys.stdout.writelines(f"{line}\n" for line in lines)
    if not lines:
        sys.stdout.write(f"{files} touched files, no fault in their sentences\n" if files else "no touched sentences\n")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
