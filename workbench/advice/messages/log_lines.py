"""The lines of a log around an out-of-memory message: without labels of ranks and loggers, and who asked.

Programs of several ranks write into one log. A launcher or a logger puts a label before each line, so the traceback of
a message is made of the lines with the same label.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

BEFORE, BEHIND = 400, 40
"""Lines before a message in which its traceback is looked for, and behind its first line."""
_LABELS = (
    re.compile(r"\[(?:default|rank ?)?(?P<rank>\d{1,5})\]:? ?(?=\S|\s)"),  # torchrun --tee, torch.distributed
    re.compile(r"\[\d+,(?P<rank>\d{1,5})\]<std(?:err|out)>: ?"),  # mpirun --tag-output
    re.compile(r"\((?P<name>[A-Z]\w*(?: [\w.]+)*(?: (?:rank|pid|ip|actor_id)=[^ ,)]+,?)+)\) ?"),  # Ray, vLLM
    re.compile(r"(?P<rank>\d{1,5}): (?=\S|\s)"),  # srun --label
)
_NOISE = re.compile(
    r"(?:"
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S* "  # a date, of GitHub's logs and others
    r"|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d (?:\[[^\]\n]*\] ?)?"  # vLLM
    r"|[>#│|]+(?: |$)"  # a quotation, a comment, the frame of a box
    r"|E   (?: {3})?(?=\S)"  # pytest
    r")"
)
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_TRACEBACK = re.compile(r"Traceback \(most recent call last\)")
_FRAMES = (
    re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<function>[^\n(]+))?'),  # Python
    re.compile(r"File (?P<path>[^\s:]+|[A-Za-z]:[^\s:]+):(?P<line>\d+),? in (?P<function>[\w.<>]+)"),  # IPython
    re.compile(r"(?P<path>Cell In ?\[\d+\]), line (?P<line>\d+)"),  # IPython, a cell
    re.compile(
        r"^(?P<path>\S+\.py):(?P<line>\d+)(?:: in (?P<function>\w+)| in (?P<rich>\w+)|: \w*Error)"
    ),  # pytest, rich
)
_OLD_IPYTHON = re.compile(r"^(?P<path>\S+\.py|<ipython-input-\d+-\w+>) in (?P<function>[\w.<>]+)")
_ARROW = re.compile(r"^-+> *(?P<line>\d+)")
_LIBRARY = re.compile(
    r"site-packages|dist-packages|[\\/](?:torch|jax|jaxlib)[\\/]|[\\/]lib[\\/]python\d|torchinductor|^<(?!ipython)",
    re.I,
)


class Excerpt(NamedTuple):
    """What a log says around one message."""

    text: str
    """The message and what stands behind it, labels taken away."""
    before: Sequence[str]
    """The lines before it, with the same label."""
    label: str
    """Whose lines they are, such as `rank 1`; empty where no label stands."""


def excerpt_at(lines: Sequence[str], place: int) -> Excerpt:
    """Return the lines around the line that a message begins in, as far as they have its label."""
    window = [_labelled(line) for line in lines[max(place - BEFORE, 0) : place + 1 + BEHIND]]
    at = min(place, BEFORE)
    label = window[at][0]
    if label.startswith("#") and sum(one == label for one, _ in window) < 2:  # a line's number, no rank
        window = [(one if one != label else "", body) for one, body in window]
        label = ""
    same = [(k, body) for k, (one, body) in enumerate(window) if one == label]
    return Excerpt(
        text="\n".join(body for k, body in same if k >= at),
        before=[body for k, body in same if k < at],
        label=f"rank {label[1:]}" if label.startswith("#") else label,
    )


@lru_cache(maxsize=1 << 14)
def _labelled(line: str) -> tuple[str, str]:
    """Return the label of a line, a rank with `#` before it, and what stands behind it.

    >>> _labelled("[rank1]:     loss.backward()"), _labelled("(Worker rank=1 pid=7) ERROR 01-02 03:04:05 [a.py:1] x")
    (('#1', '    loss.backward()'), ('Worker rank=1 pid=7', 'x'))
    """
    line = _ANSI.sub("", line).rstrip("\r\n")
    label = ""
    for kind in _LABELS:
        if (match := kind.match(line)) is not None:
            groups = match.groupdict()
            label = f"#{int(groups['rank'])}" if groups.get("rank") else groups.get("name") or ""
            line = line[match.end() :]
            break
    while (noise := _NOISE.match(line)) is not None:
        line = line[noise.end() :]
    return label, line


def asked_by(excerpt: Excerpt) -> str:
    """Return the line of the user's code that asked, as `model.py:39 forward`; empty where no traceback stands.

    It is the last line of the traceback outside installed packages. If all lines are of packages, the last one outside
    PyTorch and JAX counts.
    """
    lines = list(excerpt.before)
    begins = [k for k, line in enumerate(lines) if _TRACEBACK.search(line)]
    frames = _frames(lines[begins[-1] :] if begins else lines[-BEHIND:])
    own = [frame for frame in frames if not _LIBRARY.search(frame[0])]
    outside = [
        frame for frame in frames if not re.search(r"[\\/](?:torch|jax|jaxlib)[\\/]|^<|_python_dispatch", frame[0])
    ]
    chosen = (own or outside or frames)[-1:]
    return "".join(_place(*frame) for frame in chosen)


def _frames(lines: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return path, line and function of each frame, the innermost last."""
    frames: list[tuple[str, str, str]] = []
    waiting: tuple[str, str] | None = None
    for line in lines:
        if waiting is not None and (arrow := _ARROW.match(line)) is not None:
            frames.append((waiting[0], arrow["line"], waiting[1]))
            waiting = None
        elif (old := _OLD_IPYTHON.match(line)) is not None:
            waiting = old["path"], old["function"]
        elif match := next(filter(None, (kind.search(line) for kind in _FRAMES)), None):
            groups = match.groupdict()
            function = groups.get("function") or groups.get("rich") or ""
            frames.append((groups["path"] or "", groups["line"] or "", function.strip()))
    return frames


def _place(path: str, line: str, function: str) -> str:
    """Return a frame as one reads it.

    >>> _place("/home/me/net/model.py", "39", "forward"), _place("Cell In[3]", "4", ""), _place("a.py", "1", "<module>")
    ('net/model.py:39 forward', 'Cell In[3]:4', 'a.py:1')
    """
    parts = re.split(r"[\\/]", path)
    name = "/".join(parts[-2:]) if len(parts) > 1 and parts[-2] else parts[-1]
    return f"{name}:{line}" + ("" if function in ("", "<module>") else f" {function}")
