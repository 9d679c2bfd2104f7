"""An advice in words: the answer in five lines, then all that it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.advice.torch_memory.diagnosis import fragmentation, shortfall_bytes
from workbench.advice.torch_memory.growth import growth_sentence, step_sentence
from workbench.advice.torch_memory.trial import assignment
from workbench.engines.torch_allocator.settings import VARIABLES
from workbench.number_text import bytes_said, to_decimals

if TYPE_CHECKING:
    from workbench.advice.torch_memory.diagnosis import Diagnosis, WhatIf
    from workbench.advice.torch_memory.snapshot import CardHistory
    from workbench.advice.torch_memory.trial import Trial


ROUNDING = 0.01
"""The share of what is live above which the sentences name the rounding."""
SURE = 0.999
"""The share of a recording that a replay reproduces: below it the advice says so before all else."""
SHOWS_IT = 'torch.cuda.memory._snapshot()["allocator_settings"]'
"""The Python that shows which settings PyTorch took."""


def five_lines(advice: Diagnosis) -> list[str]:
    """Return which card and when, what it held, why and what to do, what to set, and where it fits; before them, of a
    replay that does not reproduce all of its recording, that."""
    verdict = " ".join([_verdict(advice), *_grows(advice)])
    return [*_doubt(advice), _when(advice), _held(advice), verdict, _to_set(advice), _where_it_fits(advice)]


def sentences_of(advice: Diagnosis) -> list[str]:
    """Return what came out, the most important first."""
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
    """Return what the peak and the smallest card would be without what a line asks for."""
    own, best = (_peak_and_card(trial) for trial in (changed.own, changed.best))
    before = _peak_and_card(advice.own_trial)
    same = "" if changed.own.settings == changed.best.settings else f"; under {_called(changed.best)} {best}"
    return (
        f"If {changed.line} gave back at once what it asks for ({changed.blocks:,} blocks, of which "
        f"{bytes_said(changed.bytes_at_peak)} were live then): {own} as recorded, instead of {before}{same}."
    )


def _doubt(advice: Diagnosis) -> list[str]:
    share = min(card.replay.exactness.share for card in advice.cards)
    if share >= SURE:
        return []
    return [f"Take this with care: the replay reproduces {share:.1%} of the recording ({advice.exactness})."]


def _name(advice: Diagnosis, card: CardHistory) -> str:
    files = {it.file for it in advice.cards}
    return card.name if len(files) < 2 else f"{card.name} of {card.file.rsplit('/', 1)[-1]}"


def _when(advice: Diagnosis) -> str:
    card, rest = advice.cards[0], advice.cards[1:]
    failed = [it for it in rest if it.failure is not None]
    others = f" ({len(failed)} of the other {len(rest)} failed too)" if failed else ""
    others = f" (the other {len(rest)} did not fail)" if rest and not failed else others
    failure = card.failure
    if failure is None:
        return (
            f"{_name(advice, card)} did not run out of memory; most was reserved after event {card.decisive:,} of "
            f"{card.events:,}{f' (neither did the other {len(rest)})' if rest else ''}."
        )
    again = f", the last of {len(card.failures)} times" if len(card.failures) > 1 else ""
    left = f", {bytes_said(failure.driver_free_bytes)} were left on the card" if failure.driver_free_bytes >= 0 else ""
    return (
        f"{_name(advice, card)}{others} ran out of memory at event {failure.event + 1:,} of {card.events:,}{again}: it "
        f"asked for {bytes_said(failure.asked_bytes)}{left}."
    )


def _held(advice: Diagnosis) -> str:
    segments = advice.segments
    reserved, free = sum(it.size for it in segments), sum(it.free for it in segments)
    pinned, longest = sum(it.pinned for it in segments), max((it.largest_free for it in segments), default=0)
    cached = f", {bytes_said(free - pinned)} cached, which goes back by itself" if free > pinned else ""
    holders = [holder for holder in advice.holders() if not holder.name.startswith("(")]
    most = f"; the largest holder is {holders[0].name} ({bytes_said(holders[0].bytes)})" if holders else ""
    live, requested = reserved - free, int(advice.cards[0].recorded.allocated[advice.cards[0].decisive])
    rounding = (
        f" ({bytes_said(requested)} asked for, the rest is rounding)" if requested < (1 - ROUNDING) * live else ""
    )
    return (
        f"At that moment {bytes_said(reserved)} were reserved: {bytes_said(live)} live{rounding}, "
        f"{bytes_said(pinned)} free but kept by live blocks beside it{cached} (the longest free piece "
        f"{bytes_said(longest)}){most}."
    )


def _verdict(advice: Diagnosis) -> str:
    share, best, own = fragmentation(advice), advice.best_trial, advice.own_trial
    card, gap = advice.cards[0], shortfall_bytes(advice)
    holders = [holder.name for holder in advice.holders() if not holder.name.startswith("(")][:2]
    first = f"; look first at {' and '.join(holders)}" if holders and card.growth is None else ""
    if card.failure is None:
        saved = own.needed_bytes - best.needed_bytes
        if not advice.is_change:
            none = "no allocator setting runs on a card that is 1 % smaller"
            return f"Fragmentation is {share:.1%}: {none}{f'{first} to need less' if first else ''}."
        return f"Fragmentation is {share:.1%}: {_called(best)} runs on a card that is {bytes_said(saved)} smaller."
    if gap is None:
        why = "no setting needs 1 % less" if not advice.is_change else f"{_called(best)} needs less"
        return f"Fragmentation is {share:.1%}: {why}; how much room the card had is not told{first}."
    if not gap:
        how = "the same requests fit under" if advice.is_change else "the same requests, laid out anew, fit under"
        return f"The cause is fragmentation ({share:.1%} was free in pieces): {how} {_called(best)}."
    if share < 0.02:
        none = "no allocator setting helps"
        return f"Too much is live; fragmentation is {share:.1%}: {none}, {bytes_said(gap)} must go{first}."
    return (
        f"Fragmentation is {share:.1%}, but no allocator setting is enough: {bytes_said(gap)} must go as well{first}."
    )


def _grows(advice: Diagnosis) -> list[str]:
    """Return what grows on the first card, if anything does."""
    growth = advice.cards[0].growth
    return [] if growth is None else [growth_sentence(growth, advice.cards[0].replay.recording.is_whole)]


def _steps(advice: Diagnosis) -> Iterator[str]:
    """Yield what a step is, and when the named card is full at this rate."""
    card = advice.cards[0]
    if card.growth is None:
        return
    yield step_sentence(card.growth)
    if advice.card_bytes is not None and card.failure is None:
        step = card.growth.step_of(advice.card_bytes - int(card.recorded.reserved.max()))
        yield f"At this rate a card of {bytes_said(advice.card_bytes)} is full at about step {step:,}."


def _to_set(advice: Diagnosis) -> str:
    best = advice.best_trial
    if not advice.is_change:
        kept = assignment(advice.variable, best.conf) if best.conf else "PyTorch's defaults"
        return f"Change no allocator setting: keep {kept}, as recorded."
    return (
        f"Before Python starts: {assignment(advice.variable, best.conf)}; it took if print({SHOWS_IT}) shows it."
        if best.conf
        else f"Before Python starts: unset {advice.variable} (PyTorch's defaults are better than what was recorded)."
    )


def _where_it_fits(advice: Diagnosis) -> str:
    best, own, card = advice.best_trial, advice.own_trial, advice.cards[0]
    fits, before = (it.cards[0].smallest_card_bytes or it.cards[0].reserved_peak_bytes for it in (best, own))
    available = None if card.failure is None else card.failure.room_bytes
    had = f"; it had {bytes_said(available)}" if available is not None else ""
    was = f" (under the recorded settings {bytes_said(before)})" if advice.is_change else ""
    anew = "" if advice.is_whole else "; what was live at its start is laid out anew"
    named = ""
    if advice.card_bytes is not None:
        answer = "fits" if best.fits else "does not fit"
        named = f"; on the named card of {bytes_said(advice.card_bytes)} it {answer}"
    rest = f"{was}{had}{anew}{named}."
    return f"{_name(advice, card)}: what was recorded fits where PyTorch gets {bytes_said(fits)} or more{rest}"


def _others(advice: Diagnosis) -> Iterator[str]:
    """Yield a line for each further card."""
    best, own = advice.best_trial, advice.own_trial
    for card, now, before in list(zip(advice.cards, best.cards, own.cards, strict=True))[1:]:
        peaks = (int(card.recorded.reserved.max()), int(card.recorded.allocated.max()))
        reserved, live = map(bytes_said, peaks)
        fits = bytes_said(now.smallest_card_bytes or now.reserved_peak_bytes)
        was = bytes_said(before.smallest_card_bytes or before.reserved_peak_bytes)
        change = f", before from {was}" if advice.is_change else ""
        yield f"{_name(advice, card)}: at most {reserved} reserved and {live} asked for; fits from {fits} on{change}."


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


def _called(trial: Trial) -> str:
    return trial.conf or "PyTorch's defaults"


def calls_text(trial: Trial) -> str:
    """Return the driver's calls with their cost."""
    return f"{trial.driver_calls:,} driver calls (about {to_decimals(trial.driver_ns / 1e6, 1)} ms)"


