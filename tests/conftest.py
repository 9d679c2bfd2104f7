"""Settings of all tests, what they skip by name, and what is said about it in the end."""

from __future__ import annotations

from hypothesis import settings

from tests import needs
from workbench.compiled import INTERPRETED

# The first call of compiled code waits for its compilation. Interpreted, the same code meets fewer examples: it is slow
# there, and what is looked for is a difference between the two ways of running, not a rare input.
settings.register_profile("compiled", deadline=None)
settings.register_profile("interpreted", deadline=None, max_examples=30)
settings.load_profile("interpreted" if INTERPRETED else "compiled")


def pytest_runtest_setup(item):
    for marker in item.iter_markers("needs"):
        for name in marker.args:
            needs.require(name)


def pytest_terminal_summary(terminalreporter):
    skipped = terminalreporter.stats.get("skipped", [])
    counts = needs.counted(str(report.longrepr[2]) for report in skipped)
    if counts:
        terminalreporter.section("not tested")
        for line in needs.report(counts, counts):
            terminalreporter.write_line(line)
