"""An advice in five lines: who ran out and who asked, what the card held, why, what to do and its price, what fits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.advice.torch_memory.cause import Cause, cause_of
from workbench.advice.torch_memory.diagnosis import fragmentation
from workbench.advice.torch_memory.growth import growth_sentence
from workbench.advice.torch_memory.holdings import UNKNOWN_SITE, free_of
from workbench.advice.torch_memory.trial import assignment
from workbench.number_text import bytes_at_least, bytes_at_most, bytes_said

if TYPE_CHECKING:
    from workbench.advice.torch_memory.diagnosis import Diagnosis
    from workbench.advice.torch_memory.snapshot import CardHistory, Failure
    from workbench.advice.torch_memory.trial import Trial


ROUNDING = 0.01
"""The share of what is live above which the lines name the rounding."""
SURE = 0.999
"""The share of a recording that a replay reproduces: below it the advice says so before all else."""
SHOWS_IT = 'torch.cuda.memory._snapshot()["allocator_settings"]'
"""The Python that shows which settings PyTorch took."""
NOT_WITH_EXPANDABLE = "vLLM's sleep mode, CUDA IPC, NIXL, MemPool"
"""What expandable segments do not go with, or not in every version."""


def five_lines(advice: Diagnosis) -> list[str]:
    """Return the five lines; before them a warning if the replay does not reproduce the whole recording."""
    cause = cause_of(advice)
    lines = (_when(advice), _held(advice), _verdict(advice, cause), _action(advice, cause), _where_it_fits(advice))
    return [*_doubt(advice), *map(" ".join, lines)]


def card_name(advice: Diagnosis, card: CardHistory) -> str:
    """Return the name of a card, with its file if there are several."""
    files = {it.file for it in advice.cards}
    return card.name if len(files) < 2 else f"{card.name} of {card.file.rsplit('/', 1)[-1]}"


def called(trial: Trial) -> str:
    """Return the name of a setting."""
    return trial.conf or "PyTorch's defaults"


def _doubt(advice: Diagnosis) -> list[str]:
    share = min(card.replay.exactness.share for card in advice.cards)
    if share >= SURE:
        return []
    return [f"Take this with care: the replay reproduces {share:.1%} of the recording ({advice.exactness})."]


def _when(advice: Diagnosis) -> Iterator[str]:
    """Yield the card that ran out of memory, the event, and the line with the bytes that it requested."""
    card, rest = advice.cards[0], advice.cards[1:]
    name, failure = card_name(advice, card), card.failure
    failed = [it for it in rest if it.failure is not None]
    if failure is None:
        neither = f" (neither did the other {len(rest)})" if rest else ""
        yield f"{name} did not run out of memory{neither}."
        yield _tightest(card)
        return
    others = f" (the other {len(rest)} did not fail)" if rest else ""
    others = f" ({len(failed)} of the other {len(rest)} failed too)" if failed else others
    times = len(card.failures)
    where = f"at event {failure.event + 1:,} of {card.events:,}"
    if failure.is_caught:
        often = f"{times} times, the last time " if times > 1 else ""
        followed = card.events - failure.event - 1
        yield f"{name}{others} ran out of memory {often}{where}; it was caught: {followed:,} events followed."
    else:
        again = f", the last of {times} times" if times > 1 else ""
        yield f"{name}{others} ran out of memory {where}{again}."
    yield _request(failure)


def _request(failure: Failure) -> str:
    left = f"; {bytes_said(failure.driver_free_bytes)} were left on the card" if failure.driver_free_bytes >= 0 else ""
    return f"{_asker(failure.site)} asked for {bytes_said(failure.asked_bytes)}{left}."


def _asker(site: str) -> str:
    return "A line of which no stack was recorded" if site == UNKNOWN_SITE else site


def _tightest(card: CardHistory) -> str:
    """Return at which request memory was tightest."""
    request = card.tightest
    if request.event < 0:
        return f"Memory was tightest before its {card.events:,} events."
    where, size = f"event {request.event + 1:,} of {card.events:,}", bytes_said(request.asked_bytes)
    return f"Memory was tightest at {where}: {_asker(card.site(request.event))} asked for {size}."


def _held(advice: Diagnosis) -> Iterator[str]:
    """Yield the card's memory at that moment, rounded down: live, and free of three kinds; and the largest holder."""
    segments = advice.segments
    reserved, free = sum(it.size for it in segments), free_of(segments)
    live, requested = reserved - free.total, int(advice.cards[0].recorded.allocated[advice.cards[0].decisive])
    rounded = requested < (1 - ROUNDING) * live
    rounding = f" ({bytes_said(requested)} asked for, the rest are rounding and tails)" if rounded else ""
    yield (
        f"At that moment {bytes_said(reserved)} were reserved: {bytes_at_least(live)} live{rounding} and "
        f"{bytes_at_least(free.total)} free."
    )
    if free.total:
        yield (
            f"Of the free bytes live neighbors pin {bytes_at_least(free.pinned)}, private pools keep "
            f"{bytes_at_least(free.pooled)}, and {bytes_at_least(free.returns)} go back by themselves."
        )
    holders = [holder for holder in advice.holders() if not holder.name.startswith("(")]
    if holders:
        yield f"The largest holder is {holders[0].name} ({bytes_said(holders[0].bytes)})."


