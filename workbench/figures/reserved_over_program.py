"""How much does PyTorch's allocator get from the driver over a program's requests, under which settings?"""

from __future__ import annotations

from workbench.experiments.row import run_id
from workbench.experiments.run_set import RunSet
from workbench.figures.one_run import common_seed
from workbench.figures.panels import drawn_panels
from workbench.figures.recipe import Recipe
from workbench.figures.reserved_over_requests import Reserved, ReservedOverRequests, draw, looked_at
from workbench.records.torch_allocator import CardRun


def reserved_over_program_data(runs: RunSet, seed: int | None = None) -> ReservedOverRequests:
    """Compute the bytes got from the first card's driver after every request, and what the program has of them.

    Parameters
    ----------
    seed : int, optional
        Which run; the first seed that every point finished if None.

    Raises
    ------
    InputError
        No seed was finished by all points, or there are more panels or lines than can be drawn.
    """
    panels = drawn_panels(runs, FIGURE.name)
    chosen = common_seed(runs, seed, FIGURE.name)
    lines = []
    for place, panel in enumerate(panels):
        rows = [(line, _first_card(runs, run_id(line.point.id, chosen))) for line in panel.lines]
        lines.append(Reserved(place, "live", -1, *looked_at(rows[0][1].live)))
        lines += [Reserved(place, line.name, line.style, *looked_at(card.reserved)) for line, card in rows]
    return ReservedOverRequests(chosen, tuple(panel.title for panel in panels), tuple(lines))


def _first_card(runs: RunSet, name: str) -> CardRun:
    card: CardRun = runs.record(name).cards[0]
    return card


FIGURE = Recipe(
    "reserved_over_program",
    "torch_allocator",
    "Memory got from the driver after every request of a program, by setting, above what is live.",
    reserved_over_program_data,
    draw,
)
