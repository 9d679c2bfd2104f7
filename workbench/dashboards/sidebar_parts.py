"""Parts of the sidebar: both sides' policies as a table, the levers that matter first, sections, and search.

A row of the table is a slot, the baseline's policy beside the other's, their levers below. Levers are found by a search
box, wherever they were folded away, by the patterns of an opening, and by the path that a refusal's sentence names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from fnmatch import fnmatchcase
from typing import Any

import ipywidgets as widgets

from workbench.dashboards.controls import Control, label_of, row
from workbench.dashboards.opening import Opening
from workbench.dashboards.spec_controls import ChoiceControl
from workbench.engines.kit.engine import Engine
from workbench.levers import Lever
from workbench.policies.policy import Policy, policies

SAME = ""
"""What stands for the baseline's own policy on the other side."""
_SAYS = "whose answer the engine takes here"
_TOGETHER = "other"
"""The sweep's name for the choices that step together from the baseline to the other side."""


class PoliciesControl:
    """Controls by slot: `baseline` and `other` where the sides may differ, `common` where they may not."""

    def __init__(self, engine: Engine, opening: Opening) -> None:
        self._engine, self._opening = engine, opening
        self.baseline = {slot: self._control(slot) for slot in opening.compared}
        self.common = {slot: self._control(slot) for slot in engine.slots if slot not in opening.compared}
        same = {} if len(opening.compared) == 1 else {SAME: "as the baseline"}
        self.other = {slot: self._other(slot, same) for slot in opening.compared}

    @property
    def slots(self) -> Mapping[str, str]:
        """Return every slot of the engine with its default."""
        return self._engine.slots

    @property
    def compared(self) -> Sequence[str]:
        """Return the slots in which the sides may differ."""
        return self._opening.compared

    def __iter__(self) -> Iterator[Control]:
        yield from (*self.baseline.values(), *self.other.values(), *self.common.values())

    def said(self, sides: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
        """Return the keys `policy` and `baseline` of a sweep: of these controls, or of what `sides` returned."""
        given = sides or self.sides()
        ours, theirs = {**given["baseline"], **given["common"]}, given["other"]
        differing = [slot for slot, policy in theirs.items() if policy not in (SAME, ours[slot])]
        together = {"zip": _TOGETHER} if len(differing) > 1 else {}
        varied = {slot: {"vary": [ours[slot], theirs[slot]], **together} for slot in differing}
        config = {slot: varied.get(slot, ours[slot]) for slot in self._engine.slots}
        baseline = {slot: deepcopy(ours[slot]) for slot in differing}  # or YAML writes a link
        return {"policy": config} | ({"baseline": baseline} if differing else {})

    def sides(self) -> dict[str, dict[str, Any]]:
        """Return the plain value of each control, by side and slot."""
        controls = {"baseline": self.baseline, "other": self.other, "common": self.common}
        return {side: {slot: one.plain() for slot, one in slots.items()} for side, slots in controls.items()}

    def show(self, sides: Mapping[str, Mapping[str, Any]]) -> None:
        """Show what `sides` returned."""
        controls = {"baseline": self.baseline, "other": self.other, "common": self.common}
        for side, slots in sides.items():
            for slot, value in slots.items():
                controls[side][slot].show(value)

    def walk(self) -> Iterator[tuple[str, Control]]:
        """Yield every control with its path; those of the other side begin with `other`."""
        for slot, control in (*self.baseline.items(), *self.common.items()):
            yield from control.walk(f"policy.{slot}")
        for slot, control in self.other.items():
            yield from control.walk(f"other.{slot}")

    def _control(self, slot: str) -> ChoiceControl:
        default = self._opening.baseline.get(slot, self._engine.slots[slot])
        takes_another = {s: f"as {s}".replace("_", " ") for s in self._engine.slots if s == self._engine.slots[slot]}
        return _choice(self._engine.question_of(slot), slot, default, takes_another)

    def _other(self, slot: str, same: Mapping[str, str]) -> ChoiceControl:
        default = self._opening.other.get(slot, SAME)
        return _choice(self._engine.question_of(slot), slot, default, same)


def _choice(question: str, name: str, default: Any, stand_ins: Mapping[str, str]) -> ChoiceControl:
    control = ChoiceControl(Lever(name, "spec", spec=question_base(question), description=_SAYS), stand_ins=stand_ins)
    if default not in stand_ins:
        control.show(default)
    return control


def question_base(question: str) -> type[Policy]:
    """Return the class from which every policy of a question derives.

    >>> from workbench.policies.placement import Placement
    >>> question_base("placement") is Placement
    True
    """
    some = next(iter(policies(question).values()))
    return [cls for cls in some.__mro__ if issubclass(cls, Policy) and cls.question == question][-1]


OPEN_ROW, CLOSED_ROW = "▾", "▸"


class SlotRow:
    """One slot: two drop-downs, and a button that opens the levers of both."""

    def __init__(self, baseline: ChoiceControl, other: ChoiceControl, opened: bool) -> None:
        self.baseline, self.other = baseline, other
        self.opener = widgets.Button(tooltip="the levers of these two")
        self.opener.add_class("wb-out")
        self.opener.on_click(lambda _: self.open(not self.opened))
        other.names.add_class("wb-side-other")
        head = row(baseline.lever, baseline.names, other.names, self.opener)
        self.inside = widgets.HBox([baseline.inside, other.inside])
        self.inside.add_class("wb-two")
        self.widget = widgets.VBox([head, self.inside])
        self.widget.add_class("wb-slot")
        self.open(opened)

    @property
    def opened(self) -> bool:
        """Return whether the levers are seen."""
        return bool(self.inside.layout.display != "none")

    @property
    def differs(self) -> bool:
        """Return whether the two sides have policies of their own."""
        return bool(self.other.names.value != SAME)

    def open(self, opened: bool) -> None:
        """Show the levers, or hide them."""
        self.inside.layout.display = "" if opened else "none"
        self.opener.description = OPEN_ROW if opened else CLOSED_ROW


class PoliciesTable:
    """A row a slot that may differ; a tick leaves those in which the sides do."""

    def __init__(self, policies: PoliciesControl) -> None:
        alone = len(policies.baseline) == 1
        self.rows = {
            slot: SlotRow(control, policies.other[slot], opened=alone) for slot, control in policies.baseline.items()
        }
        self.only = widgets.Checkbox(False, description="only what differs", indent=False)
        self.only.add_class("wb-only")
        self.only.observe(lambda _: self.refresh(), "value")
        for control in policies.other.values():
            control.on_change(self.refresh)
        self.head = widgets.HBox([widgets.Label(word) for word in ("", "baseline", "other", "")])
        self.head.add_class("wb-row")
        self.head.add_class("wb-sides")
        above = [self.head] if alone else [self.only, self.head]
        self.widget = widgets.VBox([*above, *(one.widget for one in self.rows.values())])
        self.widget.add_class("wb-levers")

    def refresh(self) -> None:
        """Hide the slots in which the sides are alike, if the tick says so."""
        for one in self.rows.values():
            one.widget.layout.display = "none" if self.only.value and not one.differs else ""

    def search(self, visible: Collection[str] | None) -> None:
        """Show the slots among the paths that a search found, with their levers; all of them after it."""
        for slot, one in self.rows.items():
            hit = visible is None or not {f"policy.{slot}", f"other.{slot}"}.isdisjoint(visible)
            miss(one.widget, not hit)
            if visible is not None:
                one.open(hit)
            elif len(self.rows) > 1:
                one.open(False)


Walked = Iterable[tuple[str, Control]]


class FirstLevers:
    """Rows of controls that stand further below as well: the same levers, seen at once.

    Which there are depends on the policies that are chosen, so they are looked up after every change.
    """

    def __init__(self, patterns: Sequence[str], above: Sequence[widgets.Widget]) -> None:
        """Take as `patterns` what the paths of the levers match, in this order, as `above` what always stands first."""
        self._patterns, self._above = patterns, list(above)
        self._seen: list[tuple[str, int]] | None = None
        self.widget = widgets.VBox(self._above)
        self.widget.add_class("wb-levers")

    def refresh(self, walked: Walked) -> None:
        """Show the levers that there are by now."""
        chosen = first_of(walked, self._patterns)
        seen = [(path, id(control)) for path, control in chosen]
        if seen != self._seen:
            self._seen = seen
            self.widget.children = [*self._above, *_rows(chosen)]


def first_of(walked: Walked, patterns: Sequence[str]) -> list[tuple[str, Control]]:
    """Return the controls whose paths match, in the order of the patterns; `policy` stands for both sides."""
    paths = list(walked)
    chosen: dict[str, Control] = {}
    for pattern in patterns:
        for path, control in paths:
            if fnmatchcase(path.replace("other.", "policy.", 1) if path.startswith("other.") else path, pattern):
                chosen.setdefault(path, control)
    return list(chosen.items())


def _rows(chosen: Sequence[tuple[str, Control]]) -> list[widgets.Widget]:
    """Return a row a lever; the same lever of both sides' same policy is one row, above the first of which stands whose
    the columns are."""
    sides: dict[str, dict[str, Control]] = {}
    for path, control in chosen:
        side, _, rest = path.partition(".")
        key = rest if side in ("policy", "other") else path
        sides.setdefault(key, {})[side] = control
    rows = [_row(key, controls) for key, controls in sides.items()]
    paired = [place for place, one in enumerate(rows) if "wb-pinned" in one._dom_classes]
    return [*rows[: paired[0]], _whose(), *rows[paired[0] :]] if paired else rows


def _whose() -> widgets.Widget:
    """Return the heading of the two columns."""
    heads = [widgets.Label(side) for side in ("baseline", "other")]
    for head, side in zip(heads, ("wb-baseline", "wb-other"), strict=True):
        head.add_class(side)
    both = widgets.HBox(heads)
    both.add_class("wb-two")
    both.add_class("wb-sides")
    return both


def _row(key: str, controls: dict[str, Control]) -> widgets.Widget:
    if not controls.keys() & {"policy", "other"}:
        (control,) = controls.values()
        return control.widget
    slot = key.partition(".")[0]
    any_side = next(iter(controls.values()))
    words = f"{slot}: {label_of(any_side.lever)}".replace("_", " ")
    caption = widgets.Label(words, tooltip=any_side.lever.description)
    caption.add_class("wb-caption")
    both = widgets.HBox([controls[side].widget if side in controls else _nothing() for side in ("policy", "other")])
    both.add_class("wb-two")
    pinned = widgets.VBox([caption, both])
    pinned.add_class("wb-pinned")
    return pinned


def _nothing() -> widgets.Widget:
    """Return what stands where a side has no such lever."""
    return widgets.Label("–", tooltip="this side has no such lever, or is as the baseline")


OPEN, FOLDED = "▾", "▸"


class Section:
    """Controls one below the other; a press on the heading hides or shows them, and changes nothing else."""

    def __init__(self, title: str, *inside: widgets.Widget, folded: bool = False) -> None:
        self.title = title
        self._before: bool | None = None
        self.head = widgets.Button()
        self.head.add_class("wb-section")
        self.head.on_click(lambda _: self.fold(not self.folded))
        self.inside = widgets.VBox(inside)
        self.inside.add_class("wb-levers")
        self.widget = widgets.VBox([self.head, self.inside])
        self.widget.add_class("wb-levers")
        self.fold(folded)

    @property
    def folded(self) -> bool:
        """Return whether the controls are hidden."""
        return bool(self.inside.layout.display == "none")

    def fold(self, folded: bool) -> None:
        """Hide the controls, or show them."""
        self.inside.layout.display = "none" if folded else ""
        self.head.description = f"{FOLDED if folded else OPEN} {self.title}"

    def search(self, visible: bool | None) -> None:
        """Show what a search found in it, or nothing of it; after the search, what was shown before (None)."""
        miss(self.widget, visible is False)
        if self._before is None and visible is not None:
            self._before = self.folded
        if visible:
            self.fold(False)
        elif visible is None and self._before is not None:
            self.fold(self._before)
            self._before = None


MISS = "wb-miss"


def search_box() -> widgets.Text:
    """Return the box in which one types what is sought."""
    box = widgets.Text(placeholder="find a lever or a policy: nx, window, groups ...")
    box.tooltip = "shows the levers and policies whose names hold these words; empty, everything is as it was folded"
    box.add_class("wb-search")
    return box


def matching(walked: Iterable[tuple[str, Control]], sought: str) -> set[str]:
    """Return the paths that are seen while words are sought: hits, what they stand in, and what stands in them.

    >>> from workbench.dashboards.spec_controls import control_for
    >>> from workbench.levers import Lever
    >>> nx = control_for(Lever("nx", "integer", 4, least=1, most=9))
    >>> sorted(matching([("policy.choice", nx), ("policy.choice.sum.nx", nx), ("seeds", nx)], "NX"))
    ['policy.choice', 'policy.choice.sum.nx']
    """
    paths = dict(walked)
    words = sought.lower().split()
    hits = [path for path, control in paths.items() if all(word in _text(path, control) for word in words)]
    return {path for path in paths if any(_related(path, hit) for hit in hits)}


def _text(path: str, control: Control) -> str:
    words = path.replace("_", " ").replace(".", " ").replace("other ", "policy ", 1)
    return f"{words} {path} {control.lever.unit}".lower()


def _related(path: str, hit: str) -> bool:
    """Return whether one of two paths stands in the other."""
    short, long = sorted((path, hit), key=len)
    return long == short or (long.startswith(short) and long[len(short)] in ".[")


def miss(widget: widgets.Widget, missed: bool) -> None:
    """Hide a widget while something else is sought."""
    if missed:
        widget.add_class(MISS)
    elif MISS in widget._dom_classes:
        widget.remove_class(MISS)


_Path = tuple[list[str], Control]
_NAME = re.compile(r"[a-z]\w*(?:\[\d+\])*(?:\.\w+(?:\[\d+\])*)*")


def wrong_levers(walked: Iterable[tuple[str, Control]], sentence: str) -> list[Control]:
    """Return the controls that a sentence names, the innermost of several; none where it names none.

    A path of several words says more than a word alone, which may be no lever's name at all.

    >>> from workbench.dashboards.spec_controls import control_for
    >>> from workbench.levers import Lever
    >>> low = control_for(Lever("low", "integer", 4, least=1, most=9))
    >>> high = control_for(Lever("high", "integer", 4, least=1, most=9))
    >>> walked = [("workload.groups.size.low", low), ("workload.groups.size.high", high)]
    >>> [one.lever.name for one in wrong_levers(walked, "size.high must be at most 3. Got 4.")]
    ['high']
    >>> size = control_for(Lever("size", "integer", 4, least=1, most=9))
    >>> sentence = "workload.groups.size must draw at most 3. Nearest: uniform.high = 3."
    >>> walked = [("workload.groups.size", size), ("workload.groups.size.uniform.high", high)]
    >>> [one.lever.name for one in wrong_levers(walked, sentence)]
    ['high']
    """
    paths = [(re.sub(r"^other\.", "policy.", path).split("."), control) for path, control in walked]
    best: list[Control] = []
    rank = (False, -1)
    for name in _names(sentence):
        words = name.split(".")
        hits = _named(words, paths)
        depth = (len(words) > 1, max((len(path) for path, _ in hits), default=-1))
        if hits and depth > rank:
            best, rank = [control for _, control in hits], depth
    return best


def _named(name: list[str], paths: list[_Path]) -> list[_Path]:
    """Return the levers with exactly this path, else those whose paths end so, else those with words between them."""
    exact = [one for one in paths if one[0] == name]
    ends = [one for one in paths if one[0][-len(name) :] == name]
    return exact or ends or [one for one in paths if len(name) > 1 and _in_order(name, one[0])]


def _in_order(name: list[str], path: list[str]) -> bool:
    words = iter(path)
    return path[-1] == name[-1] and all(word in words for word in name)


def _names(sentence: str) -> list[str]:
    """Return what may be a lever's path in a sentence, also without the place in a list at its end."""
    names = _NAME.findall(sentence)
    return [*names, *(re.sub(r"\[\d+\]$", "", name) for name in names if name.endswith("]"))]
