"""Offers of a page's controls: no more values than the check of the whole setting takes.

The check is that of reading a plan, asked of values that are not chosen yet: workload against machine, policies against
levers. No workload is drawn, which can take seconds at the end of a slider, and nothing is run; what is seen only then
is refused when it is chosen. A slider of few stops is asked for each of them. Of a longer one its ends are asked, and
where an end is refused, the last stop that is not is looked for by halves. If one of a few stops between the two ends
is refused, or one beyond them is not, all are asked for. That is so for a value that must divide, or be divided. A
drop-down is asked for every name: a lever's that is refused is left out; a policy or a preset that is refused is
marked, with the reason, for a lever of its own may be the cure.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from workbench.dashboards._background import Later, has_loop
from workbench.dashboards._controls import NameControl, NumberControl
from workbench.dashboards._machine_control import BlocksControl, MachineControl
from workbench.dashboards._sidebar import Sidebar
from workbench.dashboards._slider_stops import nearest_stop
from workbench.dashboards._spec_controls import ChoiceControl
from workbench.errors import WorkbenchError
from workbench.experiments.plan import setups_read
from workbench.experiments.sweep import read_sweep
from workbench.workloads.workload_key import generators

FEW = 16
"""Up to so many stops each one is asked for."""

SAMPLED = 6
"""About so many stops are asked for besides, to see whether those that pass lie together."""

REST_SECONDS = 0.5
"""How long a page must rest before its sliders are looked at; any turn of a lever comes first."""

GAP_SECONDS = 0.01
"""Between two checks, so that what the browser says meanwhile is heard."""

ROOTS = ("policy", "other", "machine", "workload", "options")
"""Where the controls of what is run stand in a page."""

CATALOGUES = ("policy", "other", "machine")
"""Those of them in which policies and presets are chosen."""

Check = Callable[[], object]
Passes = Callable[[float], bool]


class Offers:
    """Narrows the sliders of a page one after the other while nothing else is to be done."""

    def __init__(self, sidebar: Sidebar) -> None:
        self._sidebar = sidebar
        self._left: Iterator[None] = iter(())
        self._later = Later(self._next)

    def start(self) -> None:
        """Look at every slider soon; where no page listens (a script, a test) no slider moves, and nothing is done."""
        if has_loop():
            self._left = self._narrowing()
            self._later.start(REST_SECONDS)

    def cancel(self) -> None:
        """Leave the rest as it is."""
        self._later.cancel()

    def _narrowing(self) -> Iterator[None]:
        looks: list[tuple[Any, Any]] = [
            (sliders, limiting_steps),
            (drop_downs, filtering_steps),
            (catalogues, marking_steps),
        ]
        for controls, look in looks:
            for control in list(controls(self._sidebar)):
                yield from look(control, self.check)

    def _next(self) -> None:
        """Make one check: what a user does meanwhile waits no longer than that takes."""
        if next(self._left, self) is not self:
            self._later.start(GAP_SECONDS)

    def check(self) -> None:
        """Refuse what cannot be read into a plan; one seed is enough to know."""
        setups_read(read_sweep({**self._sidebar.config(), "seeds": 1}))


def sliders(sidebar: Sidebar) -> Iterator[NumberControl]:
    """Yield the sliders of what is run, but for a workload's length: no check ends it, and a long one takes seconds."""
    lengths = {cls.counted_by for cls in generators(sidebar.workload.kind).values()}
    for path, control in sidebar.walk():
        root, _, lever = path.partition(".")
        inner = control.blocks if isinstance(control, BlocksControl) else control
        long = root == "workload" and lever.split(".")[-1] in lengths
        if isinstance(inner, NumberControl) and root in ROOTS and not long:
            yield inner


def drop_downs(sidebar: Sidebar) -> Iterator[NameControl]:
    """Yield the levers of what is run that are one name of several."""
    for path, control in sidebar.walk():
        if isinstance(control, NameControl) and path.partition(".")[0] in ROOTS:
            yield control


def catalogues(sidebar: Sidebar) -> Iterator[ChoiceControl | MachineControl]:
    """Yield the choices from a catalogue: the policies of both sides, those that they hold, and the presets."""
    for path, control in sidebar.walk():
        if isinstance(control, (ChoiceControl, MachineControl)) and path.partition(".")[0] in CATALOGUES:
            yield control


def marking_steps(control: ChoiceControl | MachineControl, check: Check) -> Iterator[None]:
    """Mark the names that a setting would be refused with, each with the reason; yield after a check.

    Where the present setting is refused itself, and of a name that needs something typed first, nothing is said.
    """
    fine, refused = _passes(check), dict[str, str]()
    yield
    for name in control.choices if fine else ():
        why = _refusal(control, name, check)
        refused |= {name: why} if why else {}
        yield
    control.say_refused(refused)


def _refusal(control: ChoiceControl | MachineControl, name: str, check: Check) -> str:
    """Return the reason why a setting with another name is refused, empty = it is not."""
    try:
        with control.trying(name):
            return _why(check)
    except WorkbenchError:
        return ""  # its own levers are not complete


def _why(check: Check) -> str:
    try:
        check()
    except WorkbenchError as mistake:
        return str(mistake)
    return ""


def filtering_steps(control: NameControl, check: Check) -> Iterator[None]:
    """Leave out the names that a setting would be refused with; yield after a check."""
    fine, kept = _passes(check), []
    yield
    for name in control.lever.choices if fine else ():
        with control.trying(name):
            kept += [name] * _passes(check)
        yield
    control.offer(kept if fine else control.lever.choices)


def limit_slider(control: NumberControl, check: Check) -> None:
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
    >>> limit_slider(parts, divides)
    >>> list(parts.stops), parts.plain()
    ([1, 2, 3, 4, 6, 12], 4)
    """

    for _ in limiting_steps(control, check):
        pass


def limiting_steps(control: NumberControl, check: Check) -> Iterator[None]:
    """Do as `limit_slider`, and yield after every check."""

    def passes(value: float) -> bool:
        with control.trying(value):
            return _passes(check)

    if len(control.declared) > 1:
        fine = _passes(check)
        yield
        control.offer((yield from _allowed(control.declared, control.box.value, passes)) if fine else control.declared)


def _allowed(stops: Sequence[float], value: float, passes: Passes) -> Generator[None, None, Sequence[float]]:
    """Return the stops that pass; the present value alone where it is no stop and its neighbor does not pass."""
    if len(stops) <= FEW:
        return (yield from _each(stops, passes)) or [value]
    middle = nearest_stop(list(stops), value)
    if not passes(stops[middle]):
        return [value]
    below = yield from _reach(stops[middle::-1], passes)
    above = yield from _reach(stops[middle:], passes)
    low, high = middle - below, middle + above
    for place in range(1, len(stops), len(stops) // SAMPLED + 1):
        if passes(stops[place]) != (low <= place <= high):
            return (yield from _each(stops, passes))
        yield
    return stops[low : high + 1]


def _each(stops: Sequence[float], passes: Passes) -> Generator[None, None, list[float]]:
    """Return the stops that pass, each asked for."""
    kept: list[float] = []
    for stop in stops:
        kept += [stop] * passes(stop)
        yield
    return kept


def _reach(stops: Sequence[float], passes: Passes) -> Generator[None, None, int]:
    """Return the place of the last stop that passes, where the first does and what is refused lies at the end."""
    passed, refused, between = 0, len(stops), len(stops) - 1
    while refused - passed > 1:
        passed, refused = (between, refused) if passes(stops[between]) else (passed, between)
        between = (passed + refused) // 2
        yield
    return passed


def _passes(check: Check) -> bool:
    return not _why(check)
