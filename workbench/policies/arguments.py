"""What a policy is given in plain Python: whole numbers in their range, lists of them, weights, one sentence otherwise.

Engines ask checked questions and never come here; these functions stand at the door of the methods by which a policy is
tried out (`place`, `split`, `offsets`, ...), and of levers that hold one number for each of something: choices,
priorities, channels. Weights of the wrong number, or all zero, are refused; sums within sums are laid flat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import wrong_value
from workbench.levers import Lever

MOST = 1 << 62
"""The largest number that compiled code can still add to."""
MOST_BYTES = 1 << 50
MOST_WAVES, MOST_UNITS, MOST_LEVELS, MOST_CORES, MOST_ENTRIES = 1 << 20, 4096, 4096, 4096, 1 << 24


def whole(name: str, value: Any, least: int | None = 0, most: int | None = MOST) -> int:
    """Return a whole number within its range.

    Parameters
    ----------
    name : str
        The argument, as the sentence names it.
    least, most : int, optional
        The ends of the range; None = open.

    Raises
    ------
    InputError
        It is none, or lies outside.

    Examples
    --------
    >>> whole("waves", -1)
    Traceback (most recent call last):
    workbench.errors.InputError: waves must be a whole number from 0 to 4611686018427387904. Got -1. Nearest: 0.
    """
    number: int = Lever(name, "integer", least=least, most=most).check(value)
    return number


def seed_of(seed: Any) -> int:
    """Return the seed of policies that draw: a whole number that fits in 63 bits."""
    return whole("seed", seed, 0, (1 << 63) - 1)


def wholes(name: str, values: Any, least: int = 0, most: int = MOST, count: int | None = None) -> list[int]:
    """Return a list of whole numbers within a range, `count` of them if that is given.

    Raises
    ------
    InputError
        It is no list of numbers, has another length, or one of them lies outside.

    Examples
    --------
    >>> wholes("load", [1, 2], count=3)
    Traceback (most recent call last):
    workbench.errors.InputError: load must be a list of 3 numbers. Got [1, 2].
    """
    numbers = list(Lever(name, "integers", least=least, most=most).check(values))
    return _counted(name, numbers, values, count)


def reals(name: str, values: Any, count: int | None = None) -> list[float]:
    """Return a list of finite numbers, `count` of them if that is given; errors as of `wholes`."""
    return _counted(name, list(Lever(name, "numbers").check(values)), values, count)


def truths(name: str, values: Any, count: int) -> list[bool]:
    """Return a list of `count` truth values.

    >>> truths("active", [True, 0], 2)
    [True, False]
    """
    items = listed(name, values, f"must be a list of {count} truth values")
    if len(items) != count or any(not _is_truth(item) for item in items):
        raise wrong_value("", name, f"must be a list of {count} truth values", values)
    return [bool(item) for item in items]


def table(name: str, rows: Any) -> list[list[float]]:
    """Return rows of numbers, of whatever lengths; errors as of `wholes`."""
    items = listed(name, rows, "must be a list of rows of numbers")
    return [reals(f"{name}[{k}]", row) for k, row in enumerate(items)]


def listed(name: str, values: Any, expected: str = "must be a list") -> list[Any]:
    """Return a list of whatever it holds; a text or a mapping is none."""
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__len__") or not hasattr(values, "__iter__"):
        raise wrong_value("", name, expected, values)
    return list(values)


def one_of(name: str, value: Any, known: tuple[str, ...]) -> str:
    """Return one of several names."""
    chosen: str = Lever(name, "choice", choices=known).check(value)
    return chosen


def _is_truth(item: Any) -> bool:
    return isinstance(item, bool) or type(item).__name__ == "bool" or (isinstance(item, int) and item in (0, 1))


def _counted(name: str, numbers: list[Any], values: Any, count: int | None) -> list[Any]:
    if count is not None and len(numbers) != count:
        raise wrong_value("", name, f"must be a list of {count} numbers", values)
    return numbers


def check_weights(
    weights: Sequence[float], things: Sequence[str], noun: str, path: str = "weights", where: str = ""
) -> None:
    """Refuse weights that are not one for each thing, or that weigh nothing.

    Raises
    ------
    InputError
        In one sentence, with the nearest valid weights.
    """
    if len(weights) != len(things):
        padded = [*weights, *[1.0] * len(things)][: len(things)]
        nearest = padded if any(padded) else [1.0] * len(things)
        expected = f"must be {len(things)} weights, one for each {noun} ({', '.join(things)})"
        raise wrong_value(where, path, expected, list(weights), _as_text(nearest))
    if not any(weights):
        raise wrong_value(where, path, "must not all be 0", list(weights), _as_text([1.0] * len(things)))


def _as_text(weights: Sequence[float]) -> str:
    return f"[{', '.join(f'{weight:g}' for weight in weights)}]"


def check_sum(name: str, scores: Sequence[Any], weights: Sequence[float], example: str) -> None:
    """Refuse a sum of nothing, or one without a weight for each of its scores.

    Raises
    ------
    InputError
        In one sentence, with the nearest that is allowed.
    """
    if not scores:
        raise wrong_value("", f"{name}.choices", "must name at least one choice", [], f"[{example}]")
    check_weights(weights, [score.name for score in scores], "of the choices", f"{name}.weights")


def laid_flat(scores: Sequence[Any], weights: Sequence[float]) -> tuple[tuple[Any, float], ...]:
    """Return the single scores with their weights; those of a sum within the sum are multiplied by its own weight."""
    weighted = zip(scores, weights, strict=True)
    return tuple((term, weight * inner) for score, weight in weighted for term, inner in score.terms())


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
