"""One axis of a search space: the range of a lever, or the values of a category, as Optuna keeps them."""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.levers import Lever

if TYPE_CHECKING:
    import optuna


Kind = Literal["integer", "number", "power_of_two", "category"]
Plain = bool | int | float | str


class Dimension(NamedTuple):
    """One axis of a search space."""

    path: str
    """The dotted path in the study file; the name of the parameter in Optuna."""
    kind: Kind
    least: float
    """Of a power of two, the exponent, -1 for 0; of a category, 0."""
    most: float
    step: float | None
    log: bool
    values: tuple[Any, ...]
    """Of a category, what can be chosen."""
    start: Any
    """The lever's default where it lies in the range, else its low end: the value before anything was tuned."""

    def ask(self, trial: optuna.trial.BaseTrial) -> Any:
        """Return the value that a trial tries."""
        if self.kind == "category":
            return self.value(trial.suggest_categorical(self.path, self.labels))
        if self.kind == "number":
            return trial.suggest_float(self.path, self.least, self.most, step=self.step, log=self.log)
        least, most, step = int(self.least), int(self.most), int(self.step or 1)
        return self.value(trial.suggest_int(self.path, least, most, step=step, log=self.log))

    def distribution(self) -> optuna.distributions.BaseDistribution:
        """Return the axis as Optuna describes it."""
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

        if self.kind == "category":
            return CategoricalDistribution(self.labels)
        if self.kind == "number":
            return FloatDistribution(self.least, self.most, step=self.step, log=self.log)
        return IntDistribution(int(self.least), int(self.most), step=int(self.step or 1), log=self.log)

    def parameter(self, value: Any) -> Any:
        """Return the opposite of `value`: what Optuna keeps for a value of the lever."""
        if self.kind == "category":
            return self.labels[self.values.index(value)]
        return int(value).bit_length() - 1 if self.kind == "power_of_two" else value

    def value(self, parameter: Any) -> Any:
        """Return the lever's value for a parameter as Optuna keeps it: a label of a category, an exponent of two."""
        if self.kind == "category":
            return self.values[self.labels.index(parameter)]
        if self.kind == "power_of_two":
            return 2**parameter if parameter >= 0 else 0
        return parameter

    def holds(self, parameter: Any) -> bool:
        """Return whether Optuna can keep a parameter for this axis: one of another type or out of the range is none."""
        if self.kind == "category":
            return any(parameter == label and type(parameter) is type(label) for label in self.labels)
        kinds = (int, float) if self.kind == "number" else (int,)
        is_number = isinstance(parameter, kinds) and not isinstance(parameter, bool)
        return is_number and self.least <= parameter <= self.most

    @property
    def size(self) -> float:
        """Return the number of its values; infinite of a number without steps."""
        if self.kind == "category":
            return len(self.values)
        if self.kind == "number" and self.step is None:
            return 1 if self.least == self.most else math.inf
        return round((self.most - self.least) / (self.step or 1)) + 1

    def every_value(self) -> list[Any]:
        """Return every value of an axis that has finitely many."""
        if self.kind == "category":
            return list(self.values)
        steps = range(int(self.size))
        if self.kind == "number":
            low, step = Decimal(str(self.least)), Decimal(str(self.step or 1))
            return [float(low + k * step) for k in steps]
        return [self.value(int(self.least) + k * int(self.step or 1)) for k in steps]

    @property
    def labels(self) -> tuple[Plain, ...]:
        """Return the values of a category as a journal can hold them."""
        return tuple(value if isinstance(value, Plain) else str(value) for value in self.values)

    def plain(self) -> dict[str, Any]:
        """Return the axis in plain types: part of what makes a study the same study."""
        return {**self._asdict(), "values": list(self.labels), "start": str(self.start)}


def tunable(lever: Lever) -> bool:
    """Return whether a lever says by itself what can be tried: it has choices, is a switch, or has both ends of a
    range."""
    if lever.kind in _NUMERIC:
        return lever.least is not None and lever.most is not None
    return lever.kind in ("choice", "switch")


VALUES = "values"
_NARROWED_BY = ("least", "most", "step", "scale")
_NUMERIC = ("integer", "number")
ENTRY_KINDS: dict[str, Any] = {"integers": "integer", "numbers": "number"}
"""The kind of one entry, by the kind of its list."""
_NO_RANGE = "has no range to tune over; give its values, {tune: {values: [...]}}"


def dimension(lever: Lever, wish: Any, path: str, where: str = "") -> Dimension:
    """Return the axis of one lever: its whole range (`wish` is True), a narrower range, or some values.

    Values are `{values: [...]}` or a bare list. A bare list of two rising numbers is refused for a numeric lever: it
    may mean a range too.

    Raises
    ------
    InputError
        A value is not allowed for the lever, the range is empty, the lever has none, or two numbers may mean either.

    Examples
    --------
    >>> width = Lever("width", "integer", 8, least=1, most=64, scale="power_of_two")
    >>> dimension(width, True, "width")[1:4]
    ('power_of_two', 0, 6)
    >>> dimension(width, {"most": 65}, "probe.width", "a.yaml")
    Traceback (most recent call last):
    workbench.errors.InputError: a.yaml: probe.width.tune.most must be a power of two from 1 to 64. Got 65. Nearest: 64.
    """
    if isinstance(wish, (list, tuple)):
        _refuse_two_numbers(lever, wish, path, where)
        return _category(lever, wish, path, where)
    if isinstance(wish, Mapping) and VALUES in wish:
        if len(wish) > 1:
            other = next(key for key in wish if key != VALUES)
            raise InputError(at(where, f"{path}.tune.values must stand alone; it says all that is tried. Got {other}."))
        return _category(lever, wish[VALUES], path, where, f".{VALUES}")
    if isinstance(wish, Mapping):
        return _range(_narrowed(lever, wish, path, where), path, where)
    if wish is not True:
        raise wrong_value(where, f"{path}.tune", "must be true, {least: , most: }, or {values: [...]}", wish)
    if lever.kind == "switch":
        return _category(lever, (False, True), path, where)
    if lever.kind == "choice":
        return _category(lever, lever.choices, path, where)
    return _range(lever, path, where)


