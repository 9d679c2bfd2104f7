"""Module choices by what runs there, by turns, number or chance, by pages that a module holds, by what is left of it.

- Load: least waves, the idler of two; then round robin, the first module, any module.
- Affinity: the module that holds most of a group's pages (spec 6, R15).
- Packing: what is left of each resource, as in vector packing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from workbench.compiled import MEMORY, PARAMS, Question, kernel, readable, view
from workbench.errors import InputError, at, wrong_value
from workbench.levers import lever
from workbench.policies.arguments import check_weights, wholes
from workbench.policies.dispatch.choice.question import CHOSEN, USUAL, Choice, ChoiceNotice, ChoiceView, scene
from workbench.streams import Streams
from workbench.structures.rng import below

AT = 0


class ByLoad(Choice, abstract=True):
    """A choice that counts the waves or the workgroups that run in a module, by the slots that they take."""

    load: Literal["waves", "workgroups"] = lever("waves", description="what is counted")
    load_at: int = lever(
        -1,
        least=-1,
        most=63,
        description="where its slots stand among the machine's resources; -1 = where they usually do",
    )

    def bound(self, names: Sequence[str]) -> Self:
        """Return the policy with the place at which this machine has the slots."""
        return self.but(load_at=list(names).index(self.load)) if self.load in names else self

    def parameters(self) -> np.ndarray:
        return np.array([float(USUAL.index(self.load) if self.load_at < 0 else self.load_at)])

    def check_resources(self, names: Sequence[str], path: str = "", where: str = "") -> None:
        path, place = path or self.name, int(self.parameters()[AT])
        if self.load not in names:
            lacks = f"{path} counts {self.load}, which this machine has no slots of; it has {', '.join(names)}."
            raise InputError(at(where, lacks))
        if list(names).index(self.load) != place:
            expected = f"must be the place of {self.load} among {', '.join(names)}, from 0 on"
            raise wrong_value(where, f"{path}.load_at", expected, place, list(names).index(self.load))


class LeastWaves(ByLoad):
    """Take the module in which the fewest waves run, or with `load="workgroups"` the fewest groups; ties as the engine.

    Counted by workgroups it is the rule to join the shortest queue. It balances slots, not registers or memory.

    References
    ----------
    spec 3, section 7: join shortest queue, least waves.

    Examples
    --------
    >>> LeastWaves().choose([(9, 9, 3, 9, 9), (1, 1, 7, 1, 9), (9, 9, 5, 9, 9)], totals=(9, 9, 10, 9, 9))
    1
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = idle_slots(see.modules[k], see.free, see.totals, see.levers)


GENERATOR = 0
"""Memory: the state of the random generator, never 0."""


class TwoChoices(ByLoad):
    """Draw two of the modules with room and take the one in which fewer waves (or groups) run; ties as the engine.

    Every pair is equally likely. The module that is taken scores 2, the other one 1, or 2 as well at a tie, all others
    0. Nearly as even as looking at all modules, for two looks.

    References
    ----------
    spec 3, section 7. Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 12(10), 2001.

    Examples
    --------
    >>> TwoChoices().choose([(9, 9, 3, 9, 9), (9, 9, 7, 9, 9)])
    1
    """

    draws = True

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = 0.0
        one = below(see.memory, GENERATOR, see.count)
        if see.count > 1:
            two = below(see.memory, GENERATOR, see.count - 1)
            two += two >= one
            ahead = idle_slots(see.modules[one], see.free, see.totals, see.levers) - idle_slots(
                see.modules[two], see.free, see.totals, see.levers
            )
            see.scores[two] = 2.0 if ahead <= 0.0 else 1.0
            see.scores[one] = 2.0 if ahead >= 0.0 else 1.0
        else:
            see.scores[one] = 2.0

    def start_memory(self, modules: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `two_choices` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("two_choices"), 1)])


NEXT = 0
"""Memory: the module behind the one that was taken last."""


class RoundRobin(Choice):
    """Take the first module with room behind the one that was taken last, cyclically; there are no ties.

    It is blind to what is left in a module and to what has run there. The turn passes when a group is dispatched, so a
    module without room loses its turn.

    References
    ----------
    spec 3, R82; source document ¶238.

    Examples
    --------
    >>> RoundRobin().choose([(5,), (5,), (5,)]), RoundRobin().choose([(5,), (5,), (5,)], after=(0, 1))
    (0, 2)
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        every = see.free.size // see.totals.size
        for k in range(see.count):
            see.scores[k] = -float((see.modules[k] - see.memory[NEXT]) % every)

    @staticmethod
    def chosen(see: ChoiceNotice) -> None:
        see.memory[NEXT] = (see.module + 1) % see.modules


class FirstModule(Choice):
    """Take the lowest module with room, whatever the engine does with ties, for there are none.

    Modules fill one after another, and the last ones stay idle as long as they can.

    References
    ----------
    spec 3, section 7: a control that balances nothing; first fit over the modules.

    Examples
    --------
    >>> FirstModule().choose([(1,), (9,), (9,)], modules=(1, 2))
    1
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = -float(see.modules[k])


