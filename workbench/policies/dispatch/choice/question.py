"""Which of the modules with room takes the group? (spec 3, Em. 9 and 10)

An answer takes a `ChoiceView` and gives every candidate a score; the highest is taken. A policy that must know which
module was taken also defines `chosen(see)`, which takes a `ChoiceNotice` after the group's resources are taken.

Rows of arrays of all modules begin at `modules[k] * totals.size` and `modules[k] * 6`. The order of resources is that
of the machine: by default vgpr, sgpr, waves (of units), shared, workgroups (of modules). Classes of instructions: move,
load, store, matrix, compare, jump.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from workbench.compiled import MEMORY, PARAMS, Answer, Question, number, readable, view, writable
from workbench.errors import InputError, unknown_name, wrong_value
from workbench.policies.arguments import MOST, listed, reals, seed_of, table, whole, wholes
from workbench.policies.policy import Policy

CLASSES = ("move", "load", "store", "matrix", "compare", "jump")
"""The instruction classes (spec 3, R78)."""
INSTRUCTIONS = len(CLASSES)


@view
class ChoiceView(NamedTuple):
    """A group, and the modules that have room for it."""

    cycle: int = number("the cycle of the round")
    count: int = number("how many candidates there are, at least 1; arrays of candidates may be longer")  # type: ignore[assignment]
    modules: np.ndarray = readable("int64", "candidates", "the candidates, increasing")
    demand: np.ndarray = readable("int64", "resources", "what the whole group takes of each resource of a module")
    free: np.ndarray = readable(
        "int64", "all modules * resources", "free blocks of each module, row by row, summed over its units"
    )
    longest: np.ndarray = readable(
        "int64",
        "all modules * resources",
        "the longest run that is reported of each contiguous resource, of a countable one its free amount: the "
        "smallest over the units of a module",
    )
    totals: np.ndarray = readable("int64", "resources", "blocks of each resource in an empty module")
    recent: np.ndarray = readable(
        "float64",
        "all modules * classes",
        "instructions of each class in the module's recent past, as far back as `history_cycles()` says; else zeros",
    )
    heat: np.ndarray = readable(
        "float64", "all modules", "degrees above the ambient, where heat is simulated; else zeros"
    )
    scores: np.ndarray = writable("float64", "candidates", "to be filled: the score of each candidate, by its position")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


SCORE = Question(
    "choice",
    ChoiceView,
    returns="nothing",
    answers="nothing: it fills in the score of each candidate, the highest of which is taken",
    wrong="gave module {answer} a score that is no number, or an infinite one that cannot be summed",
)


@view
class ChoiceNotice(NamedTuple):
    """The module that was taken, told after the group's resources are taken."""

    module: int = number("the module that was taken")
    modules: int = number("how many modules there are in all")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


CHOSEN = Question("choice notice", ChoiceNotice, returns="nothing")


@view
class PagesNotice(NamedTuple):
    """The pages of a group, told before each verdict about it (spec 6, R15)."""

    pages: np.ndarray = readable(
        "int64", "all modules", "how many pages of the group each module holds, in its TLB or in its directory"
    )
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


HELD = Question("pages notice", PagesNotice, returns="nothing")


class ReadyChoice(NamedTuple):
    """A score as engines receive it."""

    answer: Answer
    chosen: Answer
    params: np.ndarray
    memory: np.ndarray
    history_cycles: int
    """The length of the sliding window, 0 = none."""
    halving_cycles: int
    """The period at which decaying counters are halved, 0 = none."""


