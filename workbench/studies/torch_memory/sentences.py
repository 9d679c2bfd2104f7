"""An advice in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.units import bytes_said

if TYPE_CHECKING:
    from workbench.studies.torch_memory.advice import Advice
    from workbench.studies.torch_memory.trial import Trial


def sentences_of(advice: Advice) -> list[str]:
    """Return what came out, the most important first."""
    return [
        *_best(advice),
        *_on_card(advice),
        *_failed(advice),
        _least(advice),
        *_holders(advice),
        *_pinned(advice),
        _rests_on(advice),
    ]


def paste(trial: Trial) -> str:
    """Return what to set in the environment."""
    return f"PYTORCH_ALLOC_CONF={trial.conf}" if trial.conf else "PYTORCH_ALLOC_CONF unset (PyTorch's defaults)"


def calls_said(trial: Trial) -> str:
    """Return the driver's calls with their cost."""
    return f"{trial.driver_calls:,} driver calls (about {trial.driver_ns / 1e6:,.1f} ms)"


def _best(advice: Advice) -> list[str]:
    best, own = advice.best_trial, advice.own_trial
    peak = f"{bytes_said(best.reserved_peak_bytes)} reserved at the peak, {calls_said(best)}"
    sentences = [f"Best: {paste(best)} with {peak}{_card(best)}.", *_ties(advice)]
    if best.settings != own.settings:
        saved = own.reserved_peak_bytes - best.reserved_peak_bytes
        figures = f"{bytes_said(own.reserved_peak_bytes)}, {calls_said(own)}"
        how = "As recorded" if advice.is_whole else "The recorded settings, replayed from where the history begins"
        sentences.append(
            f"{how} ({own.conf or 'defaults'}): {figures}; beside that the best saves {bytes_said(max(saved, 0))}."
        )
    else:
        sentences.append("Nothing that was tried reserves less than the recorded settings.")
    return sentences


def _card(best: Trial) -> str:
    """Return on how small a card a setting runs, and why that may be less than it reserves."""
    if not best.smallest_card_bytes:
        return ""
    smaller = best.smallest_card_bytes < best.reserved_peak_bytes
    why = " (where memory is short, free segments go back before a request fails)" if smaller else ""
    return f", from a card of {bytes_said(best.smallest_card_bytes)} on{why}"


def _ties(advice: Advice) -> list[str]:
    if advice.as_good < 2:
        return []
    return [
        f"{advice.as_good} of {len(advice.trials)} settings reserve as little, with driver calls within a tenth; this "
        "one says least, and limits splitting least."
    ]


def _on_card(advice: Advice) -> list[str]:
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
    when = f"at event {out.event:,}" if out.event >= 0 else "at what was live before the history"
    return (
        f"it runs out {when}, asking for {bytes_said(out.asked_bytes)} with {bytes_said(out.live_bytes)} live and "
        f"{bytes_said(out.reserved_bytes)} reserved"
    )


def _failed(advice: Advice) -> list[str]:
    sentences = []
    for failure in advice.failures[:3]:
        there = failure.driver_free_bytes
        had = f", the driver had {bytes_said(there)} left" if there >= 0 else ""
        line = (
            f"The recorded program ran out of memory at event {failure.event:,}: it asked for "
            f"{bytes_said(failure.asked_bytes)} with {bytes_said(failure.reserved_bytes)} reserved{had}."
        )
        if there >= 0:
            room = failure.reserved_bytes + there
            carried = [it for it in advice.trials if (it.smallest_card_bytes or 1 << 62) <= room]
            line += (
                f" In those {bytes_said(room)} it would have run with {paste(carried[0])}."
                if carried
                else f" No setting that was tried runs it in those {bytes_said(room)}."
            )
        sentences.append(line)
    return sentences


def _least(advice: Advice) -> str:
    best, live = advice.best_trial.reserved_peak_bytes, advice.active_peak_bytes
    over = f"{best / live - 1:.1%}" if live else "0%"
    low, high = bytes_said(live), bytes_said(advice.offline_plan_bytes)
    if low == high:
        return (
            f"The least possible is {low}, the live bytes at the peak: addresses planned beforehand need no more; the "
            f"best setting is {over} above it."
        )
    return (
        f"The least possible lies between {low} (live bytes at the peak) and {high} (addresses planned beforehand); "
        f"the best setting is {over} above the former."
    )


def _holders(advice: Advice) -> list[str]:
    holders = advice.holders()
    if not holders:
        return []
    first = ", ".join(f"{it.name} {bytes_said(it.bytes)}" for it in holders[:3])
    return [f"Held at the peak: {first}."]


def _pinned(advice: Advice) -> list[str]:
    pins = advice.pins()
    if not pins:
        return []
    total = sum(pin.pinned_bytes for pin in pins)
    first = ", ".join(f"{pin.site} {bytes_said(pin.pinned_bytes)}" for pin in pins[:3])
    return [f"Free but pinned by live blocks when most was reserved: {bytes_said(total)}; by {first}."]


def _rests_on(advice: Advice) -> str:
    basis = f"This rests on a replay of {len(advice.trials)} settings; {advice.exactness}."
    if advice.is_whole:
        return basis
    recorded = bytes_said(advice.recorded.reserved_peak_bytes)
    return (
        f"{basis} The history begins with memory in use: each setting starts with what was live then, laid out anew, "
        f"and knows nothing of what came and went before. So the recorded settings may come to another peak here than "
        f"the {recorded} that were recorded; compare settings with each other."
    )
