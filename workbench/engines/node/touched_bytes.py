"""The bytes of a tensor that a group touches: its pages in the order of first use, and its lines (spec 6, R7).

What a program touches is said in bytes, so that it is the same program at every page size. Slices, halos and whole
tensors are one range of bytes, of which everything is computed; elements at a stride or by chance are listed.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel, noinline
from workbench.engines.node.pages import page_at, page_begin, page_bytes
from workbench.engines.node.plan import (
    ABSENT,
    ALL_BYTES,
    GATHER,
    HALO,
    MOST_DRAWS,
    MOST_LISTED,
    SHARED,
    SMALLEST_PAGE,
    STRIDE,
)
from workbench.engines.node.state import COUNT, Run
from workbench.structures.rng import permuted, rank_of, unit_of, word_at, word_of_seed

OF_TOUCHES = 1
"""In the path of a draw: for a touch, not for compute."""
PAGE, LINES = range(2)
"""Columns of `State.drawn` and `State.by_address`."""


@noinline
def pages_touched(run: Run, touch: int, kernel_: int, group: int) -> int:
    """Return of how many pages a touch of a group is, simulated or not; `group` counts in its kernel."""
    if is_listed(run, touch):
        return _list_pages(run, touch, kernel_, group)
    begin, end = _range_begin(run, touch, kernel_, group), _range_end(run, touch, kernel_, group)
    tensor = run.plan.tensor[touch]
    return page_at(run.pages, tensor, end - 1) - page_at(run.pages, tensor, begin) + 1 if end > begin else 0


@noinline
def pages_simulated(run: Run, touch: int, kernel_: int, group: int) -> int:
    """Return the number of pages of a touch of a group that are simulated."""
    pages, most = pages_touched(run, touch, kernel_, group), run.rules.most_touches
    return min(pages, most) if most > 0 else pages


@noinline
def page_simulated(run: Run, touch: int, kernel_: int, group: int, place: int) -> int:
    """Return the number in its tensor of a simulated page of a touch; of one by chance, whose draws were just
    counted."""
    touched, most = pages_touched(run, touch, kernel_, group), run.rules.most_touches
    if 0 < most < touched:
        place = place * touched // most
    if is_listed(run, touch):
        return int(run.state.drawn[place, PAGE])
    return page_at(run.pages, run.plan.tensor[touch], _range_begin(run, touch, kernel_, group)) + place


@noinline
def bytes_touched(run: Run, touch: int, kernel_: int, group: int, place: int) -> int:
    """Return the bytes that a simulated page of a touch stands for.

    They are its lines' where all pages are simulated; else, and of a touch that states its bytes, equal whole parts of
    the touch's, the first ones with a byte more.
    """
    touched, stated = pages_touched(run, touch, kernel_, group), run.plan.bytes[touch]
    simulated = pages_simulated(run, touch, kernel_, group)
    if stated == ALL_BYTES and simulated == touched:
        return _lines_of_page(run, touch, kernel_, group, place) * run.rules.line_bytes
    whole = (
        _lines_touched(run, touch, kernel_, group, touched) * run.rules.line_bytes if stated == ALL_BYTES else stated
    )
    return whole // simulated + (place < whole % simulated)


@kernel
def is_listed(run: Run, touch: int) -> bool:
    """Return whether a touch is of elements here and there, not of a range of bytes."""
    return bool(run.plan.pattern[touch] == GATHER or run.plan.pattern[touch] == STRIDE)


@kernel
def _range_begin(run: Run, touch: int, kernel_: int, group: int) -> int:
    """Return the first byte of a touch that is a range."""
    plan = run.plan
    if plan.pattern[touch] == SHARED:
        return 0
    begin = part_of(plan.size[plan.tensor[touch]], group, plan.groups[kernel_])
    return max(begin - plan.width[touch], 0) if plan.pattern[touch] == HALO else begin


@kernel
def _range_end(run: Run, touch: int, kernel_: int, group: int) -> int:
    """Return the byte behind the last of a touch that is a range."""
    plan = run.plan
    size = plan.size[plan.tensor[touch]]
    if plan.pattern[touch] == SHARED:
        return size
    end = part_of(size, group + 1, plan.groups[kernel_])
    return min(end + plan.width[touch], size) if plan.pattern[touch] == HALO else end


@kernel
def part_of(size: int, group: int, groups: int) -> int:
    """Return floor(group x size / groups), of any numbers whose result fits."""
    return group * (size // groups) + group * (size % groups) // groups


@kernel
def _lines_between(run: Run, begin: int, end: int) -> int:
    """Return the number of lines that hold a byte of a range that is not empty."""
    return (end - 1) // run.rules.line_bytes - begin // run.rules.line_bytes + 1


@noinline
def _lines_of_page(run: Run, touch: int, kernel_: int, group: int, place: int) -> int:
    """Return the number of lines of a page of a touch that hold one of its bytes."""
    if is_listed(run, touch):
        return int(run.state.drawn[place, LINES])
    pages, tensor = run.pages, run.plan.tensor[touch]
    begin, end = _range_begin(run, touch, kernel_, group), _range_end(run, touch, kernel_, group)
    page = page_at(pages, tensor, begin) + place
    at = page_begin(pages, tensor, page)
    return _lines_between(run, max(begin, at), min(end, at + page_bytes(pages, tensor, page)))


@noinline
def _lines_touched(run: Run, touch: int, kernel_: int, group: int, pages: int) -> int:
    """Return the number of lines that hold a byte of a touch: no line lies on two pages."""
    if not is_listed(run, touch):
        return _lines_between(run, _range_begin(run, touch, kernel_, group), _range_end(run, touch, kernel_, group))
    lines = 0
    for place in range(pages):
        lines += run.state.drawn[place, LINES]
    return lines


@noinline
def _list_pages(run: Run, touch: int, kernel_: int, group: int) -> int:
    """List the pages of a touch of elements in the order of first use, each with its lines; return how many there
    are."""
    counters, number = run.state.counters, run.plan.first_group[kernel_] + group
    # The pages of a touch are requested one by one, so its list is kept until another one is needed.
    if run.rules.skips and counters[COUNT.drawn_touch] == touch and counters[COUNT.drawn_group] == number:
        return int(counters[COUNT.drawn])
    _list_elements(run, touch, kernel_, group)
    count, drawn, order = _list_by_address(run, touch), run.state.drawn, run.state.order
    _sort(order, count)
    for place in range(count):
        row = order[place] % MOST_LISTED
        drawn[place, PAGE], drawn[place, LINES] = run.state.by_address[row, PAGE], run.state.by_address[row, LINES]
    counters[COUNT.drawn_touch], counters[COUNT.drawn_group] = touch, number
    counters[COUNT.drawn] = count
    return count


@noinline
def _list_elements(run: Run, touch: int, kernel_: int, group: int) -> None:
    """Write where the elements of a touch begin into `order`, with the number of the draw, by address."""
    plan, order = run.plan, run.state.order
    tensor, draws, element = plan.tensor[touch], plan.drawn[touch], plan.element[touch]
    size = plan.size[tensor]
    if plan.pattern[touch] == STRIDE:
        for draw in range(draws):
            # Address and draw in one number, below 2^62: at most 2^42 bytes and 2^20 draws.
            order[draw] = (group + draw * plan.width[touch]) * element % size * MOST_DRAWS + draw
    else:
        count, word = (size + element - 1) // element, path_of_touch(run, touch, kernel_, group)
        of_tensor = _path_of_tensor(run, tensor)
        for draw in range(draws):
            chance = unit_of(word_at(word, draw))
            rank = rank_of(plan.weights, plan.first_weight[touch], count, plan.skew[touch], chance)
            order[draw] = permuted(of_tensor, count, rank) * element * MOST_DRAWS + draw
    _sort(order, draws)


@noinline
def _list_by_address(run: Run, touch: int) -> int:
    """List the pages of elements that are sorted, by address, with their lines and when each is first used."""
    plan, pages, rows, first_use = run.plan, run.pages, run.state.by_address, run.state.first_use
    tensor, element, line = plan.tensor[touch], plan.element[touch], run.rules.line_bytes
    size, span = plan.size[tensor], element // SMALLEST_PAGE + 2
    count, last_line = 0, -1
    for place in range(plan.drawn[touch]):
        begin, draw = run.state.order[place] // MOST_DRAWS, run.state.order[place] % MOST_DRAWS
        end = min(begin + element, size)
        first = page = page_at(pages, tensor, begin)
        at = begin
        while at < end:
            behind = page_begin(pages, tensor, page) + page_bytes(pages, tensor, page)
            if count == 0 or page > rows[count - 1, PAGE]:
                rows[count, PAGE], rows[count, LINES], first_use[count] = page, 0, LAST
                count += 1
            # No page is missing between this one and the last one listed: it lies as many rows before the last.
            row = count - 1 - (rows[count - 1, PAGE] - page)
            last = (min(end, behind) - 1) // line
            # Its lines up to `last_line` were counted for an element before it: each line counts once a touch.
            rows[row, LINES] += max(last - max(at // line, last_line + 1) + 1, 0)
            first_use[row] = min(first_use[row], draw * span + page - first)
            last_line, at, page = max(last_line, last), behind, page + 1
    for row in range(count):
        run.state.order[row] = first_use[row] * MOST_LISTED + row
    return count


# At most 2^20 draws of 2^18 + 2 pages each stay below it. Times 2^24 rows the product stays below 2^63.
LAST = 1 << 39
"""Later than any use."""


@noinline
def _sort(numbers: np.ndarray, count: int) -> None:
    """Sort the first numbers, in place (Shell's sort)."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(gap, count):
            number, to = numbers[at], at
            while to >= gap and numbers[to - gap] > number:
                numbers[to] = numbers[to - gap]
                to -= gap
            numbers[to] = number
        gap //= 3


@noinline
def path_of_touch(run: Run, touch: int, kernel_: int, group: int) -> np.uint64:
    """Return the word from which the draws of a touch of a group go on (spec 6, E6)."""
    plan = run.plan
    step, phase = plan.step_of[kernel_], plan.phase_of[touch]
    stream = plan.stream_of[step]
    application = plan.application_of[stream]
    word = word_at(word_of_seed(run.rules.seed), application)
    word = word_at(word, stream - plan.first_stream[application])
    word = word_at(word, step - plan.first_step[stream])
    word = word_at(word_at(word, group), OF_TOUCHES)
    return word_at(word_at(word, phase - plan.first_phase[kernel_]), touch - plan.first_touch[phase])


@noinline
def _path_of_tensor(run: Run, tensor: int) -> np.uint64:
    """Return the word of the permutation of a tensor's elements: of its application, and its place among the tensors
    of that."""
    application = run.plan.owner_of[tensor]
    word = word_at(word_at(word_of_seed(run.rules.seed), application), ABSENT)
    return word_at(word, tensor - run.plan.first_tensor[application])
