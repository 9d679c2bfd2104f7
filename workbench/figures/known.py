"""Every figure by name: of runs, of theory, of tuning studies; a figure joins by being made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from workbench.parts.registry import Registry, attribute

if TYPE_CHECKING:
    from workbench.figures.calculation import Calculation
    from workbench.figures.of_study import OfStudy
    from workbench.figures.recipe import Recipe

_FILES = (
    "remaining_over_time",
    "free_over_time",
    "drain_difference",
    "layout_over_time",
    "wear_by_segment",
    "fragmentation_by_size",
    "measure_by_lever",
    "saving_by_policy",
    "where_it_holds",
    "scenario_discovery",
    "sensitivities",
    "interactions",
    "factorial_effects",
    "pareto",
    "dispatch_timeline",
    "waits_by_priority",
    "unit_spread_over_rounds",
    "power_over_modules",
    "temperature_over_time",
    "served_by",
    "latency_distribution",
    "network_load",
    "sharing_degrees",
    "core_affinity",
    "speed_up",
    "held_over_time",
    "memory_by_card",
    "reserved_over_requests",
    "reserved_over_program",
    "recorded_against_replayed",
    "lending_graph",
    "region_layout",
    "reading_over_bound",
    "where_time_goes",
)
"""Every figure of runs: the file `workbench/figures/NAME.py` holds its `FIGURE`."""


def _in_files(names: Iterable[str]) -> dict[str, Callable[[], Any]]:
    return {name: attribute(f"workbench.figures.{name}:FIGURE") for name in names}


FIGURES: Registry[Recipe] = Registry("figure", later=_in_files(_FILES))
CALCULATIONS: Registry[Calculation] = Registry(
    "figure",
    "calculated figure",
    later=_in_files(("probe_success", "probe_accuracy_against_gates", "probe_accuracy_against_area", "malloc_on_card")),
)
STUDY_FIGURES: Registry[OfStudy] = Registry(
    "figure",
    "figure of a study",
    later={
        "pareto": attribute("workbench.figures.study_front:FIGURE"),
        **_in_files(("hypervolume_history", "lever_importances")),
    },
)
