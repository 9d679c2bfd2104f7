"""A picture as SVG that stands in a page, and a policy by name or a run to draw one of.

Colors come from the page's style, so that it is right in the dark too.
"""

from __future__ import annotations

import html
from typing import Any

from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.mechanisms.mechanism import Mechanism, mechanism
from workbench.policies.catalogue import load_all
from workbench.policies.policy import read_policy


class Svg:
    """A drawing that grows by boxes, words and lines; classes of the site's style give colors.

    >>> picture = Svg("A box", 40, 20)
    >>> picture.box(0, 0, 10, 10, "free")
    >>> picture.text().splitlines()[2]
    '<rect x="0" y="0" width="10" height="10" class="free"/>'
    """

    def __init__(self, title: str, width: float, height: float) -> None:
        self.title, self.width, self.height = title, width, height
        self._parts: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, kind: str, title: str = "", **more: Any) -> None:
        """Draw a rectangle of a class; a title is shown when the pointer rests on it."""
        inside = f"><title>{html.escape(title)}</title></rect>" if title else "/>"
        place = f'x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'
        self._parts.append(f'<rect {place} class="{kind}"{_attributes(more)}{inside}')

    def words(self, x: float, y: float, text: object, kind: str = "", anchor: str = "start") -> None:
        """Write words with their baseline at y; anchor is start, middle or end."""
        inside = html.escape(str(text))
        self._parts.append(f'<text x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}" class="{kind}">{inside}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str = "line", **more: Any) -> None:
        """Draw a straight line."""
        place = f'x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"'
        self._parts.append(f'<line {place} class="{kind}"{_attributes(more)}/>')

    def disc(self, x: float, y: float, radius: float, kind: str, title: str = "") -> None:
        """Draw a disc of a class."""
        inside = f"<title>{html.escape(title)}</title>" if title else ""
        self._parts.append(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" class="{kind}">{inside}</circle>')

    def text(self) -> str:
        """Return the picture as SVG, with its title for those who do not see it."""
        size = f'viewBox="0 0 {_n(self.width)} {_n(self.height)}" width="{_n(self.width)}"'
        head = f'<svg class="drawing" role="img" xmlns="http://www.w3.org/2000/svg" {size}>'
        title = f"<title>{html.escape(self.title)}</title>"
        return "\n".join([head, title, *self._parts, "</svg>"])


def _attributes(more: dict[str, Any]) -> str:
    return "".join(f' {name.replace("_", "-")}="{html.escape(str(value))}"' for name, value in more.items())


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def policy_of(question: str, name: str, **levers: Any) -> Any:
    """Return a policy with some of its levers set.

    >>> policy_of("placement", "best_fit").place("0111100111111100", 5)
    7
    """
    load_all()
    return read_policy(question, {name: levers})


def first_run(sweep: dict[str, Any], events: bool = False) -> tuple[Mechanism, Any]:
    """Run a sweep's first point at its first seed; return its mechanism and the record."""
    run = next(iter(make_plan(read_sweep(sweep)).runs()))
    registered = mechanism(sweep["engine"])
    return registered, registered.engine.simulate(run.point.setup, run.seed, events=events)
