"""Range, slider, tuner and check of every lever agree: what a range offers is taken, but for rules between levers.

Each registered spec is built with each of its levers at the ends and steps of its range, as a slider and as a tuner
would give them, all others at their defaults; and each policy, option and figure of a machine is planned with an
engine. What is refused must be refused by a rule between levers that is stated here, whose sentence names the other.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

import workbench
from tests.slow import LONG
from workbench.dashboards._slider_stops import stops
from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.levers import Lever, Spec, lever
from workbench.mechanisms.mechanism import mechanism
from workbench.policies.policy import Policy, policies
from workbench.tuning.dimension import dimension, tunable

REQUIRED = {"between": "gpu0 gpu1", "label": "acc"}
"""What stands for a text that must be given; others are `gpu0`."""

BETWEEN_LEVERS = [
    r"^malloc_options\.heap_bytes must be from one to \d+ granules of \d+ bytes \(granule_bytes\)",
    r"^until\.batch must (be at most|make at most 200 looks up to) at_most \(\d+\)",
    r"^card gpu0: a switch has no memory\. Got memory_bytes",
    r"^card gpu0: used_bytes must be at most memory_bytes",
    r"^machine\.dies must be the units of 1 to \d+ dies, \d+ in all \(compute_units\)",
    r"^machine\.reserved_bytes must leave room .* \(segments times granule_bytes\)",
    r"^machine\.dies must be the units of .* in all \(compute_units\)",
    r"^translation_machine\.private_ways must divide private_entries",
    r"^translation_machine\.shared_ways must divide shared_entries",
    r"^clustered\.ways must divide entries",
    r"^page_range\.(begin|end) must be a multiple of page_bytes",
    r"^page_range\.end must be above begin",
    r"^allocator_(settings|options)\.max_(split_size|non_split_rounding)_mb must be at least \d+",
    r"^trylock_backoff\.most_cycles must be at least first_cycles",
    r"\.degree must be at most \d+ at scale \d+",
    r"^power_law_graph\.a, b and c must sum to at most 1",
    r"^log_normal: least \(\d+\) to most \(\d+\) must hold some of the law with median \S+ and sigma",
    r"\.high must be at least low",
]
BETWEEN_ENTRIES = [
    r"\.weights must not all be 0",
    r"\.run_lengths must (increase from|begin with) 1",
    r"^rate_table\.rates must begin with 1",
    r"\.weights must be as many as outcomes",
    r"\.channel_weights must be as many as channels",
]
"""Of the entries of one list, or of two."""


def subclasses(cls: type[Spec]) -> Iterator[type[Spec]]:
    for sub in cls.__subclasses__():
        yield sub
        yield from subclasses(sub)


def registered() -> list[type[Spec]]:
    """Every spec of the package."""
    for module in pkgutil.walk_packages(workbench.__path__, "workbench."):
        if "__main__" not in module.name:
            importlib.import_module(module.name)
    results = {cls for cls in subclasses(Spec) if cls.built_in}
    return sorted(results, key=lambda cls: (cls.__module__, cls.__name__))


def tuned(declared: Lever, most: int = 12) -> list[Any]:
    """What a tuner may draw: both ends of the axis and steps between them."""
    axis = dimension(declared, True, "x")
    if axis.kind == "category":
        return list(axis.values)
    step = axis.step or max((axis.most - axis.least) / most, 0 if axis.kind == "number" else 1)
    step = step if axis.kind == "number" else int(step)
    count = int((axis.most - axis.least) // step) if step else 0
    drawn = [axis.least + k * step for k in range(0, count + 1, max(count // most, 1))]
    return [axis.value(one if axis.kind == "number" else int(one)) for one in [*drawn, axis.most]]


def values(declared: Lever) -> list[Any]:
    """The values that a range offers."""
    ends = [end for end in (declared.least, declared.most) if end is not None]
    if declared.kind in ("integer", "number"):
        few = stops(declared)
        return [*ends, *few[:3], *few[3:-1:16], *few[-1:], *(tuned(declared) if tunable(declared) else [])]
    if declared.kind in ("integers", "numbers"):
        return [(end,) * max(0 if declared.required else len(declared.default), 1) for end in ends]
    return tuned(declared) if declared.kind in ("switch", "choice") else []


def usual(cls: type[Spec]) -> dict[str, Any]:
    """What must be given to build a spec."""
    needed = {name: declared for name, declared in cls.levers.items() if declared.required}
    numeric = ("integer", "number")
    return {n: lv.least if lv.kind in numeric else REQUIRED.get(n, "gpu0") for n, lv in needed.items()}


def refusals(cls: type[Spec]) -> list[str]:
    """Every sentence by which a value is refused that the range of its lever offers."""
    given, result = usual(cls), []
    for name, declared in cls.levers.items():
        for value in values(declared):
            try:
                cls(**{**given, name: value})
            except InputError as wrong:
                result.append(str(wrong))
    return result


def test_every_spec_takes_what_the_range_of_each_lever_offers() -> None:
    specs, drawn = registered(), 0
    assert len(specs) > 300
    for cls in specs:
        drawn += sum(len(values(declared)) for declared in cls.levers.values())
        for sentence in set(refusals(cls)):
            assert any(re.search(rule, sentence) for rule in BETWEEN_LEVERS + BETWEEN_ENTRIES), sentence
    assert drawn > 10_000


def test_a_range_wider_than_its_check_is_found() -> None:
    class Uneven(Spec):
        width: int = lever(4, least=0, most=16, description="a power of two, as the check alone knows")

        def check(self) -> None:
            if self.width & (self.width - 1):
                raise InputError(f"uneven.width must be a power of two. Got {self.width}.")

    assert len(set(refusals(Uneven))) == 11


SMALL: dict[str, dict[str, Any]] = {
    "shared_memory": {"synthetic": "random_workgroups", "count": 4, "size": {"uniform": [1, 2]}},
    "dispatch": {
        "synthetic": "random_groups",
        "count": 4,
        "waves": {"constant": 1},
        "vgpr_blocks": {"constant": 1},
        "sgpr_blocks": {"constant": 0},
        "shared_segments": {"constant": 0},
    },
    "malloc": {"synthetic": "random_mallocs", "threads": 8, "size": {"constant": 4}},
    "pool": {"synthetic": "mixed_jobs", "jobs": 2},
    "translation": {"synthetic": "shared_sweep", "count": 8},
}
WITH_A_MACHINE = [
    r"policy\.heap\.\w+\.large must be hashed_bins",
    r"policy\.lock must be (word_by_word|a lock of the whole heap) for the heap \w+",
    r"policy\.\w+\.compaction\.base must be a policy that grants contiguous ranges",
    r"policy\.(placement|shared_placement)\.compaction moves live ranges, which a dispatcher's (vgpr|shared) cannot",
    r"policy\.driver: compaction moves what is allocated",
    r"policy\.probe\.\w+\.groups must divide (vgpr|sgpr|shared) \(\d+ blocks\)",
    r"policy\.probe\.shared_run\.width must be at least the \d+ blocks of a resource",
    r"policy\.probe\.shared_run\.alone must be a probe of one resource",
    r"policy\.choice\.coolest_first reads temperatures: options\.heat must name",
    r"options\.heat needs a power model, .* power: class_power",
    r"machine\.\w+_a_unit must give each of the \d+ SIMDs 1 to 4096 (blocks of \d+ registers|wave slots)",
    r"policy\.serve\.\w+\.warp_size must divide machine\.wave_size \(\d+\)",
    r"policy\.serve\.\w+\.align must be a multiple of the granule",
    r"policy\.heap\.bitmap_arena\.placement must give each request one range",
    r"policy\.lock\.trylock_backoff\.most_cycles must be at least first_cycles",
    r"policy\.arenas\.\w+\.arenas must leave each at least two granules",
    r"options\.heap_bytes must be from one to \d+ granules of \d+ bytes \(granule_bytes\)",
    r"machine\.reserved_bytes must leave room .* \(segments times granule_bytes\)",
    r"policy\.locate\.clustered\.ways must divide entries \(\d+\)",
    r"policy\.locate\.directory\.entries must be 0 \(no limit\) or at least private_entries \(\d+\)",
    r"policy\.(fill|remote_fill)\.\w+\.\w*threshold must be at most private_entries \(\d+\)",
    r"policy\.eviction\.\w+\.share_threshold must be at most cores \(\d+\)",
    r"policy\.eviction\.\w+\.candidates must be at most private_(entries|ways) \(\d+\)",
    r"policy\.(shared_)?eviction\.\w+\.base must be a policy that protects nothing",
    r"policy\.shared_eviction must not be \w+: there is one shared TLB",
    r"workload\.working_set gives \d+ pages where the machine's addresses reach",
    r"machine\.(private|shared)_ways must divide (private|shared)_entries",
]


def offered(declared: Lever) -> list[Any]:
    """Of a number a few values of its range; of a policy each that there is."""
    if declared.kind in ("integer", "number"):
        few = stops(declared)
        return list(dict.fromkeys([declared.least, *few[:2], *few[len(few) // 2 :][:1], *few[-1:], declared.most]))
    if declared.spec is not None and issubclass(declared.spec, Policy) and declared.kind == "spec":
        return [name for name, cls in policies(declared.spec.question).items() if cls.built_in]
    return []


def drawn_setups(engine: Any) -> Iterator[dict[str, Any]]:
    """Every setup that differs from the usual one in a policy, and in one lever of it, of an option or a machine."""
    for slot in engine.slots:
        for name, cls in policies(engine.question_of(slot)).items():
            if cls.built_in:
                levers = {key: value for key, lv in cls.levers.items() for value in [offered(lv)]}
                yield {"policy": {slot: name}}
                yield from ({"policy": {slot: {name: {key: v}}}} for key, result in levers.items() for v in result)
    for place, spec in (("options", engine.options), ("machine", engine.machine)):
        for key, declared in spec.levers.items():
            yield from ({place: {key: value}} for value in offered(declared) if value is not None)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_every_engine_takes_what_ranges_offer_or_names_the_other_lever(name: str) -> None:
    refused = []
    for chosen in islice(drawn_setups(mechanism(name).engine), 0, None, 1 if LONG else 7):
        try:
            make_plan(read_sweep({"engine": name, "workload": SMALL[name], "seeds": 1, **chosen}))
        except InputError as wrong:
            refused.append((chosen, str(wrong)))
    assert refused
    unstated = [
        (c, message)
        for c, message in refused
        if not any(re.match(f"sweep: {rule}", message) for rule in WITH_A_MACHINE)
    ]
    assert not unstated
