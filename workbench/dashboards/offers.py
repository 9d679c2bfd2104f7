"""What sliders offer: they end where the check of the whole setting would refuse, not only where a lever ends.

The check is the plan's own, asked of values that nobody has chosen yet; nothing is run. A slider of few stops is asked
for each of them; of a longer one its ends are, and where an end is refused, the last stop that is not is looked for by
halves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from workbench.dashboards.blocks_control import BlocksControl
from workbench.dashboards.controls.number import NumberControl
from workbench.dashboards.controls.stops import nearest_stop
from workbench.dashboards.later import Later, has_loop
from workbench.dashboards.paired_runs import PairedRuns
from workbench.dashboards.sidebar import Sidebar
from workbench.errors import WorkbenchError
from workbench.workloads.synthetic.generators import generators

FEW = 16
"""Up to so many stops each one is asked for."""

REST_SECONDS = 0.5
"""How long a page must rest before its sliders are looked at; any turn of a lever comes first."""

Check = Callable[[], object]


class Offers:
    """Narrows the sliders of a page one after the other while nothing else is to be done."""

    def __init__(self, sidebar: Sidebar) -> None:
        self._sidebar = sidebar
        self._left: list[NumberControl] = []
        self._later = Later(self._next)

    def start(self) -> None:
        """Look at every slider soon; where no page listens (a script, a test) nobody slides, and nothing is done."""
        if has_loop():
            self._left = list(sliders(self._sidebar))
            self._later.start(REST_SECONDS)

    def cancel(self) -> None:
        """Leave the rest as it is."""
        self._later.cancel()

    def _next(self) -> None:
        if self._left:
            narrow(self._left.pop(0), self.check)
            self._later.start(0)

    def check(self) -> None:
        """Refuse what the plan of this setting refuses; one seed is enough to know."""
        PairedRuns({**self._sidebar.said(), "seeds": 1})


def sliders(sidebar: Sidebar) -> Iterator[NumberControl]:
    """Yield the sliders of what is run, but for a workload's length: no check ends it, and a long one takes seconds."""
    lengths = {cls.counted_by for cls in generators(sidebar.workload.wants).values()}
    for path, control in sidebar.walk():
        room, _, lever = path.partition(".")
        inner = control.blocks if isinstance(control, BlocksControl) else control
        long = room == "workload" and lever.split(".")[-1] in lengths
        if (
            isinstance(inner, NumberControl)
            and room in ("policy", "other", "machine", "workload", "options")
            and not long
        ):
            yield inner


def narrow(control: NumberControl, check: Check) -> None:
    """End a slider where a setting would be refused; one whose present value is refused keeps all its stops.

    Parameters
    ----------
    control : NumberControl
    check : callable
        Raises a `WorkbenchError` if the setting that the controls say is refused.

    Examples
    --------
    >>> from workbench.errors import InputError
    >>> from workbench.levers import Lever
    >>> parts = NumberControl(Lever("parts", "integer", 1, least=1, most=12))
    >>> parts.show(4)
    >>> def divides():
    ...     if 12 % parts.plain():
    ...         raise InputError("parts must divide 12.")
    >>> narrow(parts, divides)
    >>> list(parts.stops), parts.plain()
    ([1, 2, 3, 4, 6, 12], 4)
    """

    def passes(value: float) -> bool:
        with control.trying(value):
            return _passes(check)

    if len(control.declared) > 1:
        control.offer(_allowed(control.declared, control.box.value, passes) if _passes(check) else control.declared)


def _allowed(stops: Sequence[float], value: float, passes: Callable[[float], bool]) -> Sequence[float]:
    if len(stops) <= FEW:
        return [stop for stop in stops if passes(stop)]
    middle = nearest_stop(list(stops), value)
    first = middle - _reach(stops[middle::-1], passes)
    return stops[first : middle + _reach(stops[middle:], passes) + 1]


def _reach(stops: Sequence[float], passes: Callable[[float], bool]) -> int:
    """Return the place of the last stop that passes, where the first does and what is refused lies at the end."""
    if passes(stops[-1]):
        return len(stops) - 1
    passed, refused = 0, len(stops) - 1
    while refused - passed > 1:
        between = (passed + refused) // 2
        passed, refused = (between, refused) if passes(stops[between]) else (passed, between)
    return passed


def _passes(check: Check) -> bool:
    try:
        check()
    except WorkbenchError:
        return False
    return True
