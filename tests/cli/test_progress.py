"""The progress bar: one line that changes in a terminal, without colours where they are not wanted, quiet elsewhere."""

from __future__ import annotations

import io
import os
import pty
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import redirect_stderr
from typing import Any

import pytest

import workbench as wb
from tests.tuning.small import small
from workbench.experiments.progress import Bar, Pace, Silent, kind_of
from workbench.runs.output import routed
from workbench.runs.row import Row
from workbench.tuning import tune

COLOUR = re.compile(r"\x1b\[[0-9;]*[39][0-9;]*m")
FRAME = re.compile(r"\r\x1b\[2K|\r|\n")
MOST_BYTES = 20_000
"""Of a bar of a few seconds: ten frames a second, each below two hundred."""


class Terminal:
    """Both ends of a terminal: what is written into it can be read afterwards."""

    def __init__(self) -> None:
        master, slave = pty.openpty()
        self.stream = os.fdopen(slave, "w")
        self._pieces: list[bytes] = []
        self._reader = threading.Thread(target=self._read, args=(master,))
        self._reader.start()

    def __enter__(self) -> None:
        self._before, sys.stderr = sys.stderr, self.stream

    def __exit__(self, *_: object) -> None:
        sys.stderr = self._before

    def _read(self, master: int) -> None:
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other end was closed
                os.close(master)
                return
            self._pieces.append(piece)

    def text(self) -> str:
        """All of it, after which nothing can be written any more."""
        if not self.stream.closed:
            self.stream.close()
        self._reader.join()
        return b"".join(self._pieces).decode()

    def frames(self) -> list[str]:
        """What stood in the line, one after the other, without its colours."""
        plain = (re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", frame).strip() for frame in FRAME.split(self.text()))
        return [frame for frame in plain if frame]


@pytest.fixture
def terminal(monkeypatch) -> Iterator[Terminal]:
    one = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    yield one
    one.text()


SWEEP: dict[str, Any] = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 20},
    "policy": {"placement": {"vary": ["first_fit", "best_fit"]}},
    "measures": ["drain_cycles"],
    "seeds": 20,
}


def ended(seed: int, status: str = "done") -> Row:
    return Row(f"r{seed}", "p", seed, status, "", 0.0, {})


def test_a_sweep_in_a_terminal_is_one_line_that_changes_and_ends_full(terminal):
    with terminal:
        wb.run(SWEEP, progress=Bar(), workers=1)
    frames = terminal.frames()
    assert len(terminal.text()) < MOST_BYTES
    assert all(frame.startswith("runs ") for frame in frames)
    assert "40/40" in frames[-1]
    assert "left" not in frames[-1]
    assert COLOUR.search(terminal.text())


def test_no_color_is_heard(terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    with terminal:
        wb.run(SWEEP, progress=Bar(), workers=1)
    assert "40/40" in terminal.frames()[-1]
    assert not COLOUR.search(terminal.text())


def test_what_is_said_meanwhile_stands_above_the_bar_as_it_was_written(terminal):
    bar = Bar()
    with terminal, routed():
        bar.begin(2, 0)
        bar.say("[bold] a line of a run [2/3]")
        bar.advance(ended(1))
        bar.advance(ended(2, "failed"))
        bar.end()
    frames = terminal.frames()
    assert "[bold] a line of a run [2/3]" in frames
    assert "1 failed" in frames[-1]
    assert all("runs" in frame or "a line" in frame for frame in frames)


def test_a_finished_study_ends_on_the_runs_that_were_needed(terminal):
    with terminal:
        tune(small(), progress=Bar())
    frames = terminal.frames()
    begins = max(k for k, frame in enumerate(frames) if " 0/" in frame)
    tuned, fresh = frames[begins - 1], frames[-1]
    done, needed = map(int, re.search(r"(\d+)/(\d+)", tuned).groups())
    assert 0 < done == needed < 40
    assert "left" not in tuned + fresh


def test_a_pace_counts_what_is_left_without_what_is_not_needed():
    now = [0.0]
    pace = Pace(100, 0, clock=lambda: now[0])
    for second in (1.0, 2.0):
        now[0] = second
        pace.count(failed=False)
    assert pace.line() == "2 of 100 runs, 1.0/s, 1 min 38 s left"
    pace.skip(90)
    assert pace.line() == "2 of 10 runs, 1.0/s, 8 s left"
    pace.skip(90)
    assert pace.line() == "2 runs, 98 of 100 were not needed, 1.0/s"


def test_what_earlier_trials_have_tried_is_counted_off_as_the_study_goes_on():
    class Counted(Silent):
        left, done = 20 * 2, 0

        def advance(self, row: Row) -> None:
            if row.seed < 100:
                self.left, self.done = self.left - 1, self.done + 1

        def skip(self, runs: int) -> None:
            self.left -= runs

    watch = Counted()
    results = tune(small(), progress=watch)
    different = {trial.point for trial in results.all_trials}
    assert len(different) < len(results.all_trials)
    assert watch.done == 2 * len(different)
    assert watch.left == 0


@pytest.mark.parametrize("colour", [{}, {"FORCE_COLOR": "1"}, {"NO_COLOR": "1"}], ids=["plain", "forced", "none"])
def test_into_a_pipe_nothing_is_written(monkeypatch, colour):
    for name, value in colour.items():
        monkeypatch.setenv(name, value)
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream, os.fdopen(reading) as read:
        with redirect_stderr(stream):
            wb.run(SWEEP, progress=Bar(), workers=1)
        stream.close()
        assert read.read() == ""


def test_what_a_stream_leads_to(terminal, tmp_path, monkeypatch):
    with open(tmp_path / "log", "w") as log:
        assert kind_of(log) == "log"
    assert kind_of(terminal.stream) == "terminal"
    assert kind_of(io.StringIO()) == "pipe"
    monkeypatch.setenv("TERM", "dumb")
    assert kind_of(terminal.stream) == "log"


def test_a_quiet_bar_says_nothing_of_runs_in_a_terminal_either(terminal):
    with terminal:
        wb.run(SWEEP, progress=Bar(quiet=True), workers=1)
    assert terminal.text() == ""
