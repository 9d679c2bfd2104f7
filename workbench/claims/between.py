"""H7.1 to H7.3: what the rules between queue and unit change among the module choices of spec 3 (spec 7, Hypotheses).

- H7.1: kernels that wait for each other hang less often under choices that pack than under choices that spread.
- H7.2: a rule between queue and unit turns the sign of the difference between two module choices.
- H7.3: rates that are shared in a module change which choice wins.

The settings were chosen on the seeds 100 to 139, which judge nothing. They aim at sets of which some choices hang and
others do not, and at runs of some milliseconds.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.claims.cases import margin, of
from workbench.claims.claim import Claim, Evidence
from workbench.claims.dispatch_setting import QUEUED, REGISTERS, groups
from workbench.experiments.hangs import NEVER_STARTED
from workbench.experiments.results import Results
from workbench.runs.run import PlannedPoint
from workbench.statistics import Finding, compare, fact, proportion_interval, some, superior
from workbench.statistics.cells import Cell, share_of_cells
from workbench.statistics.comparisons import by_seed
from workbench.statistics.interval import one_sided_p
from workbench.streams import Streams
from workbench.workloads.workload import Groups

PACKING = ("first_module", "best_fit_module")
SPREADING = ("round_robin", "least_waves", "worst_fit_module", "most_residual")
CHOICES = [*PACKING, *SPREADING]
"""Those that the hypothesis calls packing and spreading, at their defaults; every claim here is about these six."""

UNITS_ALIKE = {"compute_units": 8, "simds_a_unit": 1, "waves_a_unit": 32, "workgroups_a_unit": 32, "sgprs_a_unit": 0}
"""Eight modules of one unit each, so that a placement of groups over modules is one over units too."""
_SHARED = {"sometimes": {"share": 0.5, "law": {"uniform": [1, 64]}}}
SETS: dict[str, dict[str, Any]] = {
    "24 groups of two demands": {"count": 24, "shared_segments": _SHARED},
    "28 groups of two demands": {"count": 28, "shared_segments": _SHARED},
    "28 groups of waves alone": {"count": 28, "shared_segments": 0},
}
"""Kernels of 1 to 8 groups of 1 to 16 waves, of which a module holds 32; all groups name one barrier."""


def _kernels(**levers: Any) -> dict[str, Any]:
    shape = {"grid": {"uniform": [1, 8]}, "waves": {"uniform": [1, 16]}, "vgpr_blocks": 4, "priority": 1}
    return {"synthetic": "waiting_kernels", **shape, **levers}


def can_be_co_resident(groups: Groups, machine: Any) -> bool:
    """Return whether first fit decreasing places all groups in the modules at once, whatever a module choice does.

    Groups are taken by the largest share of a module that they ask for, and each goes to the first module that it
    fits. A set that is refused may still have a placement; it is left out. A module must have one unit.
    """
    demand, totals = [], []
    for resource in machine.resources():
        always = machine.taken_always(resource.label, groups.waves)
        blocks = groups.demand.get(resource.label, 0) if always is None else always
        demand.append(np.broadcast_to(blocks, groups.waves.shape) * (groups.waves if resource.level == "unit" else 1))
        totals.append(resource.blocks)
    each, free = np.stack(demand, axis=1), np.tile(totals, (machine.compute_units, 1))
    for group in np.argsort(-(each / totals).max(axis=1), kind="stable"):
        fits = np.flatnonzero((free >= each[group]).all(axis=1))
        if not fits.size:
            return False
        free[fits[0]] -= each[group]
    return True


def _hangs(evidence: Evidence, design: str) -> tuple[Results, dict[str, dict[int, float]]]:
    """Return the runs, and by choice whether each set that can be co-resident hangs: 1 or 0 a seed."""
    policy = {"choice": {"vary": CHOICES}}
    config = {"engine": "dispatch", "machine": UNITS_ALIKE, "workload": _kernels(**SETS[design]), "policy": policy}
    runs = evidence.runs(f"between_hangs_{design.replace(' ', '_')}", config)
    setup = runs.points[0].setup
    able = [
        s for s in runs.seeds if can_be_co_resident(setup.workload.groups(setup.machine, Streams(s)), setup.machine)
    ]
    never = [runs.values(p, NEVER_STARTED) for p in runs.points]
    hangs = [{seed: float(values[seed] > 0) for seed in able if seed in values} for values in never]
    return runs, dict(zip(CHOICES, hangs, strict=True))


HANG = "share of sets that hang"


def _hang_less(evidence: Evidence) -> Iterator[Finding]:
    for design in SETS:
        runs, hangs = _hangs(evidence, design)
        for packs, spreads in itertools.product(PACKING, SPREADING):
            comparison = compare(hangs[spreads], hangs[packs], names=(spreads, packs), better="lower")
            case = superior(f"{design}, {packs} against {spreads}", "hangs at fewer sets", comparison)
            yield of(runs, case._replace(missing=len(runs.seeds) - case.n), HANG, "share of sets")


def _shares_of_hangs(evidence: Evidence) -> Iterator[Finding]:
    """Yield the share of sets that hang under each choice, which decides nothing."""
    for design in SETS:
        runs, hangs = _hangs(evidence, design)
        for choice, by_set in hangs.items():
            count = int(sum(by_set.values()))
            note = f"{count} of {len(by_set)} sets that can be co-resident hang"
            share = fact(f"{design}, {choice}", "sets that hang", False, n=len(by_set), note=note)
            interval = proportion_interval(count, len(by_set))
            share = share._replace(estimate=interval.mean, interval=interval, p_against=1.0)
            yield of(runs, share, HANG, "share of sets")


MACHINE = {"preset": "patent_dispatch", "dies": [4, 4, 4, 4]}
"""The document's machine, whose 16 modules stand in four dies."""
COUNT = 300
"""Groups of a mix."""
LOAD = {"poisson_load": 0.9}
MIXES: dict[str, tuple[dict[str, Any], str]] = {
    "mixed, queued": (groups(COUNT, arrival=QUEUED), "makespan_cycles"),
    "mixed, load 0.9": (groups(COUNT, arrival=LOAD), "wait_mean_cycles"),
    "registers, queued": ({**REGISTERS, "count": COUNT}, "makespan_cycles"),
    "large groups, load 0.9": ({"regime": "large_groups", "count": COUNT, "arrival": LOAD}, "wait_mean_cycles"),
}
"""Each with the measure that tells choices apart: when all is done, or at part load how long groups wait (H3.14)."""
RULES: dict[str, dict[str, Any]] = {
    "round_robin_dies": {"policy": {"die": "round_robin_dies"}},
    "exclusive": {"policy": {"admission": "exclusive"}},
    "share_by_channel 0.5": {"policy": {"admission": {"share_by_channel": {"share": 0.5}}}},
    "leftover": {"options": {"concurrency": "leftover"}},
    "serialise": {"options": {"concurrency": "serialise"}},
    "pending_depth 4": {"options": {"pending_depth": 4}},
}
"""Rules between queue and unit, one at a time instead of the neutral answer. Each channel is one kernel."""
LAWS: dict[str, dict[str, Any]] = {
    "linear 0.1 of groups": {"law": {"linear": {"slope": 0.1}}},
    "capacity 4 of groups": {"law": {"capacity": {"full_rate": 4}}},
    "capacity 16 of waves": {"law": {"capacity": {"full_rate": 16}}, "of": "waves"},
}
"""Laws of shared rates with assumed figures: a measured slope belongs to one kernel (`workbench validate`)."""
SIGNS = margin("H7.2 signs")
Mix = list[dict[int, float]]
"""The values of one mix by seed, one a choice; less is better."""