class Choice(Policy, abstract=True):
    """The base of every module choice; a new one needs an `answer`."""

    question: ClassVar[str] = "choice"
    asks: ClassVar[Question] = SCORE
    tells = {"chosen": CHOSEN}
    rows_are: ClassVar[Literal["free", "recent", "heat"]] = "free"
    """What the rows are that `choose` is given."""
    classes: ClassVar[int] = INSTRUCTIONS
    """Numbers a module that the policy reads of the recent past."""
    chosen: ClassVar[Callable[..., Any] | None] = None

    def terms(self) -> tuple[tuple[Choice, float], ...]:
        """Return the scores that are summed, each with its weight; a single score is taken as it is.

        With several terms each score is first normalised over the candidates: (score - least) / (most - least), 0
        where all are equal (spec 3, E20). The sum is then formed in the order of the terms.
        """
        return ((self, 1.0),)

    def history_cycles(self) -> int:
        """Return over how many of the latest cycles instructions are counted exactly, 0 = not at all."""
        return 0

    def halving_cycles(self) -> int:
        """Return the cycles after which counters of instructions are halved, 0 = no such counters."""
        return 0

    def needs_heat(self) -> bool:
        """Return whether the policy reads temperatures, so that heat must be simulated."""
        return False

    def start_memory(self, modules: int, seed: int) -> np.ndarray:
        """Return what the policy remembers at the start of a run: int64[memory_size], zeros unless it says
        otherwise."""
        return np.zeros(1, np.int64)

    def check_resources(self, names: Sequence[str], path: str = "", where: str = "") -> None:
        """Refuse levers that do not go with the machine's resources, such as a wrong number of weights."""

    def bound(self, names: Sequence[str]) -> Self:
        """Return the policy for a machine with these resources, in their order.

        Itself, unless it must know where a certain resource stands. Engines bind the policy before anything else.
        """
        return self

    def speakers(self) -> Sequence[Choice]:
        """Return the terms of the sum, whose functions answer."""
        return [term for term, _ in self.terms()]

    def needs_totals(self) -> bool:
        """Return whether the score divides by what an empty module has."""
        return False

    def scores(self, rows: Any, after: Sequence[int] = (), seed: int = 0, **seen: Any) -> list[float]:
        """Return the score of each module, in plain Python and without an engine; parameters as those of `choose`."""
        shown, seed = scene(rows, self.rows_are, self.classes, **seen), seed_of(seed)
        after = wholes("after", after, 0, len(shown.heat) - 1)
        if self.needs_totals() and not shown.totals.all():
            raise InputError(f"{self.name} divides by totals; give choose the blocks of each resource: totals=(...).")
        bound = self.bound(shown.names)
        bound.check_resources(shown.names)
        return summed([(self._asked(term, shown, after, seed), weight) for term, weight in bound.terms()])

    def choose(self, rows: Any, after: Sequence[int] = (), seed: int = 0, **seen: Any) -> int:
        """Choose the module that takes a group, in plain Python and without an engine; the lowest module wins a tie.

        Parameters
        ----------
        rows : sequence of sequences
            One row a module: free amounts of each resource, or, where that is what the policy reads, instructions of
            each class in its recent past; for `coolest_first` a number a module.
        after : sequence of int
            The modules that took groups before, in their order, for policies that remember.
        seed : int
            The seed of policies that draw.
        **seen : sequences, optional
            More of what the question shows: `free`, `longest`, `recent`, `heat` (a row a module); `demand`, `totals`,
            `names` (a value a resource); `modules` (the candidates; all if not given); `cycle`; `pages` of the group
            that each module holds. What is not given is zero; the longest runs are then the free amounts, and the
            names the usual ones where there are five.

        Raises
        ------
        InputError
            There is no module, rows differ in length, or the levers do not go with the resources.
        """
        scores = self.scores(rows, after, seed, **seen)
        candidates = seen.get("modules")
        return int((range(len(scores)) if candidates is None else candidates)[scores.index(max(scores))])

    @staticmethod
    def _asked(term: Choice, shown: Scene, after: Sequence[int], seed: int) -> np.ndarray:
        count = len(shown.heat)
        memory, params, scores = term.start_memory(count, seed), term.parameters(), np.zeros(len(shown.modules))
        for module in after:
            term.tell("chosen", ChoiceNotice(module, count, params, memory))
        if "held" in term.tells:
            term.tell("held", PagesNotice(shown.pages, params, memory))
        term.plain_answer()(ChoiceView(shown.cycle, scores.size, *shown.columns(), scores, params, memory))
        return scores

    def ready(self, modules: int, seed: int = 0, checked: bool = False) -> ReadyChoice:
        """Return the score for one run: compiled functions, parameters, fresh memory."""
        return ReadyChoice(
            self.ready_answer(checked),
            self.ready_notice("chosen", checked),
            self.parameters(),
            self.start_memory(modules, seed),
            self.history_cycles(),
            self.halving_cycles(),
        )


USUAL = ("vgpr", "sgpr", "waves", "shared", "workgroups")
"""The resources of a machine that declares no others, in their order."""
_SHOWN = ("free", "longest", "recent", "heat", "demand", "totals", "names", "modules", "cycle", "pages")

_Columns = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Scene(NamedTuple):
    """What a choice is shown, as arrays; rows of all modules lie one behind another."""

    cycle: int
    modules: np.ndarray
    demand: np.ndarray
    free: np.ndarray
    longest: np.ndarray
    totals: np.ndarray
    recent: np.ndarray
    heat: np.ndarray
    names: tuple[str, ...]
    pages: np.ndarray = np.zeros(0, np.int64)

    def columns(self) -> _Columns:
        """Return the arrays in the order of the question, from `modules` to `heat`."""
        return self.modules, self.demand, self.free, self.longest, self.totals, self.recent, self.heat


