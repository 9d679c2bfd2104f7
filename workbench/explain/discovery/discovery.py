"""Where the policies of a sweep lose: the scenarios of all of them as tables and sentences."""

from __future__ import annotations

import functools
from html import escape
from typing import TYPE_CHECKING, Any

from workbench.experiments.results import Results
from workbench.explain.discovery.cases import LOSSES, Interest, cases_of
from workbench.explain.discovery.prim import Box
from workbench.explain.discovery.scenario import Scenario, corrected, inside_of, scenarios
from workbench.explain.discovery.sentences import sentence

if TYPE_CHECKING:
    import pandas as pd


class Discovery:
    """Where the policies of a sweep lose."""

    def __init__(self, results: Results, scenarios: list[Scenario]) -> None:
        self.results = results
        """The runs behind it."""
        self.scenarios = scenarios
        """One a policy and box; the last of a policy may be none."""

    @functools.cached_property
    def boxes(self) -> pd.DataFrame:
        """Return one row a limit: policy, box, lever, side (`>=`, `<=`, `in`), value, quasi_p, and of the whole box
        coverage, density, mass, p, and p_holm (over all policies and boxes); no row of a policy without a box."""
        import pandas as pd

        names = ["policy", "box", "lever", "side", "value", "quasi_p", "coverage", "density", "mass", "p", "p_holm"]
        rows = [row for one in self.scenarios if one.is_box for row in _limits(one)]
        return pd.DataFrame(rows, columns=names)

    @functools.cached_property
    def trajectory(self) -> pd.DataFrame:
        """Return one row a peeled box: policy, box, step, lever that it was peeled on, coverage, density, mass,
        restricted levers, points, hits."""
        import pandas as pd

        return pd.DataFrame([row for one in self.scenarios for row in _steps(one)])

    @functools.cached_property
    def cases(self) -> pd.DataFrame:
        """Return one row a point that was searched: policy, box, point, a column a lever, value (its gain or mean), hit
        (whether it is of interest), inside (whether it is in the box)."""
        import pandas as pd

        return pd.concat([_points(one) for one in self.scenarios], ignore_index=True)

    def sentences(self) -> list[str]:
        """Say where each policy loses, one sentence a box; and where no box is better than the base rate."""
        return [sentence(one, 10_000) for one in self.scenarios]

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(text)}</li>" for text in self.sentences())
        return f"<ul>{items}</ul>"


def discover(
    runs: Results,
    measure: str | None = None,
    interest: Interest = LOSSES,
    boxes: int = 1,
    density: float | None = None,
) -> Discovery:
    """Search, of each policy of a sweep, the box of levers that holds most losses and little else.

    Parameters
    ----------
    measure : str, optional
        Any measure of the engine; the first that the sweep names if None.
    interest : Interest
        Losses, wins, or a mean above or below a threshold.
    boxes : int
        How many boxes a policy at most, each among the points outside of those before.
    density : float, optional
        Take the largest box that is at least so dense, not the one that tells losses best.

    Raises
    ------
    InputError
        As `cases_of` and `scenarios`.
    """
    every = cases_of(runs, measure, interest)
    searches = boxes * len(every)
    boxes_of_all = [one for cases in every for one in scenarios(cases, boxes, density, searches)]
    return Discovery(runs, corrected(boxes_of_all))


def _limits(one: Scenario) -> list[dict[str, Any]]:
    box, head = one.box, _head(one)
    shares = {**_shares(box), "p": one.p_value, "p_holm": one.p_adjusted}
    return [
        {
            **head,
            "lever": one.cases.columns[limit.place].path,
            "side": limit.side,
            "value": ", ".join(limit.value) if isinstance(limit.value, tuple) else limit.value,
            "quasi_p": p,
            **shares,
        }
        for limit, p in one.limits
    ]


def _steps(one: Scenario) -> list[dict[str, Any]]:
    return [
        {
            **_head(one),
            "step": step,
            "lever": box.step,
            **_shares(box),
            "restricted": len(box.restricted),
            "points": box.size,
            "hits": box.hits,
        }
        for step, box in enumerate(one.trajectory)
    ]


def _shares(box: Box) -> dict[str, float]:
    return {"coverage": box.coverage, "density": box.density, "mass": box.mass}


def _points(one: Scenario) -> pd.DataFrame:
    import pandas as pd

    cases = one.cases
    levers = {column.path: [(*column.values, None)[code] for code in column.codes] for column in cases.columns}
    sides = {"value": cases.value, "hit": cases.hit, "inside": inside_of(one) & one.is_box}
    return pd.DataFrame({**_head(one), "point": list(cases.points), **levers, **sides})


def _head(one: Scenario) -> dict[str, Any]:
    return {"policy": one.cases.policy, "box": one.number}
