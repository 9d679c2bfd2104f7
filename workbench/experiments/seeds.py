"""How many seeds a sweep needs: enough for intervals of a given width, and how many different runs they make.

`seeds: {until: ...}` says how narrow the intervals shall be. Runs that are copies of each other are no sample:
intervals over them would have no meaning. Only a workload that draws nothing makes copies: a file, or a generator all
of whose laws are constant. Independent draws that coincide are a valid sample. So a workload is asked whether its
numbers decide what it requests, and its requests under several seeds are not counted.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.engines.kit.engine import Setup
from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.levers import Spec, lever
from workbench.metrics.measure import Measure
from workbench.runs.faults import in_one_line
from workbench.streams import Streams
from workbench.workloads.application import Launch

UNTIL_KEYS = ("first", "until")
MOST_LOOKS = 200
_BOUND = re.compile(r"(?P<amount>[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(?P<unit>.*)")


class Bound(NamedTuple):
    """How wide an interval may be."""

    amount: float
    """In the measure's unit, or as a share."""
    of_baseline: bool
    """Whether the amount is a share of the baseline's mean."""

    def limit(self, baseline_mean: float) -> float:
        """Return the largest half width, in the measure's unit."""
        return self.amount * abs(baseline_mean) if self.of_baseline else self.amount


