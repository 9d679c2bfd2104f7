"""Levers that hold one number for each of something: each priority, each channel."""

from __future__ import annotations

from workbench.errors import wrong_value


def refuse_wrong_count(name: str, given: tuple[int, ...], count: int, of: str, where: str = "", cure: str = "") -> None:
    """Refuse a list that does not hold one number for each; the nearest one is cut, or repeats its last number.

    Parameters
    ----------
    name : str
        The lever's path, as in `policy.priority.lengths`.
    given : tuple of int
        What the lever holds; empty stands for a default that fits every count.
    count : int
        How many there are.
    of : str
        Of what, in the plural.
    where, cure : str
        The sweep file; another way out, if there is one.

    Raises
    ------
    InputError
        The list is not empty and has another length.

    Examples
    --------
    >>> refuse_wrong_count("weights", (3,), 2, "channels")
    Traceback (most recent call last):
    workbench.errors.InputError: weights must hold one number for each of the 2 channels. Got (3,). Nearest: (3, 3).
    """
    if not given or len(given) == count:
        return
    nearest = (given + given[-1:] * count)[:count]
    raise wrong_value(where, name, f"must hold one number for each of the {count} {of}{cure}", given, nearest)


def lever_path(path: str, name: str, lever: str) -> str:
    """Return a lever's path in a sweep file, or with the policy's own name where there is no file.

    >>> lever_path("policy.priority.priority_windows", "priority_windows", "lengths")
    'policy.priority.priority_windows.lengths'
    >>> lever_path("", "priority_windows", "lengths")
    'priority_windows.lengths'
    """
    return f"{path or name}.{lever}"
