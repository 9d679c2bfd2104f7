"""An advice in words: the five lines, then all that they rest on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.advice.torch_memory.answer import called, card_name, five_lines
from workbench.advice.torch_memory.growth import step_sentence
from workbench.engines.torch_allocator.settings import VARIABLES
from workbench.number_text import bytes_said, to_decimals

if TYPE_CHECKING:
    from workbench.advice.torch_memory.diagnosis import Diagnosis, WhatIf
    from workbench.advice.torch_memory.trial import Trial


def sentences_of(advice: Diagnosis) -> list[str]:
    """Return the results, the most important first."""
    return [
        *five_lines(advice),
        *_steps(advice),
        *_others(advice),
        *_names(advice),
        *_compared(advice),
        *_on_card(advice),
        _least(advice),
        *_holders(advice),
        *_pinned(advice),
        _rests_on(advice),
    ]


def what_if_sentence(advice: Diagnosis, changed: WhatIf) -> str:
    """Return the peak and the smallest card without the requests of a line."""
    own, best = (_peak_and_card(trial) for trial in (changed.own, changed.best))
    before = _peak_and_card(advice.own_trial)
    same = "" if changed.own.settings == changed.best.settings else f"; under {called(changed.best)} {best}"
    return (
        f"If {changed.line} gave back at once what it asks for ({changed.blocks:,} blocks, of which "
        f"{bytes_said(changed.bytes_at_peak)} were live then): {own} as recorded, instead of {before}{same}."
    )


def _steps(advice: Diagnosis) -> Iterator[str]:
    """Yield the name of a step, and the time at which the named card is full at this rate."""
    card = advice.cards[0]
    if card.growth is None:
        return
    yield step_sentence(card.growth)
    if advice.card_bytes is not None and card.failure is None:
        step = card.growth.step_of(advice.card_bytes - int(card.recorded.reserved.max()))
        yield f"At this rate a card of {bytes_said(advice.card_bytes)} is full at about step {step:,}."


def _others(advice: Diagnosis) -> Iterator[str]:
    """Yield a line for each further card."""
    best, own = advice.best_trial, advice.own_trial
    for card, now, before in list(zip(advice.cards, best.cards, own.cards, strict=True))[1:]:
        peaks = (int(card.recorded.reserved.max()), int(card.recorded.allocated.max()))
        reserved, live = map(bytes_said, peaks)
        fits = bytes_said(now.smallest_card_bytes or now.reserved_peak_bytes)
        was = bytes_said(before.smallest_card_bytes or before.reserved_peak_bytes)
        change = f", before from {was}" if advice.is_change else ""
        name = card_name(advice, card)
        yield f"{name}: at most {reserved} reserved and {live} asked for; fits from {fits} on{change}."


def _names(advice: Diagnosis) -> list[str]:
    if not (advice.is_change and advice.best):
        return []
    if advice.variable == VARIABLES[-1]:
        return [f"Versions of PyTorch before the newest read {VARIABLES[0]} instead of {VARIABLES[-1]}."]
    return [f"The newest versions of PyTorch read {VARIABLES[-1]} too; those before read {advice.variable} alone."]


def _peak_and_card(trial: Trial) -> str:
    card = "" if trial.smallest_card_bytes is None else f", a card of {bytes_said(trial.smallest_card_bytes)}"
    peak = max((card.reserved_peak_bytes for card in trial.cards), default=trial.reserved_peak_bytes)
    return f"{bytes_said(peak)} reserved at most{card}"


def calls_text(trial: Trial) -> str:
    """Return the driver's calls on the first card, with their cost."""
    first = trial.cards[0]
    return f"{first.driver_calls:,} driver calls (about {to_decimals(first.driver_ns / 1e6, 1)} ms)"


def _compared(advice: Diagnosis) -> Iterator[str]:
    own, best = advice.own_trial, advice.best_trial
    how = (
        "The recorded settings" if advice.is_whole else "The recorded settings, replayed from where the history begins"
    )
    served = ", had nothing failed" if advice.failures else ""
    several = len(advice.cards) > 1
    fullest, first = ("on the fullest card ", f"on {card_name(advice, advice.cards[0])} ") if several else ("", "")
    yield f"{how} ({called(own)}){served}: {fullest}{_peak_and_card(own)}; {first}{calls_text(own)}."
    if advice.is_change:
        yield f"Best ({called(best)}): {fullest}{_peak_and_card(best)}; {first}{calls_text(best)}."
    if best.smallest_card_bytes and best.smallest_card_bytes < max(it.reserved_peak_bytes for it in best.cards):
        yield "A card may be smaller than what is reserved at most: free segments go back before a request fails."


def _on_card(advice: Diagnosis) -> list[str]:
    if advice.card_bytes is None:
        return []
    card, fitting = bytes_said(advice.card_bytes), [trial for trial in advice.trials if trial.fits]
    if fitting:
        own = "; as recorded it does too" if advice.own_trial.fits else f"; {_runs_out(advice.own_trial)} as recorded"
        return [f"On a card of {card} it runs under {len(fitting)} of {len(advice.trials)} settings{own}."]
    return [f"On a card of {card} it runs under none of {len(advice.trials)} settings; {_runs_out(advice.best_trial)}."]


def _runs_out(trial: Trial) -> str:
    out = trial.runs_out
    if out is None:
        return "it does not run out of memory"
    when = f"at event {out.event + 1:,}" if out.event >= 0 else "at what was live before the history"
    return (
        f"it runs out {when}, asking for {bytes_said(out.asked_bytes)} with {bytes_said(out.live_bytes)} live and "
        f"{bytes_said(out.reserved_bytes)} reserved"
    )


def _least(advice: Diagnosis) -> str:
    card, best = advice.cards[0], advice.best_trial
    live = int(card.requests.live.max(initial=0))
    fits = best.cards[0].smallest_card_bytes or best.cards[0].reserved_peak_bytes
    over = f"{fits / live - 1:.1%}" if live else "0%"
    planned = bytes_said(advice.offline_plan_bytes)
    plan = f"; addresses planned beforehand would need {planned}" if len(advice.cards) == 1 else ""
    return (
        f"No setting can need less than {bytes_said(live)} on {card_name(advice, card)}, what was asked for at a time; "
        f"the best is {over} above it{plan}."
    )


def _holders(advice: Diagnosis) -> list[str]:
    first = ", ".join(f"{it.name} {bytes_said(it.bytes)}" for it in advice.holders()[:5])
    return [f"Live on {card_name(advice, advice.cards[0])} then: {first}."] if first else []


def _pinned(advice: Diagnosis) -> list[str]:
    first = ", ".join(f"{pin.site} {bytes_said(pin.pinned_bytes)}" for pin in advice.pins()[:3])
    return [f"What is free is pinned by {first}."] if first else []


def _rests_on(advice: Diagnosis) -> str:
    basis = f"This rests on a replay of {len(advice.trials)} settings; {advice.exactness}."
    if advice.is_whole:
        return basis
    return (
        f"{basis} The history begins with memory in use: each setting starts with what was live then, laid out again, "
        "and knows nothing of what came and went before. So the recorded settings may come to another peak here than "
        "was recorded; compare settings with each other."
    )
