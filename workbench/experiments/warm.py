"""Warm-up: compile a mechanism once, before many runs or many processes would all wait for the same compilation."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from workbench.compiled.cache import cache_folder
from workbench.engines.engine import Setup
from workbench.experiments.mechanism import mechanism
from workbench.experiments.work import work

Say = Callable[[str], Any]


def warm_up(setup: Setup, say: Say) -> None:
    """Do the smallest run of a setup's mechanism unless it was done since the sources last changed, and say so."""
    marker = cache_folder() / f"{setup.engine}.warm"
    if marker.is_file():
        return
    mechanism(setup.engine)
    say(f"compiling the engine {setup.engine} (once; it is kept on disk) ...")
    began = time.perf_counter()
    work(setup, [("", "", 0)])
    say(f"compiled in {time.perf_counter() - began:.0f} s")
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.touch()
