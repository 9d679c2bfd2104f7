"""The answer to an out-of-memory message: its verdict in one line, what to do, what to record next.

`advise_message(text)` reads a message, a log with messages of several ranks, or statistics of PyTorch's allocator.
`bounds_of(advice)` is what a message adds to a snapshot: the card's size, what lies outside the allocator, the request.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from workbench.advice.messages.forms import Message, has_mark, messages_in
from workbench.advice.messages.next_steps import NextSteps, next_steps, steps_of_statistics
from workbench.advice.messages.statistics import Statistics, statistics_in
from workbench.advice.messages.verdict import VERDICTS, Verdict, size_text, verdict_of, verdict_of_statistics
from workbench.errors import InputError
from workbench.workloads.catalogue import trace_file
from workbench.workloads.importers.importer import importers
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.unreadable import refuse_unreadable

SCHEMA = "workbench.message/1"
MOST_MESSAGES = 16
"""Messages that are shown; a log of many ranks has more."""
CURE = "paste the whole error, from its first line to its last"


class Finding(NamedTuple):
    """One message, or one set of statistics, with its verdict."""

    subject: Message | Statistics
    verdict: Verdict
    steps: NextSteps
    times: int = 1

    @property
    def line(self) -> str:
        """Return the verdict in one line, with whose message it is and which line asked."""
        it = self.subject
        parts = [] if isinstance(it, Statistics) or not it.label else [it.label]
        parts += [] if it.device is None else [f"GPU {it.device}"]
        requested = "" if isinstance(it, Statistics) or not it.asked_by else f" Asked by {it.asked_by}."
        times = f" ({self.times} times)" if self.times > 1 else ""
        return f"{', '.join(parts)}{': ' if parts else ''}{self.verdict.sentence}{requested}{times}"


class MessageBounds(NamedTuple):
    """What a message tells about the card that a snapshot is of, in bytes; None = not told."""

    card_bytes: int | None
    outside_bytes: int | None
    """What other processes, contexts and libraries hold."""
    asked_bytes: int | None

    @property
    def usable_bytes(self) -> int | None:
        """Return the bytes that PyTorch's allocator can have on this card."""
        if self.card_bytes is None:
            return None
        return self.card_bytes - (self.outside_bytes or 0)


class MessageAnswer:
    """What out-of-memory messages say about their cause; in a notebook it shows itself."""

    def __init__(self, where: str, findings: list[Finding], is_file: bool = False) -> None:
        self.where = where
        self.findings = findings
        self.is_file = is_file
        """Whether `where` names a file, which a further command can be given."""

    def lines(self) -> list[str]:
        """Return a line a message, what to do, and what to record next."""
        rows = self.findings[:MOST_MESSAGES]
        more = len(self.findings) - len(rows)
        lines = [finding.line for finding in rows]
        lines += [f"{more:,} more messages are not shown."] * (more > 0)
        steps = list(dict.fromkeys((finding.verdict.details, finding.steps) for finding in rows))
        lines += dict.fromkeys(sentence for details, it in steps for sentence in (*details, *it.actions))
        recordings = sorted(((it.record, it.then) for _, it in steps if it.record), key=lambda it: -len(it[0]))
        for record, then in recordings[:1]:  # the longest: a snapshot tells all that the others do
            lines += ["Record next:", *(f"    {line}" for line in record)]
            lines += [f"Then: {then.replace('FILE', self.where if self.is_file else 'FILE')}"] * bool(then)
        return lines

    def plain(self) -> dict[str, Any]:
        """Return everything as plain types, as `workbench advise --json` prints it."""
        return {
            "schema": SCHEMA,
            "file": self.where,
            "lines": self.lines(),
            "messages": [_plain(finding) for finding in self.findings],
        }

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def text_of(named: str) -> tuple[str, str] | None:
    """Return a text with messages and its name; None if the name is that of a snapshot or a trace.

    Parameters
    ----------
    named : str
        A file, `-` for standard input, or the message itself.

    Raises
    ------
    InputError
        There is no such file, or it cannot be read.
    """
    if named == "-":
        if sys.stdin.isatty():
            print("Paste the message, then press Ctrl-D on a line of its own.", file=sys.stderr, flush=True)
        return sys.stdin.buffer.read().decode(errors="replace"), "standard input"
    if not os.path.exists(named) and is_message(named):
        return named, "the text"
    source = Source(trace_file(named))
    if source.head.startswith(b"\x80"):
        return None  # a pickle
    if b"\0" in source.head or any(importer.recognises_source(source) for importer in importers().values()):
        return None
    refuse_unreadable(source)
    return source.whole().decode(errors="replace"), named


def is_message(text: str) -> bool:
    """Return whether a text, and no name of a file, was given: it has spaces and words of a message."""
    return len(text.split()) > 3 and has_mark(text)


