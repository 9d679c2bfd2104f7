"""What is refused before a node runs: what no card can hold, and levers of parts that a whole node does not serve."""

from __future__ import annotations

from typing import Any

from workbench.engines.kit import Given
from workbench.engines.node.options import NodeOptions
from workbench.errors import InputError, wrong_value
from workbench.levers import Spec
from workbench.workloads.node import Allocate, Applications

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
    """Refuse a tensor that no card could ever grant, and an application whose home there is not.

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
        for stream, steps in enumerate(application.streams):
            for place, step in enumerate(steps):
                if isinstance(step, Allocate) and step.bytes > most and given.options.memory == "wait":
                    where = f"{whose}, stream {stream}, step {place}"
                    raise wrong_value(
                        where, "bytes", f"must be at most what the largest card has ({most})", step.bytes, most
                    )
