"""Which pages of a tensor a group touches, and which of them are simulated (spec 6, R7)."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel, noinline
from workbench.engines.node.pages import page_used
from workbench.engines.node.plan import ALL_BYTES, GATHER, HALO, SHARED, SLICE, STRIDE
from workbench.engines.node.state import COUNT, Run
from workbench.structures.splitmix import first_word, next_word, unit_of

OF_TOUCHES = 1
"""In the path of a draw: for a touch, not for compute."""


@kernel
def first_of_slice(pages: int, group: int, groups: int) -> int:
    """Return the first page of a group's slice."""
    return group * pages // groups


@kernel
def last_of_slice(pages: int, group: int, groups: int) -> int:
    """Return the last page of a group's slice."""
    return ((group + 1) * pages + groups - 1) // groups - 1


@noinline
def pages_touched(run: Run, touch: int, kernel_: int, group: int) -> int:
    """Return of how many pages a touch of a group is, simulated or not; `group` counts in its kernel."""
    plan, groups = run.plan, run.plan.groups[kernel_]
    pages, pattern = run.pages.count[plan.tensor[touch]], plan.pattern[touch]
    first, last = first_of_slice(pages, group, groups), last_of_slice(pages, group, groups)
    if pattern == SLICE:
        return last - first + 1
    if pattern == HALO:
        return min(last + plan.width[touch], pages - 1) - max(first - plan.width[touch], 0) + 1
    if pattern == SHARED:
        return pages
    if pattern == STRIDE:
        return plan.drawn[touch]
    return _draw(run, touch, kernel_, group)


@noinline
def pages_simulated(run: Run, touch: int, kernel_: int, group: int) -> int:
    """Return how many pages of a touch of a group are simulated."""
    pages, most = pages_touched(run, touch, kernel_, group), run.rules.most_touches
    return min(pages, most) if most > 0 else pages


@noinline
def page_simulated(run: Run, touch: int, kernel_: int, group: int, place: int) -> int:
    """Return the number in its tensor of a simulated page of a touch."""
    touched, most = pages_touched(run, touch, kernel_, group), run.rules.most_touches
    if 0 < most < touched:
        place = place * touched // most
    return page_touched(run, touch, kernel_, group, place)


@noinline
def page_touched(run: Run, touch: int, kernel_: int, group: int, place: int) -> int:
    """Return the number in its tensor of a page of a touch; of one by chance, whose draws were just counted."""
    plan = run.plan
    pages, pattern = run.pages.count[plan.tensor[touch]], plan.pattern[touch]
    if pattern == GATHER:
        return run.state.drawn[place]
    if pattern == STRIDE:
        return (group + place * plan.width[touch]) % pages
    if pattern == SHARED:
        return place
    first = first_of_slice(pages, group, plan.groups[kernel_])
    return max(first - plan.width[touch], 0) + place if pattern == HALO else first + place


@noinline
def _draw(run: Run, touch: int, kernel_: int, group: int) -> int:
    """Draw the pages of a gather by Zipf's law, repeats dropped; return how many they are."""
    plan, counters, drawn = run.plan, run.state.counters, run.state.drawn
    if counters[COUNT.drawn_touch] == touch and counters[COUNT.drawn_group] == plan.first_group[kernel_] + group:
        return counters[COUNT.drawn]
    word, pages = path_of_touch(run, touch, kernel_, group), run.pages.count[plan.tensor[touch]]
    first, count = plan.first_weight[touch], 0
    total = plan.weights[first + pages - 1]
    for draw in range(plan.drawn[touch]):
        chance = unit_of(next_word(word, draw)) * total
        page = min(_place_of(plan.weights, first, pages, chance), pages - 1)
        if not _has(drawn, count, page):
            drawn[count] = page
            count += 1
    counters[COUNT.drawn_touch], counters[COUNT.drawn_group] = touch, plan.first_group[kernel_] + group
    counters[COUNT.drawn] = count
    return count


@noinline
def path_of_touch(run: Run, touch: int, kernel_: int, group: int) -> np.uint64:
    """Return the word from which the draws of a touch of a group go on (spec 6, E6)."""
    plan = run.plan
    step, phase = plan.step_of[kernel_], plan.phase_of[touch]
    stream = plan.stream_of[step]
    application = plan.application_of[stream]
    word = next_word(first_word(run.rules.seed), application)
    word = next_word(word, stream - plan.first_stream[application])
    word = next_word(word, step - plan.first_step[stream])
    word = next_word(next_word(word, group), OF_TOUCHES)
    return next_word(next_word(word, phase - plan.first_phase[kernel_]), touch - plan.first_touch[phase])


@kernel
def _place_of(weights: np.ndarray, first: int, pages: int, chance: float) -> int:
    """Return how many of the sums from `first` on are not above a chance."""
    low, high = 0, pages
    while low < high:
        middle = (low + high) // 2
        if chance < weights[first + middle]:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _has(drawn: np.ndarray, count: int, page: int) -> bool:
    result = False
    for place in range(count):
        result |= drawn[place] == page
    return bool(result)


@noinline
def bytes_touched(run: Run, touch: int, kernel_: int, group: int, place: int) -> int:
    """Return the bytes that a simulated page of a touch stands for: equal whole parts, the first ones with
    a byte more."""
    from_all, simulated = run.plan.bytes[touch], pages_simulated(run, touch, kernel_, group)
    if from_all == ALL_BYTES:
        from_all = _bytes_of_pages(run, touch, kernel_, group)
    return from_all // simulated + (place < from_all % simulated)


@noinline
def _bytes_of_pages(run: Run, touch: int, kernel_: int, group: int) -> int:
    """Return the bytes of the tensor in all pages of a touch, simulated or not."""
    total = 0
    for place in range(pages_touched(run, touch, kernel_, group)):
        page = page_touched(run, touch, kernel_, group, place)
        total += page_used(run.pages, run.plan.tensor[touch], page)
    return total