def scene(rows: Any, rows_are: str, classes: int = INSTRUCTIONS, **seen: Any) -> Scene:
    """Fill in what was not given; `Choice.choose` says with what."""
    for name in seen:
        if name not in _SHOWN:
            raise unknown_name("", "thing that a choice is shown", name, _SHOWN)
    given = {rows_are: rows, **seen}
    count = len(listed("rows", rows, "must be one row a module"))
    sizes = listed("totals", given.get("totals", given.get("demand", ())), "must be a list of numbers")
    free = _table(given.get("free"), count, len(sizes), "free")
    width = free.shape[1]
    return Scene(
        cycle=whole("cycle", given.get("cycle", 0)),
        modules=np.array(_candidates(given.get("modules", [*range(count)]), count), np.int64),
        demand=np.array(wholes("demand", given.get("demand", [0] * width), count=width), np.int64),
        free=free.reshape(-1).astype(np.int64),
        longest=_table(given.get("longest", free), count, width, "longest").reshape(-1).astype(np.int64),
        totals=np.array(wholes("totals", given.get("totals", [0] * width), count=width), np.int64),
        recent=_table(given.get("recent"), count, classes, "recent", {INSTRUCTIONS, classes}).reshape(-1),
        heat=np.array(reals("heat", given.get("heat", [0.0] * count), count)),
        names=_names(given.get("names"), width),
        pages=np.array(wholes("pages", listed("pages", given.get("pages", ())) or [0] * count, count=count), np.int64),
    )


def _candidates(modules: Any, count: int) -> list[int]:
    """Return the modules that may take the group, at least one of those that are shown."""
    candidates = wholes("modules", modules, 0, count - 1)
    if not candidates:
        raise InputError("choose needs at least one candidate. Got modules without any.")
    return candidates


def _names(names: Any, width: int) -> tuple[str, ...]:
    """Return what the resources are called: as given, as usual where there are five, else by their numbers."""
    if names is None:
        return USUAL if width == len(USUAL) else tuple(f"resource {k + 1}" for k in range(width))
    found = listed("names", names, "must be a list of names of resources")
    if len(found) != width or not all(isinstance(name, str) for name in found):
        raise wrong_value("", "names", f"must be a list of {width} names of resources", names)
    return tuple(found)


def _table(rows: Any, count: int, width: int, what: str, classes: Collection[int] = ()) -> np.ndarray:
    """Return the rows as float64[count, width]; zeros where there are none, and for classes that are not counted."""
    if count == 0:
        raise InputError("choose needs at least one module. Got no rows.")
    if rows is None:
        return np.zeros((count, width))
    rows = table(what, rows)
    widths = sorted({len(row) for row in rows})
    if len(rows) != count or len(widths) != 1 or (classes and widths[0] not in classes):
        of = f" of {' or '.join(map(str, sorted(classes)))} classes" if classes else ""
        raise InputError(f"{what} must have one row{of} a module, all of one length. Got rows of {widths}.")
    result = np.array(rows, np.float64)
    if not (np.abs(result) <= MOST).all():
        raise wrong_value("", what, f"must hold numbers up to {MOST}", float(result.flat[np.abs(result).argmax()]))
    return np.pad(result, ((0, 0), (0, width - widths[0]))) if classes else result


def summed(scored: Sequence[tuple[np.ndarray, float]]) -> list[float]:
    """Return one score as it is; several normalised over the candidates, weighted and added in their order (spec 3,
    E20).

    >>> summed([(np.array([5.0, 7.0]), 1.0)]), summed([(np.array([5.0, 7.0]), 0.5), (np.array([-4.0, -4.0]), 0.5)])
    ([5.0, 7.0], [0.0, 0.5])
    """
    if len(scored) == 1:
        return [float(score) for score in scored[0][0]]
    total = np.zeros(len(scored[0][0]))
    for scores, weight in scored:
        total = total + weight * normalised(scores)
    return [float(score) for score in total]


def normalised(scores: np.ndarray) -> np.ndarray:
    """Normalise scores over the candidates to 0..1: (score - least) / (most - least), 0 where all are equal."""
    least, most = scores.min(), scores.max()
    return np.zeros(len(scores)) if least == most else (scores - least) / (most - least)
