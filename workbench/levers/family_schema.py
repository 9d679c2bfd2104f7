"""The JSON schema of a family: a number alone, a name alone, or one member's name with its levers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Protocol

from workbench.levers.lever import Lever
from workbench.parts.registry import Registry


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
