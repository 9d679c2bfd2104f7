"""The first compilation of an engine, in a process of its own: it goes on where the page is closed meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from workbench.compiled import INTERPRETED
from workbench.dashboards._background import has_loop
from workbench.dashboards._elements import small_print
from workbench.dashboards.served_notebook import SERVED
from workbench.mechanisms.compilation import USUAL_SECONDS, expected_seconds, is_compiled

_PROGRAM = "from workbench.dashboards import dashboard; dashboard({!r})"
"""Opens the page without a browser, which runs all that its first picture needs."""


class FirstCompile:
    """Compiles an engine that was not compiled here, while the page's own kernel answers."""

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._process: subprocess.Popen[bytes] | None = None
        self._began = self._expected = 0.0

    def runs(self) -> bool:
        """Begin if that is needed, and return whether it still runs.

        Where no page listens (a script, a test) there is nothing to wait for, and the first run compiles. An engine of
        the user's is known to this process alone.
        """
        if self._process is None and self._is_needed():
            self._began, self._expected = time.monotonic(), expected_seconds(self._engine)
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM.format(self._engine)],
                env={name: value for name, value in os.environ.items() if name != SERVED},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # the end of the kernel is not its own
            )
        return self._process is not None and self._process.poll() is None

    def progress(self) -> str:
        """Return the progress, as HTML: a bar, and the seconds so far of those that it took before."""
        spent = time.monotonic() - self._began
        about = f"{spent:.0f} of about {self._expected:.0f} s"
        late = f"{spent:.0f} s, {self._expected:.0f} were expected"
        words = (
            f"The engine {self._engine} is compiled, once on this machine: {about if spent < self._expected else late}."
        )
        share = min(spent / max(self._expected, 1), 0.99)
        return f'<progress value="{share:.3f}"></progress> {small_print(f"{words} Below is a recorded run.")}'

    def _is_needed(self) -> bool:
        return not INTERPRETED and has_loop() and self._engine in USUAL_SECONDS and not is_compiled(self._engine)
