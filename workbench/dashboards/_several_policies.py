"""Several policies of one slot against the baseline, at the same seeds: a small histogram each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.dashboards._background import Later
from workbench.dashboards._differences import MultiplesPanel, policies_table
from workbench.dashboards._elements import alert, button, small_print
from workbench.dashboards._sidebar import Sidebar
from workbench.dashboards.paired_runs import PairedRuns
from workbench.errors import InputError, WorkbenchError
from workbench.figures.drain_difference import drain_difference_data

MOST_POLICIES = 8
"""Policies to compare with the baseline."""
SLICE_SECONDS = 0.25


class SeveralPolicies:
    """A slot, a list of its policies, and a small histogram of each; a click makes one the other side."""

    def __init__(self, sidebar: Sidebar, on_choose: Callable[[], None]) -> None:
        """Call `on_choose` when a click has made a policy the other side."""
        self._sidebar, self._on_choose = sidebar, on_choose
        slots = list(sidebar.policies.compared)
        start = next((slot for slot in slots if sidebar.policies.other[slot].names.value), slots[0])
        words = [(slot.replace("_", " "), slot) for slot in slots]
        self.slot = widgets.Dropdown(options=words, value=start, description="slot")
        self.slot.observe(lambda _: self._offer(), "value")
        self.names = widgets.SelectMultiple(rows=8, description="policies", layout={"width": "auto"})
        self.begin = button("compare", "run them all at the seeds of this page", self.compare)
        self.words = widgets.HTML(small_print(f"Choose two to {MOST_POLICIES} policies (Ctrl or Shift for several)."))
        self.picture = MultiplesPanel(self._pick)
        self._runs: PairedRuns | None = None
        self._policies: list[Any] = []
        self._rest = Later(self._continue)
        left = widgets.VBox([self.slot, self.names, self.begin], layout={"flex": "0 1 260px"})
        self.table = widgets.HTML()
        right = widgets.VBox([self.words, self.picture, self.table], layout={"flex": "1 1 320px", "min_width": "0"})
        self.widget = widgets.HBox([left, right])
        self.widget.add_class("wb-several")
        self._offer()

    def compare(self) -> None:
        """Run what is chosen; the picture grows as seeds are done."""
        self._rest.cancel()
        try:
            self._runs = PairedRuns(self._config())
            self._show(SLICE_SECONDS)
        except WorkbenchError as mistake:
            self._say_mistake(mistake)

    def stop(self) -> None:
        """Run no more."""
        self._rest.cancel()

    def _offer(self) -> None:
        """Offer the policies of the slot; its baseline is compared with all of them anyway."""
        control = self._sidebar.policies.baseline[self.slot.value]
        offered = [(words, name) for words, name in control.names.options if name not in self._sidebar.policies.slots]
        self.names.options = offered
        self.names.value = [name for _, name in offered if name != control.names.value][:4]

    def _config(self) -> dict[str, Any]:
        """Return the sweep: the baseline's policies everywhere, but several in the slot."""
        slot, policies = self.slot.value, self._sidebar.policies
        own = policies.baseline[slot].plain()
        self._policies = [self._policy(slot, name) for name in self.names.value if self._policy(slot, name) != own]
        if not 1 <= len(self._policies) <= MOST_POLICIES:
            raise InputError(
                f"choose 1 to {MOST_POLICIES} policies that are not the baseline's. Got {len(self._policies)}."
            )
        everywhere = {one: control.plain() for one, control in {**policies.baseline, **policies.common}.items()}
        varied = {**everywhere, slot: {"vary": [own, *self._policies]}}
        return {**self._sidebar.config(), "policy": varied, "baseline": {slot: own}}

    def _policy(self, slot: str, name: str) -> Any:
        """Return a policy as either side has it, else with its defaults."""
        for side in (self._sidebar.policies.other, self._sidebar.policies.baseline):
            if side[slot].names.value == name:
                return side[slot].plain()
        return name

    def _continue(self) -> None:
        try:
            self._show(SLICE_SECONDS)
        except WorkbenchError as mistake:
            self._say_mistake(mistake)

    def _show(self, seconds: float) -> None:
        runs = self._runs
        if runs is None:
            return
        run_set = runs.advance(seconds)
        if run_set.failures:
            raise WorkbenchError(f"{run_set.failures[0].error}")
        difference = drain_difference_data(run_set, self._sidebar.measure.plain())
        self.picture.show(difference, list(range(len(difference.panels))))
        self.table.value = policies_table(run_set, self._sidebar.measure.plain())
        left = runs.n_seeds - runs.n_done
        done = f"{runs.n_done} of {runs.n_seeds}" if left else f"{runs.n_done}"
        self.words.value = small_print(f"{done} seeds, each policy against the baseline. Click one to see it large.")
        if left:
            self._rest.start(0)

    def _pick(self, place: int) -> None:
        """Make a policy the other side, alone."""
        if place >= len(self._policies):
            return
        policies = self._sidebar.policies
        same = {
            slot: policies.baseline[slot].plain() if len(policies.compared) == 1 else "" for slot in policies.compared
        }
        policies.show({"other": {**same, self.slot.value: self._policies[place]}})
        self._on_choose()

    def _say_mistake(self, mistake: WorkbenchError) -> None:
        self.picture.clear()
        self.table.value = ""
        message = str(mistake).removeprefix("sweep: ")
        self.words.value = alert(message)
