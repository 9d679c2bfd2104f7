"""What a user can turn: machine, workload, the two policies, the queue, the seeds. Its value is a sweep."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from typing import Any

import ipywidgets as widgets

from workbench.dashboards.controls import Control, control_for
from workbench.dashboards.machine_control import MachineControl
from workbench.dashboards.workload_control import WorkloadControl
from workbench.experiments.mechanism import Mechanism
from workbench.levers import Lever
from workbench.policies.placement import Placement
from workbench.policies.queueing import QueuePolicy, RetryPolicy

MOST_SEEDS = 1000


class Sidebar:
    """All controls of the dashboard `shared_memory`, in the order in which one asks."""

    def __init__(self, mechanism: Mechanism) -> None:
        engine = mechanism.engine
        self._engine = engine.name
        self.machine = MachineControl()
        self.workload = WorkloadControl()
        self.baseline = control_for(_policy("baseline", "first_fit", Placement, "what the other is compared with"))
        self.other = control_for(_policy("other", engine.slots["placement"], Placement, "what is compared"))
        self.queue = control_for(_policy("queue", engine.slots["queue"], QueuePolicy, "which request may be tried"))
        self.retry = control_for(_policy("retry", engine.slots["retry"], RetryPolicy, "when a refused one is tried"))
        self.options = control_for(Lever("options", "spec", engine.options(), spec=engine.options))
        self.seeds = control_for(_SEEDS)
        self.drawn = control_for(_DRAWN)
        self.measure = control_for(_measure(mechanism))
        self.widget = widgets.VBox(
            list(self._sections()), layout={"flex": "1 1 330px", "min_width": "0", "max_width": "400px"}
        )
        self.widget.add_class("wb-sidebar")

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call someone whenever the user changes anything."""
        for control in self._controls():
            control.on_change(listener)

    def said(self) -> dict[str, Any]:
        """The state as a sweep, as a YAML file would say it.

        Raises
        ------
        InputError
            What was typed is not a value of its lever.
        """
        baseline = self.baseline.plain()
        return {
            "engine": self._engine,
            "machine": self.machine.plain(),
            "workload": self.workload.plain(),
            "policy": {
                "placement": {"vary": [baseline, self.other.plain()]},
                "queue": self.queue.plain(),
                "retry": self.retry.plain(),
            },
            "options": self.options.plain(),
            "baseline": {"placement": baseline},
            "seeds": self.seeds.plain(),
        }

    def refresh(self) -> None:
        """Offer the policies and laws that have been defined since."""
        for control in self._controls():
            control.refresh()

    def _controls(self) -> Iterator[Control]:
        yield from (self.machine, self.workload, self.baseline, self.other, self.queue, self.retry)
        yield from (self.options, self.seeds, self.drawn, self.measure)

    def _sections(self) -> Iterator[widgets.Widget]:
        yield from _section("Policies", self.baseline, self.other)
        yield from _section("Machine", self.machine)
        yield from _section("Workload", self.workload)
        yield from _section("Queue and allocator", self.queue, self.retry, self.options)
        yield from _section("Runs", self.seeds, self.drawn, self.measure)


_SEEDS = Lever(
    "seeds",
    "integer",
    20,
    least=1,
    most=MOST_SEEDS,
    scale="log",
    unit="paired runs",
    says="both policies meet the same queue at each seed, 0, 1, 2 and so on",
)
_DRAWN = Lever(
    "drawn_seed",
    "integer",
    0,
    least=0,
    most=MOST_SEEDS - 1,
    says="the seed whose runs the strips and lines show",
)


def _policy(name: str, default: str, base: type, says: str) -> Lever:
    return Lever(name, "spec", default, spec=base, says=says)


def _measure(mechanism: Mechanism) -> Lever:
    names = tuple(name for name, measure in mechanism.measures.items() if measure.better != "neither")
    return Lever("measure", "choice", names[0], choices=names, says="what the histogram compares seed by seed")


def _section(title: str, *controls: Control) -> Iterator[widgets.Widget]:
    head = widgets.HTML(html.escape(title))
    head.add_class("wb-section")
    yield head
    yield from (control.widget for control in controls)
