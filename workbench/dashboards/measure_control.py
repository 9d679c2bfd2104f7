"""The measure that is compared seed by seed: one of the engine's, or one that the user entered in a notebook cell."""

from __future__ import annotations

from workbench.dashboards.controls.pick import NameControl, words
from workbench.experiments.mechanism import Mechanism
from workbench.experiments.user_measures import WithOwn, measures_of
from workbench.levers import Lever


class MeasureControl(NameControl):
    """A drop-down of every measure of which less or more is better; a new cell's joins when it is refreshed."""

    def __init__(self, mechanism: Mechanism, start: str) -> None:
        """Offer the measures of a mechanism; `start` is the name of the one that a dashboard opens with."""
        self._mechanism, self._start = mechanism, start
        super().__init__(self._offered())
        self.show(start)

    def refresh(self) -> None:
        """Offer the measures that there are by now; the chosen one stays, unless the user removed it."""
        chosen, self.lever = self.shown.value, self._offered()
        with self._quietly():
            self.shown.options = words(self.lever.choices)
            self.shown.value = chosen if chosen in self.lever.choices else self._start

    def _offered(self) -> Lever:
        known = WithOwn(self._mechanism.measures, measures_of(self._mechanism.engine.name))
        names = tuple(name for name in known if known[name].better != "neither")
        return Lever("measure", "choice", self._start, choices=names, description=_DESCRIPTION)


_DESCRIPTION = "what the histogram compares seed by seed"