def advise_message(text: str, where: str = "the text", card_bytes: int | None = None) -> MessageAnswer:
    """Return the cause that a text with out-of-memory messages states.

    Parameters
    ----------
    text : str
        A message, a log that holds some, `torch.cuda.memory_summary()`, or `memory_stats()` as JSON.
    where : str
        The name of the text, for a sentence about what is wrong with it.
    card_bytes : int, optional
        Bytes of the card, for messages that do not tell it.

    Raises
    ------
    InputError
        The text holds no message that is known, or one that is cut off before its numbers.

    Examples
    --------
    >>> it = advise_message("CUDA out of memory. Tried to allocate 9.00 GiB. GPU 0 has a total capacity of 8.00 GiB")
    >>> it.lines()[0]
    'GPU 0: The request alone is larger than the card: 9.00 GiB asked of 8.00 GiB.'
    """
    messages, cut = messages_in(text)
    if messages:
        return MessageAnswer(where, _findings(messages, card_bytes))
    statistics = statistics_in(text)
    if statistics:
        verdicts = [verdict_of_statistics(it, card_bytes) for it in statistics]
        findings = [Finding(it, one, steps_of_statistics(one)) for it, one in zip(statistics, verdicts, strict=True)]
        return MessageAnswer(where, findings)
    if cut:
        raise InputError(f"{where}: the message {cut[0]}.")
    what = "is no trace that is read here, and holds" if os.path.exists(where) else "holds"
    raise InputError(f"{where}: {what} no out-of-memory message of PyTorch, JAX or RMM; {CURE}.")


def answers_of(named: Sequence[str], card_bytes: int | None = None) -> tuple[MessageAnswer | None, list[str]]:
    """Return the answer to all messages among some files and texts, and the other files: snapshots and traces.

    Raises
    ------
    InputError
        One of them cannot be read, or is neither.
    """
    findings: list[Finding] = []
    wheres: list[str] = []
    others: list[str] = []
    for name in named:
        text = text_of(name)
        if text is None:
            others.append(name)
            continue
        findings += advise_message(*text, card_bytes).findings
        wheres.append(text[1])
    is_file = len(wheres) == 1 and os.path.exists(wheres[0])
    return (MessageAnswer(", ".join(wheres), findings, is_file) if findings else None), others


def _findings(messages: list[Message], card_bytes: int | None) -> list[Finding]:
    findings = []
    for message in messages:
        if message.capacity is None and card_bytes is not None:
            message = message._replace(capacity=card_bytes)
        verdict = verdict_of(message)
        findings.append(Finding(message, verdict, next_steps(message, verdict)))
    return findings


def bounds_of(it: MessageAnswer) -> MessageBounds:
    """Return the card's size, what lies outside the allocator, and the request; of several cards, of the fullest."""
    bounds = [
        MessageBounds(one.subject.capacity, one.subject.outside, one.subject.requested)
        for one in it.findings
        if isinstance(one.subject, Message) and one.subject.place == "the card"
    ]
    known = [one for one in bounds if one.usable_bytes is not None]
    return min(known, key=lambda one: one.usable_bytes or 0, default=MessageBounds(None, None, None))


def bounds_sentence(bounds: MessageBounds) -> str:
    """Return the facts that a message adds to the advice on a snapshot."""
    if bounds.card_bytes is None:
        return "The message does not tell the card's size."
    outside = bounds.outside_bytes or 0
    if not outside:
        return f"By the message, the card has {size_text(bounds.card_bytes)}."
    return (
        f"By the message, the card has {size_text(bounds.card_bytes)}, and {size_text(outside)} of it lies outside "
        f"this allocator: {size_text(bounds.card_bytes - outside)} are left."
    )


def _plain(finding: Finding) -> dict[str, Any]:
    it, verdict = finding.subject, finding.verdict
    numbers = {name: value for name, value in it._asdict().items() if value not in (None, "")}
    return {
        "verdict": verdict.kind,
        "line": finding.line,
        "must_go_bytes": verdict.must_go,
        "details": list(verdict.details),
        "actions": list(finding.steps.actions),
        "record": list(finding.steps.record),
        "numbers": numbers,
    }


MESSAGE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["schema", "file", "lines", "messages"],
    "properties": {
        "schema": {"const": SCHEMA},
        "lines": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "messages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["verdict", "line", "must_go_bytes", "details", "actions", "record", "numbers"],
                "properties": {
                    "verdict": {"enum": list(VERDICTS)},
                    "must_go_bytes": {"type": ["integer", "null"], "minimum": 0},
                    "numbers": {"type": "object"},
                },
            },
        },
    },
}
"""The JSON schema of what `--json` prints of messages."""
