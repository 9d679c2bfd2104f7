"""SciPy's linear algebra is imported when compiled code calls it, not when Numba begins.

Numba asks at its first compilation, or first look at a compiled file, whether there is a BLAS, by importing SciPy's: a
quarter of a second in every process, though no kernel of this package calls it. Until somebody reads an attribute of
that module, a stand-in takes its place.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

NAME = "scipy.linalg.cython_blas"


class _Later(ModuleType):
    """Stands for the module until an attribute of it is read."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def import_blas_later() -> None:
    """Let the stand-in take its place, unless the module itself is there."""
    sys.modules.setdefault(NAME, _Later(NAME))
