"""An advice as plain types, which `--json` prints, and the JSON schema of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.advice.torch_memory.answer import five_lines
from workbench.advice.torch_memory.cause import Cause, cause_of
from workbench.advice.torch_memory.diagnosis import fragmentation, shortfall_bytes
from workbench.advice.torch_memory.growth import plain_growth
from workbench.advice.torch_memory.holdings import free_of, idle_pools
from workbench.advice.torch_memory.sentences import sentences_of
from workbench.advice.torch_memory.trial import assignment
from workbench.engines.torch_allocator.settings import VARIABLES

if TYPE_CHECKING:
    from workbench.advice.torch_memory.diagnosis import Diagnosis


SCHEMA = "workbench.advise/2"
"""What `--json` prints; the number rises when a key goes or changes its meaning, never for a new one."""
MOST_HOLDERS = 30
"""Holders that `--json` lists at most."""


def plain_advice(advice: Diagnosis) -> dict[str, Any]:
    """Return everything that an advice says; `JSON_SCHEMA` describes it.

    What stands outside `cards` is of the first card: no value is a sum over several cards.
    """
    cause = cause_of(advice)
    return {
        "schema": SCHEMA,
        "file": advice.path,
        "lines": five_lines(advice),
        "variable": advice.variable,
        "paste": assignment(advice.variable, advice.best) if advice.is_change else None,
        "cards": [_plain_card(advice, number) for number in range(len(advice.cards))],
        "best": advice.best_trial.row(),
        "own": advice.own_trial.row(),
        "settings": [trial.row() for trial in advice.trials],
        "active_peak_bytes": advice.active_peak_bytes,
        "offline_plan_bytes": advice.offline_plan_bytes,
        "smallest_card_bytes": advice.smallest_card_bytes,
        "card_bytes": advice.card_bytes,
        "fragmentation": fragmentation(advice),
        "must_go_bytes": shortfall_bytes(advice),
        "cause": None if cause is None else _plain_cause(cause),
        "next_best": advice.next_best.row(),
        "exactness": advice.exactness._asdict(),
        "recorded": {"cards": advice.recorded.cards},
        "whole_history": advice.is_whole,
        "failures": [failure._asdict() for failure in advice.failures],
        "holders": [holder._asdict() for holder in advice.holders()[:MOST_HOLDERS]],
        "sizes": [holder._asdict() for holder in advice.sizes()],
        "pins": [pin._asdict() for pin in advice.pins()[:MOST_HOLDERS]],
        "sentences": sentences_of(advice),
    }


def _plain_cause(cause: Cause) -> dict[str, Any]:
    return {**cause._asdict(), "pool": None if cause.pool is None else cause.pool._asdict()}


def _plain_card(advice: Diagnosis, number: int) -> dict[str, Any]:
    card = advice.cards[number]
    segments = advice.segments if number == 0 else card.segments(card.decisive)
    reserved, free, request = sum(it.size for it in segments), free_of(segments), card.tightest
    return {
        "file": card.file,
        "device": card.log.device,
        "events": card.events,
        "failure": None if card.failure is None else card.failure._asdict(),
        "after_events": card.decisive,
        "tightest": {**request._asdict(), "site": None if request.event < 0 else card.site(request.event)},
        "reserved_bytes": reserved,
        "live_bytes": reserved - free.total,
        "free_bytes": free.total,
        "returning_bytes": free.returns,
        "pinned_bytes": free.pinned,
        "pooled_bytes": free.pooled,
        "idle_pools": [pool._asdict() for pool in idle_pools(segments)],
        "largest_free_bytes": max((it.largest_free for it in segments), default=0),
        "reserved_peak_bytes": int(card.recorded.reserved.max()),
        "active_peak_bytes": int(card.recorded.allocated.max()),
        "requested_peak_bytes": advice.active_peaks[number],
        "offline_plan_bytes": advice.offline_plans[number],
        "smallest_card_bytes": advice.best_trial.cards[number].smallest_card_bytes,
        "own_smallest_card_bytes": card.need.smallest_card_bytes,
        "own_reserved_peak_bytes": card.need.reserved_peak_bytes,
        "exactness": card.replay.exactness._asdict(),
        "growth": None if card.growth is None else plain_growth(card.growth),
    }


_BYTES = {"type": "integer", "minimum": 0}
_MAYBE = {"type": ["integer", "null"], "minimum": 0}
_ROW = {
    "type": "object",
    "required": ["conf", "reserved_peak_bytes", "driver_calls", "driver_ns", "smallest_card_bytes", "fits", "cards"],
    "properties": {
        "conf": {"type": "string"},
        "reserved_peak_bytes": _BYTES,
        "driver_calls": _BYTES,
        "driver_ns": _BYTES,
        "smallest_card_bytes": _MAYBE,
        "fits": {"type": ["boolean", "null"]},
        "cards": {
            "type": "array",
            "minItems": 1,
            "items": {"required": ["reserved_peak_bytes", "driver_calls", "driver_ns", "smallest_card_bytes"]},
        },
    },
}
_GROWTH = {
    "type": ["object", "null"],
    "required": ["bytes_a_step", "steps", "failed_step", "step_begins_at", "allocations_a_step", "lines"],
    "properties": {
        "bytes_a_step": _BYTES,
        "steps": _BYTES,
        "failed_step": _MAYBE,
        "step_begins_at": {"type": "string"},
        "allocations_a_step": _BYTES,
        "lines": {"type": "array", "minItems": 1, "items": {"required": ["name", "bytes_a_step", "bytes"]}},
    },
}
_OF_CARD = (
    *("reserved", "live", "free", "returning", "pinned", "pooled", "largest_free", "reserved_peak", "active_peak"),
    *("own_reserved_peak", "own_smallest_card"),
)
JSON_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": SCHEMA,
    "type": "object",
    "required": ["schema", "file", "lines", "variable", "paste", "cards", "best", "own", "settings", "exactness"],
    "properties": {
        "schema": {"const": SCHEMA},
        "lines": {"type": "array", "items": {"type": "string"}, "minItems": 5, "maxItems": 6},
        "variable": {"enum": list(VARIABLES)},
        "paste": {"type": ["string", "null"]},
        "best": _ROW,
        "own": _ROW,
        "settings": {"type": "array", "items": _ROW, "minItems": 1},
        "cards": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": [
                    "file",
                    "device",
                    "events",
                    "failure",
                    "after_events",
                    *(f"{it}_bytes" for it in _OF_CARD),
                ],
                "properties": {**{f"{name}_bytes": _BYTES for name in _OF_CARD}, "growth": _GROWTH},
            },
        },
        "active_peak_bytes": _BYTES,
        "offline_plan_bytes": _BYTES,
        "smallest_card_bytes": _MAYBE,
        "card_bytes": _MAYBE,
        "must_go_bytes": _MAYBE,
        "fragmentation": {"type": "number", "minimum": 0, "maximum": 1},
        "cause": {"type": ["object", "null"], "required": ["kind", "lacked_bytes", "must_go_bytes", "pool"]},
        "next_best": _ROW,
    },
}
"""The JSON schema of what `--json` prints of a snapshot with a history."""