def _mixes(evidence: Evidence, name: str, changed: Mapping[str, Any]) -> tuple[Results, dict[str, Mix]]:
    """Return the runs under a rule, and what each choice comes to in each mix."""
    config = {
        "engine": "dispatch",
        "machine": MACHINE,
        "workload": {"vary": [workload for workload, _ in MIXES.values()]},
        "policy": {"choice": {"vary": CHOICES}, **changed.get("policy", {})},
        "options": changed.get("options", {}),
    }
    runs = evidence.runs(f"between_{re.sub('[^a-z0-9]+', '_', name)}", config)
    each = len(CHOICES)
    mixes = {}
    for k, (mix, (_, measure)) in enumerate(MIXES.items()):
        points: list[PlannedPoint] = runs.points[k * each : (k + 1) * each]
        mixes[mix] = [by_seed(runs, p, measure) for p in points]
    return runs, mixes


def _differences(one: Mapping[int, float], other: Mapping[int, float], seeds: Sequence[int]) -> np.ndarray:
    """Return the sign of one value less the other at each seed: float64[seeds]; equal infinities are equal."""
    pairs = [(one[seed], other[seed]) for seed in seeds]
    return np.array([(a > b) * 1.0 - (a < b) for a, b in pairs])


def _most(true: np.ndarray) -> float:
    """Return the p-value that something is true at most seeds."""
    return one_sided_p(int(true.sum()), true.size)


def _at_most_seeds(true: np.ndarray) -> bool:
    return 2 * int(true.sum()) > true.size


def turned(name: str, before: np.ndarray, after: np.ndarray) -> Cell:
    """Return whether the sign of a difference at most seeds is another than before; 0 at most seeds is no sign."""
    turns, stays, seen = [], [], False
    for sign in (1, -1):
        here, there = sign * before > 0, sign * after < 0
        turns.append(max(_most(here), _most(there)))
        stays.append(min(1.0, 2 * min(_most(~here), _most(~there))))
        seen = seen or (_at_most_seeds(here) and _at_most_seeds(there))
    return Cell(name, seen, min(1.0, 2 * min(turns)), max(stays))


def _shared_seeds(*mixes: Mix) -> list[int]:
    values = [by_choice for mix in mixes for by_choice in mix]
    return [seed for seed in values[0] if all(seed in one for one in values)]


def _where(cells: Mapping[str, Sequence[Cell]]) -> str:
    return ", ".join(f"{sum(cell.seen for cell in of_mix)} of {len(of_mix)} in {mix}" for mix, of_mix in cells.items())