class RandomModule(Choice):
    """Take any module with room, each as likely as another: it scores 1 and all others 0; there are no ties.

    The numbers come from the policy's own generator, seeded from the run's seed; every question draws one.

    References
    ----------
    spec 3, section 7.

    Examples
    --------
    >>> RandomModule().choose([(5,), (5,), (5,)], modules=(1, 2)) in (1, 2)
    True
    """

    draws = True

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = 0.0
        see.scores[below(see.memory, GENERATOR, see.count)] = 1.0

    def start_memory(self, modules: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `random_module` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("random_module"), 1)])


@kernel
def idle_slots(module: int, free: Any, totals: Any, params: Any) -> float:
    """Return minus the waves or workgroups that run in a module: the more, the idler."""
    place = int(params[AT])
    return float(free[module * totals.size + place] - totals[place])


@view
class PagesNotice(NamedTuple):
    """The pages of a group, told before each verdict about it."""

    pages: np.ndarray = readable(
        "int64", "all modules", "how many pages of the group each module holds, in its TLB or in its directory"
    )
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


HELD = Question("pages notice", PagesNotice, returns="nothing")


class ByPages(Choice, abstract=True):
    """A choice that is told before each verdict how many pages of the group each module holds, by its `held(see)`.

    What it is told it writes into its memory, which its `answer` reads. A dispatcher by itself has nobody who knows:
    it tells nothing, and what the memory held at the start stays.
    """

    tells = {"chosen": CHOSEN, "held": HELD}
    held: ClassVar[Callable[..., Any] | None] = None


class Affinity(ByPages, ByLoad):
    """Take the module that holds most pages of the group, of equals the one with the fewest waves; ties as the engine.

    A page is held by a module whose TLB has its translation, or whose directory has a record of it; each counts once.
    The whole node knows; a dispatcher by itself does not, and takes the module with the fewest waves (`load`: or
    groups). The score is pages x (slots + 1) - slots in use, so no number of idle slots outweighs a page.

    References
    ----------
    spec 6, R15, H6.6; spec 3, section 8: the module choice decides which cores share pages.

    Examples
    --------
    >>> modules = [(9, 9, 7, 9, 9), (9, 9, 3, 9, 9), (9, 9, 4, 9, 9)]
    >>> Affinity().choose(modules, pages=(0, 2, 2), totals=(9, 9, 10, 9, 9))
    2
    >>> Affinity().choose(modules, totals=(9, 9, 10, 9, 9))
    0
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        a_page = float(see.totals[int(see.levers[AT])] + 1)
        for k in range(see.count):
            idle = idle_slots(see.modules[k], see.free, see.totals, see.levers)
            see.scores[k] = a_page * float(see.memory[see.modules[k]]) + idle

    @staticmethod
    def held(see: PagesNotice) -> None:
        for module in range(see.pages.size):
            see.memory[module] = see.pages[module]

    def start_memory(self, modules: int, seed: int) -> np.ndarray:
        """Return how many pages each module holds of a group that nobody knows: int64[modules], zeros."""
        return np.zeros(modules, np.int64)

    def scores(
        self, rows: Any, after: Sequence[int] = (), seed: int = 0, pages: Sequence[int] = (), **seen: Any
    ) -> list[float]:
        """Return the score of each module, in plain Python and without an engine.

        Parameters
        ----------
        rows, after, seed, **seen
            As those of `choose`.
        pages : sequence of int
            How many pages of the group each module holds; none if not given.
        """
        every = super().scores(rows, after, seed, **seen)
        if not len(pages):
            return every
        shown = scene(rows, self.rows_are, **seen)
        held = wholes("pages", pages, 0, count=len(shown.heat))
        bound = self.bound(shown.names)
        scores, memory = np.zeros(len(every)), np.array(held, np.int64)
        bound.plain_answer()(ChoiceView(shown.cycle, scores.size, *shown.columns(), scores, bound.parameters(), memory))
        return [float(score) for score in scores]


NORMALISE, OF, WEIGHTS = 0, 1, 2
LONGEST = 1


class MostResidual(Choice):
    """Take the module with the largest weighted sum of what is left of its resources; ties as the engine breaks them.

    The score of a module is the sum over the resources of weight x what is left. Amounts differ by orders of magnitude
    (128 register blocks, 10 wave slots), so a raw sum with equal weights follows the large ones; `normalise` divides
    each by what an empty module has. The document's own remedy is to calibrate the weights (`ResourceCalibrator`).

    What is left is the free amount, or with `of="longest"` the longest run that is reported: for a resource of units
    the shortest of its units', to be compared with a single unit's demand. Totals stay those of the whole module.

    References
    ----------
    spec 3, R69-R72, E19, V32, V33; source document ¶237-259. Without weights and normalised, it is worst fit by sums.

    Examples
    --------
    >>> MostResidual(weights=(3, 1, 0.5, 2), normalise=False).choose([(10, 20, 8, 4), (12, 10, 16, 3)])
    0
    >>> MostResidual(normalise=True).choose([(100, 40, 40, 1), (80, 40, 40, 9)], totals=(128, 64, 48, 10))
    1
    """

    weights: tuple[float, ...] = lever(
        (), least=0, most=1e12, description="weight of each resource of the machine, in its order; none = all alike"
    )
    normalise: bool = lever(False, description="divide what is left by what an empty module has")
    of: Literal["free", "longest"] = lever(
        "free", description="what counts as left: the free amount or the longest run"
    )

    @staticmethod
    def answer(see: ChoiceView) -> None:
        resources = see.totals.size
        for k in range(see.count):
            score = 0.0
            for r in range(resources):
                weight = see.levers[WEIGHTS + r] if see.levers.size > WEIGHTS else 1.0
                at = see.modules[k] * resources + r
                left = float(see.longest[at]) if see.levers[OF] == LONGEST else float(see.free[at])
                score += weight * (left / see.totals[r]) if see.levers[NORMALISE] else weight * left
            see.scores[k] = score

    def parameters(self) -> np.ndarray:
        return np.array([float(self.normalise), float(self.of == "longest"), *self.weights])

    def needs_totals(self) -> bool:
        return self.normalise

    def check(self) -> None:
        if self.weights and not any(self.weights):
            check_weights(self.weights, ["resource"] * len(self.weights), "resource", f"{self.name}.weights")

    def check_resources(self, names: Sequence[str], path: str = "", where: str = "") -> None:
        if self.weights:
            check_weights(self.weights, names, "resource", f"{path or self.name}.weights", where)


class BestFitModule(Choice):
    """Take the module in which the group leaves the shortest vector of residual shares; ties as the engine breaks them.

    A share is what would be left of a resource over what an empty module has; the length is Euclidean. Modules fill
    one after another, and empty ones are kept for large groups.

    References
    ----------
    spec 3, section 7 and H3.18. Panigrahy, Talwar, Uyeda, Wieder, "Heuristics for Vector Bin Packing", Microsoft
    Research, 2011: the norm-based greedy rule.

    Examples
    --------
    >>> BestFitModule().choose([(90, 9), (50, 5), (60, 9)], demand=(10, 1), totals=(100, 10))
    1
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = -squared_length(see.modules[k], see.demand, see.free, see.totals)

    def needs_totals(self) -> bool:
        return True