def _refuse_two_numbers(lever: Lever, wish: Any, path: str, where: str) -> None:
    """Refuse two rising numbers for a numeric lever, which are written for a range as often as for two values."""
    is_two = lever.kind in _NUMERIC and len(wish) == 2
    if is_two and all(isinstance(one, numbers.Real) for one in wish) and wish[0] < wish[1]:
        low, high = wish
        spellings = (
            f"{{tune: {{least: {low}, most: {high}}}}} is a range, {{tune: {{values: [{low}, {high}]}}}} is two values"
        )
        raise wrong_value(where, f"{path}.tune", f"must say what two numbers mean: {spellings}", wish)


def _category(lever: Lever, values: Any, path: str, where: str, key: str = "") -> Dimension:
    place = f"{path}.tune{key}"
    if not values or not isinstance(values, (list, tuple)):
        raise wrong_value(where, place, "must be a list of at least one value", values)
    checked = tuple(lever.check(value, f"{place}[{k}]", where) for k, value in enumerate(values))
    if len(set(checked)) != len(checked):
        raise wrong_value(where, place, "must be a list of different values", values)
    default = None if lever.required else lever.check(lever.default)
    return Dimension(path, "category", 0, 0, None, False, checked, default if default in checked else checked[0])


def _narrowed(lever: Lever, wish: Mapping[str, Any], path: str, where: str) -> Lever:
    for key in wish:
        if key not in _NARROWED_BY:
            raise unknown_name(at(where, f"{path}.tune"), "key", key, (*_NARROWED_BY, VALUES))
    if lever.kind not in _NUMERIC:
        raise InputError(at(where, f"{path} {_NO_RANGE}{_or_ends(lever)}."))
    ends = {key: lever.check(wish[key], f"{path}.tune.{key}", where) for key in ("least", "most") if key in wish}
    narrower = dataclasses.replace(lever, **ends, step=_step(lever, wish, path, where))
    if "scale" not in wish:
        return narrower
    if wish["scale"] not in ("linear", "log") or lever.scale == "power_of_two":
        raise wrong_value(where, f"{path}.tune.scale", f"must be {_scales(lever)}", wish["scale"])
    return dataclasses.replace(narrower, scale=wish["scale"])


def _scales(lever: Lever) -> str:
    return "left out, for this lever takes powers of two" if lever.scale == "power_of_two" else "linear or log"


def _step(lever: Lever, wish: Mapping[str, Any], path: str, where: str) -> Any:
    step = wish.get("step", lever.step)
    if step is None:
        return None
    is_number = isinstance(step, (int, float)) and not isinstance(step, bool)
    if not is_number or step <= 0 or (lever.kind == "integer" and step != int(step)):
        raise wrong_value(where, f"{path}.tune.step", "must be a number above 0, whole for a whole lever", step)
    return step


def _range(lever: Lever, path: str, where: str) -> Dimension:
    least, most = lever.least, lever.most
    if lever.kind not in _NUMERIC or least is None or most is None:
        raise InputError(at(where, f"{path} {_NO_RANGE}{_or_ends(lever)}."))
    if least > most:
        raise InputError(at(where, f"{path}.tune has an empty range: least is {least:g} and most is {most:g}."))
    start = lever.default if not lever.required and least <= lever.default <= most else least
    if lever.scale == "power_of_two":
        low, high = (-1 if least <= 0 else math.ceil(math.log2(least))), math.floor(math.log2(max(most, 0.5)))
        return Dimension(path, "power_of_two", low, high, None, False, (), start)
    log = lever.scale == "log" and least > 0
    step = None if log else lever.step
    kind: Kind = "integer" if lever.kind == "integer" else "number"
    return Dimension(path, kind, least, _last(least, most, step) if step else most, step, log, (), start)


def _last(least: float, most: float, step: float) -> float:
    """Return the last step of a range, computed in decimals as Optuna does: 1 // 0.1 is 9 in floats.

    >>> _last(0, 1, 0.1), _last(0, 1, 0.3), _last(3, 10, 4)
    (1.0, 0.9, 7)
    """
    low, high, each = (Decimal(str(one)) for one in (least, most, step))
    last = low + each * ((high - low) // each)
    return int(last) if isinstance(most, int) and last == int(last) and isinstance(step, int) else float(last)


def _or_ends(lever: Lever) -> str:
    if lever.kind in ENTRY_KINDS:
        return ", or tune its entries, [{tune: {least: , most: }}, ...]"
    return ", or both ends, {tune: {least: , most: }}" if lever.kind in _NUMERIC else ""