class Until(Spec):
    """Seeds are added in batches until every interval of a paired difference to the baseline is narrow, twice in a row.

    >>> Until(measure="drain_cycles", half_width="0.5 %", at_most=50).looks
    (20, 40, 50)
    """

    measure: str = lever(description="the measure whose paired difference to the baseline is looked at")
    half_width: str = lever(
        description="the largest half width of its interval: 0.5 % of the baseline's mean, or 20 cycles"
    )
    at_most: int = lever(400, least=2, most=1_000_000, unit="seeds", description="where it ends, narrow or not")
    batch: int = lever(20, least=5, most=100_000, unit="seeds", description="seeds that are added between two looks")

    def check(self) -> None:
        if self.batch > self.at_most:
            raise wrong_value("", "until.batch", f"must be at most at_most ({self.at_most})", self.batch, self.at_most)
        if len(self.looks) > MOST_LOOKS:
            least = -(-self.at_most // MOST_LOOKS)
            raise wrong_value(
                "",
                "until.batch",
                f"must make at most {MOST_LOOKS} looks up to at_most ({self.at_most})",
                self.batch,
                least,
            )

    @property
    def looks(self) -> tuple[int, ...]:
        """Return the numbers of seeds at which the intervals are looked at; fixed before anything runs."""
        return (*range(self.batch, self.at_most, self.batch), self.at_most)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the schema as of any spec; a half width in the measure's unit may be a number."""
        shape = super().schema()
        width = shape["properties"]["half_width"]
        either = {**{k: v for k, v in width.items() if k != "type"}, "type": ["string", "number"]}
        return {**shape, "properties": {**shape["properties"], "half_width": either}}


def bound_of(until: Until, measure: Measure, where: str = "") -> Bound:
    """Return the half width that a sweep asks for.

    >>> wait = Measure("wait", "cycles", "lower", "")
    >>> [bound_of(Until(measure="wait", half_width=text), wait) for text in ("0.5 %", "20 cycles")]
    [Bound(amount=0.005, of_baseline=True), Bound(amount=20.0, of_baseline=False)]

    Raises
    ------
    InputError
        It is not a number above 0 with the measure's unit, a per cent sign, or nothing behind it.
    """
    match = _BOUND.fullmatch(until.half_width.strip())
    units = ("%", "", measure.unit)
    amount = float(match["amount"]) if match and match["amount"].count(".") <= 1 and match["amount"] != "." else 0.0
    if match is None or amount <= 0 or match["unit"].strip() not in units:
        unit = f" {measure.unit}" if measure.unit else ""
        expected = f"must be a number above 0, such as 0.5 % (of the baseline's mean) or 20{unit}"
        raise wrong_value(where, "seeds.until.half_width", expected, until.half_width)
    return Bound(amount / 100, True) if match["unit"].strip() == "%" else Bound(amount, False)


def read_until(config: Mapping[str, Any], measures: Mapping[str, Measure], where: str = "") -> Until:
    """Return the stop rule that the `seeds: {until: ...}` of a sweep states.

    Raises
    ------
    InputError
        A key or value is not allowed, the measure is unknown, or there is no baseline to compare with.
    """
    given = config["seeds"]
    for key in given:
        if key not in UNTIL_KEYS:
            raise unknown_name(at(where, "seeds"), "key", key, UNTIL_KEYS)
    levers = given["until"]
    if isinstance(levers, Mapping) and isinstance(levers.get("half_width"), (int, float)):
        levers = {**levers, "half_width": repr(levers["half_width"])}
    until = Until.read(levers, "seeds.until", where)
    if until.measure not in measures:
        raise unknown_name(at(where, "seeds.until"), "measure", until.measure, measures)
    until = until.but(measure=measures[until.measure].name)
    bound_of(until, measures[until.measure], where)
    if not config.get("baseline"):
        needed = "needs a baseline, whose paired difference is looked at, such as baseline: {placement: first_fit}"
        raise InputError(at(where, f"seeds.until {needed}."))
    return until


PROBES = 3
"""Seeds whose requests are compared."""


def different_workloads(setup: Setup, wanted: str, seeds: Sequence[int]) -> int:
    """Return the number of different workloads that some seeds make; as many as there are seeds if the workload draws.

    A workload that takes the seed itself, and no number of a stream, is counted by digests.

    Parameters
    ----------
    setup : Setup
        Whose workload and machine are looked at.
    wanted : str
        The method of the workload that the engine asks.

    Examples
    --------
    >>> import workbench as wb
    >>> def count(size):
    ...     workload = {"synthetic": "random_workgroups", "count": 5, "size": size, "duration": 9}
    ...     plan = wb.plan({"engine": "shared_memory", "workload": workload})
    ...     return different_workloads(plan.points[0].setup, "workgroups", range(10))
    >>> count(4), count({"uniform": [1, 64]})
    (1, 10)
    """
    declared = setup.workload.different_seeds(setup.machine)
    if declared is not None or len(seeds) < 2:
        return len(seeds) if declared is None else min(declared, len(seeds))
    if _numbers_decide(setup, wanted):
        return len(seeds)
    probes = {workload_digest(setup, wanted, seed, first=True) for seed in seeds[:PROBES]}
    if len(probes) == len(seeds[:PROBES]):
        return len(seeds)
    return len({workload_digest(setup, wanted, seed) for seed in seeds})


def draws_nothing(setup: Setup, wanted: str, drawn: dict[tuple[int, int], bool] | None = None) -> bool:
    """Return whether every seed gives the same run: such a point is exact, and its values are no sample.

    False for an engine of the user's, which may draw by itself.

    Parameters
    ----------
    setup : Setup
    wanted : str
        The method of the workload that the engine asks.
    drawn : dict, optional
        Whether a workload draws on a machine, by the ids of both objects, which the caller keeps alive; filled in.
    """
    if setup.engine_code or draws(setup):
        return False
    key, known = (id(setup.workload), id(setup.machine)), {} if drawn is None else drawn
    if key not in known:
        known[key] = _workload_draws(setup, wanted)
    return not known[key]


def _workload_draws(setup: Setup, wanted: str) -> bool:
    """Return whether what a workload asks differs between seeds."""
    declared = setup.workload.different_seeds(setup.machine)
    if declared is not None:
        return bool(declared != 1)
    if _numbers_decide(setup, wanted):
        return True
    return len({_outcome(setup, wanted, Streams(seed)) for seed in range(PROBES)}) > 1


def _numbers_decide(setup: Setup, wanted: str) -> bool:
    """Return whether numbers of the streams decide what a workload requests.

    A law draws also where it is constant, so that a stream that has moved on is not enough. If three seeds coincide,
    the requests are compared with those of streams that hold the least and the largest number at each place.
    """
    watched = _Watched(0)
    one, other = (_outcome(setup, wanted, each, first=True) for each in (watched, Streams(1)))
    if one != other and watched.moved():
        return True
    watched = _Watched(0)
    whole = _outcome(setup, wanted, watched)
    if _draws_in_the_engine(setup, wanted):
        return True
    if not watched.moved():
        return False
    others = [*map(Streams, range(1, PROBES)), *map(_Extremes, range(PROBES))]
    return watched.generator_moved() or any(whole != _outcome(setup, wanted, each) for each in others)


def _draws_in_the_engine(setup: Setup, wanted: str) -> bool:
    """Return whether kernels of a node touch elements by chance, which the engine draws (spec 6, R7)."""
    if wanted != "applications":
        return False
    steps = (
        step
        for application in setup.workload.applications(setup.machine, Streams(0))
        for stream in application.streams
        for step in stream
    )
    phases = (phase for step in steps if isinstance(step, Launch) for phase in step.kernel.phases)
    return any(touch.pattern == "gather" for phase in phases for touch in phase.touches)


class _Watched(Streams):
    """The streams of a seed, which note every generator that they hand out."""

    def __init__(self, seed: int, first: str = "", handed: list[_Handed] | None = None) -> None:
        super().__init__(seed)
        self._first, self._handed = first, [] if handed is None else handed

    def __getitem__(self, name: str) -> np.random.Generator:
        generator = super().__getitem__(name)
        self._handed[-1] = self._handed[-1]._replace(is_generator=True)
        return generator

    def within(self, name: str) -> Streams:
        """Return the streams below a name, which note theirs in the same list."""
        return _Watched(self.seed, f"{self._first}{name}/", self._handed)

    def moved(self) -> bool:
        """Return whether a number was drawn."""
        return any(map(_Handed.moved, self._handed))

    def generator_moved(self) -> bool:
        """Return whether NumPy's distributions drew, whose numbers `_Extremes` cannot replace."""
        return any(one.is_generator and one.moved() for one in self._handed)

    def _bits(self, name: str) -> np.random.PCG64:
        bits = super()._bits(f"{self._first}{name}")
        self._handed.append(_Handed(bits, bits.state))
        return bits


class _Handed(NamedTuple):
    """A generator that was handed out, and its state at that time."""

    bits: np.random.PCG64
    state: Any
    is_generator: bool = False

    def moved(self) -> bool:
        """Return whether it has drawn since."""
        return bool(self.bits.state != self.state)


class _Extremes(Streams):
    """Streams of the least number, the largest, and one of the seed, in turn.

    At each place of a stream the three seeds 0, 1 and 2 have all three kinds. A workload that draws again until a
    number suits it comes to an end.
    """

    def __init__(self, seed: int, first: str = "") -> None:
        super().__init__(seed)
        self._first = first

    def flow(self, name: str) -> Callable[[int], np.ndarray]:
        """Return the source of the next numbers of a stream."""
        numbers, place = super().flow(name), self.seed

        def following(count: int) -> np.ndarray:
            nonlocal place
            kinds = np.arange(place, place + count) % 3
            place += count
            return np.choose(kinds, [np.zeros(count), np.full(count, _LARGEST), numbers(count)])

        return following

    def within(self, name: str) -> Streams:
        """Return the streams below a name, of the same kind."""
        return _Extremes(self.seed, f"{self._first}{name}/")

    def _bits(self, name: str) -> np.random.PCG64:
        return super()._bits(f"{self._first}{name}")


_LARGEST = 1.0 - 2.0**-53
"""The largest number that a stream gives."""


def draws(setup: Setup) -> bool:
    """Return whether a policy or an option of a point draws by itself: then every seed is another run."""
    return any(_draws(policy) for policy in setup.policies.values()) or _option_draws(setup)


def _draws(policy: Any) -> bool:
    """Return whether a policy draws, or is a lock that serves one of several waiters at random."""
    among = getattr(policy, "among", None)
    return bool(policy.draws) or (callable(among) and among() > 1)


_PARTS_OF_A_NODE = ("dispatch", "heap")
"""Options of a node that are those of another engine."""


def _option_draws(setup: Setup) -> bool:
    """Return whether a heap is occupied at random at the start, or ties are broken at random."""
    nested = (getattr(setup.options, part, None) for part in _PARTS_OF_A_NODE)
    return any(
        getattr(options, "occupancy", 0) > 0 or getattr(options, "module_tie", "") == "random"
        for options in (setup.options, *nested)
    )


def workload_digest(setup: Setup, wanted: str, seed: int, first: bool = False) -> bytes:
    """Return the digest of what a workload asks under a seed; with `first`, of its first block alone."""
    return _digest_of_streams(setup, wanted, Streams(seed), first)


def _digest_of_streams(setup: Setup, wanted: str, streams: Streams, first: bool = False) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in _parts(getattr(setup.workload, wanted)(setup.machine, streams), first):
        digest.update(part)
    return digest.digest()


def _outcome(setup: Setup, wanted: str, streams: Streams, first: bool = False) -> bytes:
    """Return the digest of what a workload asks, or the error that it raises: some raise under some numbers only."""
    try:
        return _digest_of_streams(setup, wanted, streams, first)
    except Exception as problem:
        return f"{type(problem).__name__} {in_one_line(problem)}".encode()


def _parts(value: Any, first: bool) -> Iterator[bytes]:
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        yield f"{value.dtype.str}{value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, Mapping):
        yield from _parts([*value.items()], first)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from _parts([getattr(value, field.name) for field in dataclasses.fields(value)], first)
    elif isinstance(value, (list, tuple, np.ndarray)):
        yield f"({len(value)})".encode()
        for one in value:
            yield from _parts(one, first)
    elif isinstance(value, Iterator):
        for block in value:
            yield from _parts(block, first)
            if first:
                return
    else:
        yield repr(value).encode()
