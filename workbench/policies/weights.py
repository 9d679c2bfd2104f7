"""Weights and other levers that hold one number for each of something: choices, priorities, channels.

Weights that cannot be meant are refused: of the wrong number, or all zero. Sums within sums are laid flat.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.errors import wrong_value


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
        raise wrong_value(where, path, expected, list(weights), _shown(nearest))
    if not any(weights):
        raise wrong_value(where, path, "must not all be 0", list(weights), _shown([1.0] * len(things)))


def _shown(weights: Sequence[float]) -> str:
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
