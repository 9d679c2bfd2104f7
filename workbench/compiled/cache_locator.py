"""Where Numba puts the compiled form of one function of this package: into the folder of its module (`cache.py`).

Numba's own locators name the folder after the absolute path of the source, so that a second clone with equal sources
would compile everything again.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile, UserProvidedCacheLocator

_config: Any = numba.config


class PackageCacheLocator(UserProvidedCacheLocator):
    """Puts a function into the folder that Numba's setting names while it is defined, wherever the clone lies.

    The index holds a digest of the file's contents beside it, as with Numba's own locators.
    """

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = _config.CACHE_DIR


LOCATOR = f"{__name__}.{PackageCacheLocator.__name__}"
"""The locator by name, as Numba's setting takes it."""


class KeptIndex(IndexDataCacheFile):
    """The index of a function's compiled forms; empty where it names a class that has moved to another module since,
    which would raise in whoever loads it."""

    def _load_index(self) -> dict[Any, str]:
        try:
            kept: dict[Any, str] = super()._load_index()
        except (ImportError, AttributeError):
            return {}
        return kept
