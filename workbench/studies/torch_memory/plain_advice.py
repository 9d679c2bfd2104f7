"""An advice as plain types, for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.studies.torch_memory.advice import Advice

MOST_HOLDERS = 30


def plain_advice(advice: Advice) -> dict[str, Any]:
    """Return everything that an advice says."""
    return {
        "file": advice.path,
        "best": advice.best_trial.row(),
        "own": advice.own_trial.row(),
        "settings": [trial.row() for trial in advice.trials],
        "active_peak_bytes": advice.active_peak_bytes,
        "offline_plan_bytes": advice.offline_plan_bytes,
        "smallest_card_bytes": advice.smallest_card_bytes,
        "card_bytes": advice.card_bytes,
        "exactness": advice.exactness._asdict(),
        "recorded": advice.recorded._asdict(),
        "whole_history": advice.is_whole,
        "failures": [failure._asdict() for failure in advice.failures],
        "holders": [holder._asdict() for holder in advice.holders()[:MOST_HOLDERS]],
        "sizes": [holder._asdict() for holder in advice.sizes()],
        "pins": [pin._asdict() for pin in advice.pins()[:MOST_HOLDERS]],
        "sentences": advice.sentences(),
    }