class WorstFitModule(Choice):
    """Take the module in which the group leaves the longest vector of residual shares; ties as the engine breaks them.

    The opposite of `best_fit_module`. Most residual, normalised and without weights, is worst fit by the sum of the
    shares instead of their length.

    References
    ----------
    spec 3, section 7 and H3.18.

    Examples
    --------
    >>> WorstFitModule().choose([(90, 9), (50, 5), (60, 9)], demand=(10, 1), totals=(100, 10))
    0
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = squared_length(see.modules[k], see.demand, see.free, see.totals)

    def needs_totals(self) -> bool:
        return True


class DominantResource(Choice):
    """Take the module whose scarcest resource is left least scarce by the group; ties as the engine breaks them.

    Scarcity is told by the share that would be left, over what an empty module has; the smallest share is the score.

    References
    ----------
    spec 3, section 7: dominant-resource fit. The dominant share is that of Ghodsi et al., "Dominant Resource
    Fairness", NSDI 2011, here of a module instead of a user.

    Examples
    --------
    >>> DominantResource().choose([(90, 2), (50, 5), (60, 4)], demand=(10, 1), totals=(100, 10))
    1
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            scarcest = share_left(see.modules[k], 0, see.demand, see.free, see.totals)
            for resource in range(1, see.totals.size):
                scarcest = min(scarcest, share_left(see.modules[k], resource, see.demand, see.free, see.totals))
            see.scores[k] = scarcest

    def needs_totals(self) -> bool:
        return True


class DotProduct(Choice):
    """Take the module whose free shares point the way of the group's demand; ties as the engine breaks them.

    The score is the sum over the resources of demand share x free share, shares being of an empty module: a group that
    wants registers goes where registers are free, whatever is left of the rest.

    References
    ----------
    spec 3, section 7. Panigrahy, Talwar, Uyeda, Wieder, "Heuristics for Vector Bin Packing", Microsoft Research, 2011;
    Grandl et al., "Multi-Resource Packing for Cluster Schedulers", SIGCOMM 2014, which calls it alignment.

    Examples
    --------
    >>> DotProduct().choose([(90, 2), (50, 8)], demand=(10, 4), totals=(100, 10))
    1
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        resources = see.totals.size
        for k in range(see.count):
            score = 0.0
            for r in range(resources):
                score += (see.demand[r] / see.totals[r]) * (see.free[see.modules[k] * resources + r] / see.totals[r])
            see.scores[k] = score

    def needs_totals(self) -> bool:
        return True


@kernel
def share_left(module: int, resource: int, demand: Any, free: Any, totals: Any) -> float:
    """Return the share of a resource that would be left in a module with the group in it."""
    return float((free[module * totals.size + resource] - demand[resource]) / totals[resource])


@kernel
def squared_length(module: int, demand: Any, free: Any, totals: Any) -> float:
    """Return the square of the length of the vector of shares that would be left."""
    total = 0.0
    for resource in range(totals.size):
        left = share_left(module, resource, demand, free, totals)
        total += left * left
    return total
