"""What weighted sums of scores have in common: one weight a score, and sums within sums laid flat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.errors import wrong_value
from workbench.policies.weights import check_weights


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