def _verdict(advice: Diagnosis, cause: Cause | None) -> Iterator[str]:
    """Yield the reason why the request failed, or whether another setting needs less."""
    share, best, card = fragmentation(advice), advice.best_trial, advice.cards[0]
    failure, pinned = card.failure, f"{share:.1%} of what was reserved was pinned"
    if failure is None or cause is None:
        if advice.is_change:
            saved = bytes_said(advice.own_trial.needed_bytes - best.needed_bytes)
            yield f"Live neighbors pin {share:.1%} of it (fragmentation)."
            yield f"{called(best)} runs on a card that is {saved} smaller."
        else:
            yield f"Live neighbors pin {share:.1%} of it (fragmentation)."
            yield "No allocator setting runs on a card that is 1 % smaller."
    elif cause.kind == "limit_outside":
        yield f"The cause is a limit outside the allocator: the card had more left than the {_needed(failure)}."
    elif cause.kind == "larger_than_card":
        room = bytes_said(failure.room_bytes or 0)
        yield f"The request alone is larger than the card: PyTorch could have {room} at most."
    elif cause.kind == "private_pool" and cause.pool is not None:
        held = bytes_said(cause.pool.bytes)
        yield f"A private pool (a CUDA graph's or a MemPool) holds {held} in which nothing is live."
        yield f"While the pool is in use, that does not go back; {_asker(cause.pool.site)} filled it."
    elif cause.kind == "fragmentation":
        yield f"The cause is fragmentation: {pinned}. {_fits_under(advice)}."
    elif cause.kind == "setting_helps":
        yield f"An allocator setting helps, though only {pinned}. {_fits_under(advice)}."
    elif cause.kind == "not_told":
        why = f"{called(best)} needs less" if advice.is_change else "no setting needs 1 % less"
        yield f"Fragmentation is {share:.1%}: {why}; how much room the card had is not told."
    else:
        yield f"Too much is live; fragmentation is {share:.1%}: no allocator setting helps."
    if cause is not None and cause.lacked_bytes and cause.kind != "larger_than_card":
        yield f"The card lacked {bytes_said(cause.must_go_bytes or cause.lacked_bytes)}."
    if card.growth is not None:
        yield growth_sentence(card.growth, card.replay.recording.is_whole)


def _needed(failure: Failure) -> str:
    size = bytes_said(failure.needed_bytes)
    return f"{size} asked for" if failure.needed_bytes == failure.asked_bytes else f"segment of {size} that it takes"


def _fits_under(advice: Diagnosis) -> str:
    how = "" if advice.is_change else ", laid out again,"
    return f"The same requests{how} fit under {called(advice.best_trial)}"


