"""What a user may add: named parts of a kind, each with a registry; a file or a notebook cell brings one along.

Registry         the parts of one kind by name: the package's own, which cannot be replaced, and the user's Guests
how the parts of a kind join that installed packages bring Part             one of them as a table shows it: kind, name,
description, origin remove(...)      take one of the user's out again from_file(...)   the part that `FILE.py:NAME`
names: a class or a function that is called so there entered_by_file  the NAME, where parts are entered by a name: a
figure, a claim, a dashboard
"""

from workbench.parts.registry import Guests, Part, Registry, attribute, listed, remove
from workbench.parts.user_files import (
    entered_by_file,
    file_and_name,
    files_named,
    from_file,
    is_in_file,
    module_in_file,
)

__all__ = [
    "Guests",
    "Part",
    "Registry",
    "attribute",
    "entered_by_file",
    "file_and_name",
    "files_named",
    "from_file",
    "is_in_file",
    "listed",
    "module_in_file",
    "remove",
]
