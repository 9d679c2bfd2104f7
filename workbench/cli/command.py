"""What a command is: a name, a sentence, its arguments, and what it does."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

DONE, SOME_FAILED, WRONG_INPUT = 0, 1, 2
"""Exit statuses."""


class Command(NamedTuple):
    """One word after `workbench`."""

    name: str
    says: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