def _action(advice: Diagnosis, cause: Cause | None) -> Iterator[str]:
    """Yield the setting or the action, and its price: the peak of reserved bytes and the driver's calls."""
    best, own = advice.best_trial, advice.own_trial
    if not advice.is_change:
        kept = assignment(advice.variable, best.conf) if best.conf else "PyTorch's defaults"
        yield f"Change no allocator setting: keep {kept}, as recorded."
        yield from _other_action(advice, cause)
        return
    if best.conf:
        yield f"Before Python starts: {assignment(advice.variable, best.conf)}; it took if print({SHOWS_IT}) shows it."
    else:
        yield f"Before Python starts: unset {advice.variable} (PyTorch's defaults are better than what was recorded)."
    peaks = [bytes_at_most(trial.cards[0].reserved_peak_bytes) for trial in (own, best)]
    calls = f"{own.cards[0].driver_calls:,} driver calls before, {best.cards[0].driver_calls:,} after"
    yield f"Price: reserved peak {peaks[0]} before, {peaks[1]} after; {calls}."
    if best.settings.expandable_segments and not own.settings.expandable_segments:
        yield f"Where expandable segments cannot be used ({NOT_WITH_EXPANDABLE}): {_instead(advice)}."
    if cause is not None and cause.must_go_bytes:
        yield from _other_action(advice, cause)


def _instead(advice: Diagnosis) -> str:
    other, failure = advice.next_best, advice.cards[0].failure
    room = None if failure is None else failure.room_bytes
    if room is not None and _card_of(other, 0) > room:
        return "no other setting is enough"
    needs = f"fits from {bytes_at_most(_card_of(other, 0))} on"
    if other.settings == advice.own_trial.settings:
        return "change no setting"
    return f"{assignment(advice.variable, other.conf)} {needs}" if other.conf else f"PyTorch's defaults, {needs}"


def _other_action(advice: Diagnosis, cause: Cause | None) -> Iterator[str]:
    """Yield the changes that the program or its surroundings need."""
    holders = [holder.name for holder in advice.holders() if not holder.name.startswith("(")][:2]
    growth = advice.cards[0].growth
    if growth is not None:
        holders = [line.name for line in growth.lines[:2]]
    first = f"look first at {' and '.join(holders)}" if holders else "no stack tells which"
    failure = advice.cards[0].failure
    if cause is None or failure is None:
        if holders:
            yield f"To need less, {first}."
    elif cause.kind == "limit_outside":
        yield "Look for set_per_process_memory_fraction, a MIG slice and other processes (nvidia-smi)."
        yield "On Windows, look at the commit limit."
    elif cause.kind == "larger_than_card":
        yield f"{_asker(failure.site)} must ask for less at a time."
    elif cause.kind == "private_pool" and cause.pool is not None:
        yield f"{bytes_said(cause.must_go_bytes or 0)} must go: delete the graph or the pool, or fill it with less."
    elif cause.must_go_bytes:
        yield f"{bytes_said(cause.must_go_bytes)} must go: {first}."


def _where_it_fits(advice: Diagnosis) -> Iterator[str]:
    """Yield the smallest cards under the recorded settings and under the best, and the memory that the card had."""
    card, best, own = advice.cards[0], advice.best_trial, advice.own_trial
    need, failure = card.need, card.failure
    subject = "what was recorded" if failure is None else "with that request served, what was recorded"
    yield (
        f"{card_name(advice, card)}: {subject} reserves {bytes_at_most(need.reserved_peak_bytes)} at its peak and fits "
        f"where PyTorch gets {bytes_at_most(need.smallest_card_bytes)} or more."
    )
    if failure is not None and failure.room_bytes is not None:
        had = bytes_said(failure.room_bytes)
        limited = f"The limit was less, though reserved and left together were {had}."
        yield limited if failure.lacked_bytes == 0 else f"It had {had}."
    if advice.is_change:
        now, before = (bytes_at_most(_card_of(trial, 0)) for trial in (best, own))
        if advice.is_whole:
            yield f"Under {called(best)} it fits from {now} on."
        else:
            yield "What lived before the history began may lie elsewhere in another run."
            yield f"Packed from an empty card it fits from {before} on, under {called(best)} from {now}."
    if advice.card_bytes is not None:
        answer = "fits" if best.fits else "does not fit"
        yield f"On the named card of {bytes_said(advice.card_bytes)} it {answer}."


def _card_of(trial: Trial, number: int) -> int:
    card = trial.cards[number]
    return card.smallest_card_bytes or card.reserved_peak_bytes
