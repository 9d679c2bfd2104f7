"""Families: levers that hold one of several specs, chosen by name, as `{uniform: [1, 32]}` or `all_at_once`.

The base of a family says what a member is called; its members are the classes that derive from it, in this package or
in a notebook cell. A cell that is run again replaces its earlier definition, and nobody replaces a built-in one. In the
JSON schema a member is a number alone, a name alone, or one member's name with its levers.
"""

from __future__ import annotations

import numbers
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Protocol, Self

from workbench.errors import at, wrong_value
from workbench.levers.lever import Lever
from workbench.levers.spec import Spec, read_spec, rooted
from workbench.parts.registry import Registry


class Family(Spec):
    """The base of every family's base.

    >>> from workbench.levers import lever
    >>> class Colour(Family, noun="colour", example="{grey: 0.5}"):
    ...     pass
    >>> class Grey(Colour):
    ...     brief = ("light",)
    ...     light: float = lever(0.5, least=0, most=1, description="0 is black, 1 is white")
    >>> Colour.read({"grey": 0.25}), Colour.read("grey")
    (Grey(light=0.25), Grey(light=0.5))
    >>> Colour.read({"gray": 0.25}, "paper.colour", "a.yaml")
    Traceback (most recent call last):
    workbench.errors.InputError: a.yaml: paper.colour: unknown colour 'gray'; there are grey. Did you mean grey?
    """

    noun: ClassVar[str] = ""
    """What a member is called in messages."""
    example: ClassVar[str] = ""
    """How one is written."""
    bare: ClassVar[str] = ""
    """The member that a number alone stands for; none if empty."""
    members: ClassVar[Registry[Any]] = Registry("family")
    """Every member's class, by name."""
    brief: ClassVar[tuple[str, ...]] = ()
    """The levers that may be written without their names: one as a value alone, several as a list."""
    __describes__: ClassVar[tuple[str, ...]] = ("noun", "example", "bare", "members", "brief")

    def __init_subclass__(
        cls, noun: str = "", example: str = "", bare: str = "", kind: str = "", **kwargs: Any
    ) -> None:
        super().__init_subclass__(**kwargs)
        if noun:
            cls.noun, cls.example, cls.bare = noun, example, bare
            cls.members = Registry(kind or noun, noun, named_by="class name")
        else:
            cls.members.joined(cls)

    @classmethod
    def read(cls, given: object, path: str = "", where: str = "") -> Self:
        """Read the member that a sweep file names, with its levers.

        Raises
        ------
        InputError
            The name or a lever is unknown, or a value is not allowed; the sentence holds the path.
        """
        if isinstance(given, cls):
            return given
        if cls.name in cls.members:
            return _read_member(cls, given, path or cls.name, where)
        path = path or cls.noun
        if isinstance(given, type) and issubclass(given, cls):
            return _read_member(given, {}, f"{path}.{given.name}", where)
        if cls.bare and isinstance(given, numbers.Real) and not isinstance(given, bool):
            return _read_member(cls.members[cls.bare], given, path, where)
        name, levers = _name_and_levers(cls, given, path, where)
        return _read_member(cls.members.find(name, at(where, path)), levers, f"{path}.{name}", where)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of what `read` takes."""
        if cls.name not in cls.members:
            return family_schema(cls)
        return {"anyOf": [*brief_schemas(cls), super().schema()]} if cls.brief else super().schema()


def _name_and_levers(cls: type[Family], given: object, path: str, where: str) -> tuple[str, object]:
    if isinstance(given, str):
        return given, {}
    if isinstance(given, Mapping) and len(given) == 1:
        ((name, levers),) = given.items()
        return str(name), {} if levers is None else levers
    raise wrong_value(where, path, f"must name one {cls.noun}, such as {cls.example}", given)


def _read_member(cls: type[Any], given: object, path: str, where: str) -> Any:
    if isinstance(given, Mapping) and list(given) == [cls.name] and cls.name not in cls.levers:
        return _read_member(cls, {} if given[cls.name] is None else given[cls.name], f"{path}.{cls.name}", where)
    if isinstance(given, Mapping) or not cls.brief:
        return read_spec(cls, given, path, where)
    return rooted(cls, _read_brief(cls, given, path, where), path, where)


def _read_brief(cls: type[Family], given: Any, path: str, where: str) -> dict[str, Any]:
    briefly = [cls.levers[name] for name in cls.brief]
    if len(briefly) == 1:
        return {briefly[0].name: briefly[0].check(given, path, where)}
    if not isinstance(given, (list, tuple)) or len(given) != len(briefly):
        names = f"{', '.join(cls.brief)}"
        raise wrong_value(where, path, f"must be a list of {names} or a mapping of {', '.join(cls.levers)}", given)
    return {lv.name: lv.check(item, f"{path}[{k}]", where) for k, (lv, item) in enumerate(zip(briefly, given))}


class _Member(Protocol):
    """The class of a member of a family."""

    levers: ClassVar[Mapping[str, Lever]]
    brief: ClassVar[tuple[str, ...]]


class _Family(Protocol):
    """The class of a family's base."""

    members: ClassVar[Registry[Any]]
    bare: ClassVar[str]


def family_schema(cls: type[_Family], without: Collection[str] = ()) -> dict[str, Any]:
    """Return one alternative a member, and the short forms that a family allows.

    A member that holds a member of its own family describes that one `without` its own name, or there would be no end.
    """
    members = [member for name, member in cls.members.items() if name not in without]
    alone = [member.name for member in members if not any(lv.required for lv in member.levers.values())]
    bare = brief_schemas(cls.members[cls.bare]) if cls.bare else []
    return {"anyOf": [*bare, {"enum": sorted(alone)}, *(_named(member) for member in members)]}


def brief_schemas(cls: type[_Member]) -> list[dict[str, Any]]:
    """Return the form of a member without the names of its levers; none where there is no such form."""
    shapes = [_undescribed(cls.levers[name].schema()) for name in cls.brief]
    if len(shapes) < 2:
        return shapes
    items = shapes[0] if all(shape == shapes[0] for shape in shapes) else {"anyOf": shapes}
    return [{"type": "array", "items": items, "minItems": len(shapes), "maxItems": len(shapes)}]


def _undescribed(shape: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in shape.items() if key not in ("description", "default")}


def _named(member: Any) -> dict[str, Any]:
    says = (member.__doc__ or "").strip().partition("\n")[0]
    levers = {**member.schema(), "description": says}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [member.name],
        "properties": {member.name: levers},
    }
