"""What is refused before a node runs: what no card can hold, and levers of parts that a whole node does not serve."""

from __future__ import annotations

from typing import Any

from workbench.engines.kit import Given
from workbench.engines.node.options import NodeOptions
from workbench.errors import InputError, unknown_name, wrong_value
from workbench.levers import Spec
from workbench.machine.machine import USUAL
from workbench.workloads.node import Allocate, Applications, Launch
from workbench.workloads.workload import MOST_PRIORITIES

UNSERVED = {
    ("pool", "pointer_mode"): "a node maps what is granted by its page tables",
    ("pool", "touches"): "the groups of a node touch what was lent themselves",
    ("translation", "cores_issue"): "the groups of a node decide when a module issues",
    ("translation", "page_sizes"): "the page sizes of a node are those of options.pages",
    ("translation", "pages_an_entry"): "the page sizes of a node are those of options.pages",
    ("translation", "shootdown"): "options.shootdown_to says who is told",
    ("translation", "sample_accesses"): "a node keeps no record of who shares what",
}
"""Levers of parts that are as they are by default in a node, and why."""


def check_served(given: Given[Any, NodeOptions, Any]) -> None:
    """Refuse levers and policies that do not go together in a node.

    Raises
    ------
    InputError
        Pages of frames are asked for without the pool's grants, a shoot-down goes to whom a directory names that there
        is not, or a part has a lever that a node does not serve.
    """
    options = given.options
    if options.pages != "neutral" and options.memory == "at_once":
        raise wrong_value(
            "", "options.memory", f"must be wait where options.pages is {options.pages}, as pages come from the frames "
            "that the pool grants", options.memory, "wait",
        )  # fmt: skip
    locate = given.slots.locate.name
    if options.shootdown_to == "directory" and locate == "no_directory":
        raise InputError("options.shootdown_to: directory needs a policy.locate that knows holders. Got no_directory.")
    for (part, name), why in UNSERVED.items():
        of_part: Spec = getattr(options, part)
        value, only = getattr(of_part, name), of_part.levers[name].default
        if value != only:
            only = only.name if isinstance(only, Spec) else only
            raise wrong_value("", f"options.{part}.{name}", f"must be {only} in a node, as {why}", _word(value), only)


def _word(value: Any) -> Any:
    return value.short() if isinstance(value, Spec) else value


def check_fits(given: Given[Any, NodeOptions, Any], applications: Applications) -> None:
    """Refuse a tensor that no card could ever grant, and an application whose home or priority there is not.

    Raises
    ------
    InputError
        The sentence names the application, the stream and the step.
    """
    cards = given.machine.gpus
    most = max((card.free_bytes for card in given.machine.board.cards), default=0)
    for number, application in enumerate(applications):
        whose = f"application {number}"
        if not 0 <= application.home < len(cards):
            nearest = min(max(application.home, 0), len(cards) - 1)
            raise wrong_value(whose, "home", f"must be a GPU from 0 to {len(cards) - 1}", application.home, nearest)
        if application.priority > MOST_PRIORITIES:
            expected = f"must be a whole number of at most {MOST_PRIORITIES}"
            raise wrong_value(whose, "priority", expected, application.priority, MOST_PRIORITIES)
        for stream, steps in enumerate(application.streams):
            for place, step in enumerate(steps):
                if isinstance(step, Allocate) and step.bytes > most and given.options.memory == "wait":
                    where = f"{whose}, stream {stream}, step {place}"
                    raise wrong_value(
                        where, "bytes", f"must be at most what the largest card has ({most})", step.bytes, most
                    )


def check_labels(given: Given[Any, NodeOptions, Any], applications: Applications) -> None:
    """Refuse a kernel that asks for a resource that there is not: a misspelt one would be no limit.

    Raises
    ------
    InputError
        The sentence names the application, the stream and the step, and the label that is meant.
    """
    known = {*USUAL, *(resource.label for resource in given.machine.card.resources())}
    for number, application in enumerate(applications):
        for stream, steps in enumerate(application.streams):
            for place, step in enumerate(steps):
                unknown = sorted(step.kernel.demand.keys() - known) if isinstance(step, Launch) else []
                if unknown:
                    where = f"application {number}, stream {stream}, step {place}"
                    raise unknown_name(where, "resource", unknown[0], known)


def check_serve(given: Given[Any, NodeOptions, Any], applications: Applications) -> None:
    """Refuse a policy that serves lanes of several waves together, where waves ask by themselves.

    Raises
    ------
    InputError
        The threads that it serves together are no part of a wave.
    """
    serve, wave = given.slots.serve, given.machine.card.wave_size
    launches = [step for one in applications for step in one.steps(Launch)]
    asks = any(phase.mallocs for step in launches for phase in step.kernel.phases)  # type: ignore[union-attr]
    if asks and wave % serve.unit():
        raise InputError(
            f"policy.serve: {serve.name} serves {serve.unit()} threads together, which are no equal part of a wave of "
            f"{wave}; in a node each wave asks by itself. Nearest: warp_aggregated with warp_size {wave}."
        )