def _sign_cells(evidence: Evidence, rule: str) -> tuple[Results, int, dict[str, list[Cell]]]:
    """Return the runs under a rule, the seeds that they share with those without, and a cell a pair in each mix."""
    _, neutral = _mixes(evidence, "neutral", {})
    runs, mixes = _mixes(evidence, rule, RULES[rule])
    seeds = {mix: _shared_seeds(neutral[mix], mixes[mix]) for mix in MIXES}
    cells = {
        mix: [
            turned(
                f"{CHOICES[a]} less {CHOICES[b]} in {mix}",
                _differences(neutral[mix][a], neutral[mix][b], of_mix),
                _differences(mixes[mix][a], mixes[mix][b], of_mix),
            )
            for a, b in itertools.combinations(range(len(CHOICES)), 2)
        ]
        for mix, of_mix in seeds.items()
    }
    return runs, min(map(len, seeds.values())), cells


TURNS = "pairs and mixes in which the sign turns"


def _signs(evidence: Evidence) -> Iterator[Finding]:
    """Yield a case a rule: in at least one in ten pairs of choices and mixes the sign turns."""
    for rule in RULES:
        runs, count, cells = _sign_cells(evidence, rule)
        statement = f"the sign turns in at least {SIGNS:g} of the pairs and mixes: {_where(cells)}"
        case = share_of_cells(rule, statement, [*itertools.chain(*cells.values())], SIGNS, count)
        yield of(runs, case._replace(missing=len(runs.seeds) - count), TURNS, "share of pairs and mixes")


def _signs_of_all(evidence: Evidence) -> Iterator[Finding]:
    """Yield the share over all rules together, which decides nothing."""
    by_rule = {rule: _sign_cells(evidence, rule) for rule in RULES}
    cells = [
        cell._replace(name=f"{rule}: {cell.name}")
        for rule, (_, _, of_mixes) in by_rule.items()
        for cell in itertools.chain(*of_mixes.values())
    ]
    count = min(shared for _, shared, _ in by_rule.values())
    case = share_of_cells("all rules", f"the sign turns in at least {SIGNS:g} of all", cells, SIGNS, count)
    yield case._replace(measure=TURNS, unit="share of rules, pairs and mixes")


def winner_changed(name: str, before: Mix, after: Mix, choices: Sequence[str]) -> Cell:
    """Return whether another choice wins than before: chosen at every second seed, and judged at the others.

    Of both sides the choice with the best mean is chosen. It has changed if each beats the other on its side, at most
    of the seeds that judge. It has not if the first is as good as every other on both sides.
    """
    seeds = _shared_seeds(before, after)
    chosen, judging = seeds[::2], seeds[1::2]
    first, other = (int(np.argmin([sum(one[seed] for seed in chosen) for one in mix])) for mix in (before, after))
    ahead = [_differences(before[first], before[other], judging), _differences(after[other], after[first], judging)]
    stays = [_most(_differences(mix[first], one, judging) <= 0) for mix in (before, after) for one in mix]
    seen = first != other and all(_at_most_seeds(one < 0) for one in ahead)
    p_yes = max(_most(one < 0) for one in ahead)
    names = choices[first] if first == other else f"{choices[first]}, then {choices[other]}"
    return Cell(f"{names} in {name}", seen, p_yes, max(stays))


def _winners(evidence: Evidence) -> Iterator[Finding]:
    """Yield a case a law: in at least one mix another choice wins than with constant rates."""
    _, neutral = _mixes(evidence, "neutral", {})
    for law, levers in LAWS.items():
        runs, mixes = _mixes(evidence, law, {"options": {"progress": {"shared_rate": levers}}})
        cells = [winner_changed(mix, neutral[mix], mixes[mix], CHOICES) for mix in MIXES]
        least = min(len(_shared_seeds(neutral[mix], mixes[mix])) for mix in MIXES)
        statement = f"another choice wins in at least one mix: {'; '.join(cell.name for cell in cells)}"
        case = share_of_cells(law, statement, cells, 0, least)
        case = case._replace(missing=len(runs.seeds) - least)
        yield of(runs, case, "mixes in which another choice wins", "share of mixes")


CLAIMS = [
    Claim(
        "H7.1",
        "sets of kernels that can be co-resident hang less often under choices that pack than under those that spread",
        "hypothesis of spec 7",
        _hang_less,
        costs=_shares_of_hangs,
        design="3 laws of sets x 2 packing choices x 4 spreading ones, over sets that first fit decreasing places",
    ),
    Claim(
        "H7.2",
        "each rule between queue and unit turns the sign of the difference between two module choices in at least one "
        "in ten pairs and mixes",
        "hypothesis of spec 7",
        _signs,
        costs=_signs_of_all,
        design="6 rules; of each 15 pairs of 6 choices x 4 mixes, on the document's machine in four dies",
    ),
    Claim(
        "H7.3",
        "shared rates instead of constant ones change the winner among module choices in at least one mix",
        "hypothesis of spec 7",
        _winners,
        joined=some,
        design="3 laws of shared rates x 4 mixes, 6 choices",
    ),
]
