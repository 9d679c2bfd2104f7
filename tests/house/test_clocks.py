"""No test asserts how long something took, and none waits for luck: a busy machine may take a hundred times as long.

Work is counted (tests/work_counts.py) or timed in benchmarks/; what is about to happen is waited for by
tests/waiting.py, alone in reading a clock. A pause that is part of what is tested says on its line what it stands for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
MAY_READ_CLOCKS = {"waiting.py", "test_clocks.py", "campaign.py"}
"""Waiting, this file, and the fuzzing that goes on for so many seconds and asserts none."""
CLOCK = re.compile(r"\b(?:perf_counter|monotonic|process_time|thread_time|time\.time|timeit)(?:_ns)?\(")
PAUSE = re.compile(r"\bsleep\((?!0\))")
EXCUSE = "# stands for "
SPENT = re.compile(r"(?:^|_)(?:seconds|elapsed|took|duration_s)$")
SUSPECT = re.compile(r"(?:seconds|elapsed|took|duration_s)\b|\btimeout\b|\.(?:wait|join|communicate)\(\s*[\d.(]")
"""What a hasty wait or a bounded time cannot do without: no other file is parsed."""
LEAST_PATIENCE_SECONDS = 60


def faults(text: str) -> Iterator[str]:
    """What is wrong with the waits of a file of tests, a line each."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if CLOCK.search(line) and EXCUSE not in line:
            yield f"{number}: reads a clock; use wait_until, or count the work"
        if PAUSE.search(line) and EXCUSE not in line:
            yield f"{number}: sleeps; use wait_until, or say '{EXCUSE}...' on the line"
    for node in ast.walk(ast.parse(text)) if SUSPECT.search(text) else ():
        if isinstance(node, ast.Assert) and _bounds_a_time(node):
            yield f"{node.lineno}: asserts how long something took; count the work, or time it in benchmarks/"
        if isinstance(node, ast.Call) and _is_hasty(node) and EXCUSE not in lines[node.lineno - 1]:
            yield f"{node.lineno}: gives up within {LEAST_PATIENCE_SECONDS} s; a busy machine needs longer"


def _bounds_a_time(result: ast.Assert) -> bool:
    """Whether what is called a time is compared with a number."""
    return any(
        isinstance(node, ast.Compare)
        and any(isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in node.ops)
        and any(map(_is_spent, [node.left, *node.comparators]))
        and any(_number(side) not in (None, 0) for side in [node.left, *node.comparators])
        for node in ast.walk(result.test)
    )


def _is_spent(side: ast.expr) -> bool:
    name = side.attr if isinstance(side, ast.Attribute) else side.id if isinstance(side, ast.Name) else ""
    return bool(SPENT.search(name))


def _is_hasty(call: ast.Call) -> bool:
    """Whether a call gives up after few seconds."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    given = [word.value for word in call.keywords if word.arg == "timeout"]
    given += call.args[:1] if method in ("wait", "join", "communicate") else []
    return any((seconds := _number(one)) is not None and 0 < seconds < LEAST_PATIENCE_SECONDS for one in given)


def _number(side: ast.expr) -> float | None:
    return side.value if isinstance(side, ast.Constant) and type(side.value) in (int, float) else None


@pytest.mark.slow
def test_no_test_asserts_a_time_or_waits_for_luck():
    result = {
        str(path.relative_to(TESTS)): wrong
        for path in sorted(TESTS.rglob("*.py"))
        if path.name not in MAY_READ_CLOCKS and (wrong := list(faults(path.read_text(encoding="utf-8"))))
    }
    assert not result


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("began = time.perf_counter()", "1: reads a clock"),
        ("import time\nassert time.monotonic() < until", "2: reads a clock"),
        ("assert time.time() - began < 5", "1: reads a clock"),
        ("PROGRAM = '''\nimport time\ntime.sleep(2)\n'''", "3: sleeps"),
        ("async def turn():\n    await asyncio.sleep(0.3)", "2: sleeps"),
        ("assert results.seconds < 5", "1: asserts how long"),
        ("assert 0 < min(took) and took <= 0.5", "1: asserts how long"),
        ("process.wait(5)", "1: gives up"),
        ("thread.join(timeout=10)", "1: gives up"),
        ("subprocess.run(command, timeout=30)", "1: gives up"),
    ],
)
def test_what_is_forbidden_is_found(text, said):
    assert any(one.startswith(said) for one in faults(text))


@pytest.mark.parametrize(
    "text",
    [
        "time.sleep(1000)  # stands for a run that hangs",
        "await asyncio.sleep(0)",
        "assert found.seconds > 0",
        "assert told.seconds == 3.5",
        "process.wait(120)",
        "process.wait()",
        "page.goto(address, timeout=90_000)",
        "' '.join(words)",
        "wait_until(lambda: found, seconds=5)",
    ],
)
def test_what_is_allowed_is_not(text):
    assert not list(faults(text))
