"""The topology file that a sweep's machine names: where it lies, or the name of a public one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.workloads.catalogue import catalogue, locate

KEY = "topology"


def with_topology(said: Any, folder: Path) -> Any:
    """What a sweep says of its machine with the path of its topology file, as seen from the sweep's folder.

    A file that is there comes first, then a public trace of that name; what is neither stays, for its reader to refuse.

    >>> with_topology({"topology": "absent.xml", "card_bytes": 100}, Path("."))
    {'topology': 'absent.xml', 'card_bytes': 100}

    Raises
    ------
    InputError
        It is a public topology that is not on this machine.
    """
    if not isinstance(said, Mapping) or not isinstance(said.get(KEY), str):
        return said
    name = said[KEY]
    found = next((path for path in (folder / name, Path(name)) if path.is_file()), None)
    if found is None and name in catalogue():
        found = locate(name)
    return said if found is None else {**said, KEY: str(found)}