def _compared(advice: Diagnosis) -> Iterator[str]:
    own, best = advice.own_trial, advice.best_trial
    how = (
        "The recorded settings" if advice.is_whole else "The recorded settings, replayed from where the history begins"
    )
    served = ", had nothing failed" if advice.failures else ""
    fullest, of_all = ("on the fullest card ", "of all cards ") if len(advice.cards) > 1 else ("", "")
    yield f"{how} ({_called(own)}){served}: {fullest}{_peak_and_card(own)}; {of_all}{calls_text(own)}."
    if advice.is_change:
        yield f"Best ({_called(best)}): {fullest}{_peak_and_card(best)}; {of_all}{calls_text(best)}."
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
        f"No setting can need less than {bytes_said(live)} on {_name(advice, card)}, what was asked for at a time; the "
        f"best is {over} above it{plan}."
    )


def _holders(advice: Diagnosis) -> list[str]:
    first = ", ".join(f"{it.name} {bytes_said(it.bytes)}" for it in advice.holders()[:5])
    return [f"Live on {_name(advice, advice.cards[0])} then: {first}."] if first else []


def _pinned(advice: Diagnosis) -> list[str]:
    first = ", ".join(f"{pin.site} {bytes_said(pin.pinned_bytes)}" for pin in advice.pins()[:3])
    return [f"What is free is pinned by {first}."] if first else []


def _rests_on(advice: Diagnosis) -> str:
    basis = f"This rests on a replay of {len(advice.trials)} settings; {advice.exactness}."
    if advice.is_whole:
        return basis
    return (
        f"{basis} The history begins with memory in use: each setting starts with what was live then, laid out anew, "
        "and knows nothing of what came and went before. So the recorded settings may come to another peak here than "
        "was recorded; compare settings with each other."
    )
