"""Whatever a command compiles, it says so first: nobody waits a minute in silence."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager

from workbench.compiling import COMPILING


def compile_notice() -> AbstractContextManager[None]:
    """Return a context within which the first compilation of each engine is said on standard error."""
    return COMPILING.told(_tell)


def _tell(module: str) -> None:
    from workbench.experiments.mechanism import say_as_it_compiles  # with a compiler at work, its room is loaded anyway

    say_as_it_compiles(lambda line: print(line, file=sys.stderr, flush=True))(module)
