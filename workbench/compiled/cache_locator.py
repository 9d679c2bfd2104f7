"""Where Numba puts the compiled form of one function of this package: by the file's place in the package.

Numba's own locators name the folder after the absolute path of the source, so that a second clone with equal sources
would compile everything again.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import UserProvidedCacheLocator

_config: Any = numba.config
_ROOT = Path(__file__).parent.parent


class PackageCacheLocator(UserProvidedCacheLocator):
    """Puts `workbench/engines/pool/loop.py` into the sub-folder `engines.pool`, wherever the clone lies.

    The index holds a digest of the file's contents beside it, as with Numba's own locators.
    """

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        folder = Path(os.path.abspath(py_file)).parent.relative_to(_ROOT)
        self._cache_path = os.path.join(_config.CACHE_DIR, ".".join(folder.parts))


LOCATOR = f"{__name__}.{PackageCacheLocator.__name__}"
"""The locator by name, as Numba's setting takes it."""
