"""Refusing weights that cannot be meant: of the wrong number, or all zero."""

from __future__ import annotations

from collections.abc import Sequence

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
