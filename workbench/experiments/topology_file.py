"""The topology file that a sweep's machine names: where it lies, or the name of a public one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.workloads.catalogue import catalogue, locate

KEY = "topology"


def with_topology(raw: Any, folder: Path) -> Any:
    """Return what a sweep says of its machine with the path of its topology file, as seen from the sweep's folder.

    A file that is there comes first, then a public trace of that name; what is neither stays, for its reader to refuse.

    >>> with_topology({"topology": "absent.xml", "card_bytes": 100}, Path("."))
    {'topology': 'absent.xml', 'card_bytes': 100}

    Raises
    ------
    InputError
        It is a public topology that is not on this machine.
    """
    if not isinstance(raw, Mapping) or not isinstance(raw.get(KEY), str):
        return raw
    name = raw[KEY]
    file = next((path for path in (folder / name, Path(name)) if path.is_file()), None)
    if file is None and name in catalogue():
        file = locate(name)
    return raw if file is None else {**raw, KEY: str(file)}
