"""Which kind of requests does an engine serve, and which workloads give them? What gives others is refused."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.errors import InputError, at, nearest_name
from workbench.workloads.workload import KINDS, Workload


def check_kind(found: type[Workload], wants: str, what: str, known: Iterable[str], where: str = "") -> None:
    """Refuse a workload that gives something else than an engine serves.

    Parameters
    ----------
    wants : str
        The method of a workload that the engine asks: one of `KINDS`.
    what : str
        What the user wrote, as messages name it: `regime large_uniform`.
    known : names
        What could stand there instead.

    Raises
    ------
    InputError
        It does not give what is wanted: one sentence that names what would.

    Examples
    --------
    >>> from workbench.workloads.file import WorkgroupFile
    >>> known = ["group_file", "random_groups"]
    >>> check_kind(WorkgroupFile, "groups", "workgroup_file", known, "a.yaml")  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    workbench.errors.InputError: a.yaml: workgroup_file gives workgroups where the engine serves groups; there are
    group_file, random_groups. Did you mean group_file?
    """
    if found.gives(wants):
        return
    gives = " and ".join(kind for kind in KINDS if found.gives(kind)) or "nothing"
    names = sorted(known)
    guess = nearest_name(what.split()[-1], names)
    cure = f" Did you mean {guess}?" if guess else ""
    there = f"there are {', '.join(names)}" if names else "there are none"
    raise InputError(at(where, f"{what} gives {gives} where the engine serves {wants}; {there}.{cure}"))
