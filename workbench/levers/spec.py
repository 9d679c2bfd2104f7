"""Frozen, validated values whose fields are levers; a spec reads, writes, describes and names itself.

Its levers are read from the annotations and the `lever(...)` of the class body; a mistake of the author is one
sentence.

A family is the base of several specs, of which a lever holds one, chosen by name, as `{uniform: [1, 32]}` or
`all_at_once`. It says what a member is called; its members are the classes that derive from it, in this package or in a
notebook cell. A cell that is run again replaces its earlier definition; a built-in class cannot be replaced. In the
JSON schema a member is a number alone, a name alone, or one member's name with its levers.
"""

from __future__ import annotations

import inspect
import math
import numbers
import re
import sys
import typing
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar, dataclass_transform

from workbench.errors import InputError, at, shown, unknown_name, wrong_value
from workbench.identity import current
from workbench.levers.lever import Declaration, Kind, Lever, Scale
from workbench.parts.registry import Guests, Registry

_MIXED_CASE = re.compile(r"(?<![A-Z])(NaN|KiB|MiB|GiB|TiB|S3FIFO)(?![a-z])")
"""Words of the field that are written with capitals inside."""


SCALAR_KINDS = ("integer", "number", "switch", "choice")
"""The kinds of levers that are one number each to compiled code."""


def snake_case(name: str) -> str:
    """Return the one name of a thing, as YAML and file names write it.

    >>> snake_case("NearestBoundary"), snake_case("TLBShare"), snake_case("NaNScore")
    ('nearest_boundary', 'tlb_share', 'nan_score')
    """
    name = _MIXED_CASE.sub(lambda word: word[0].capitalize(), name)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


class _Levers(dict[str, Lever]):
    """The levers of a class, in their order; they do not change once the class is complete."""

    def __identity__(self) -> tuple[Lever, ...]:
        return tuple(self.values())


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Spec:
    """A frozen, validated value whose fields are levers.

    >>> from workbench.levers import lever
    >>> class Ring(Spec):
    ...     depth: int = lever(4, least=1, most=64, unit="entries", description="how many entries the ring holds")
    >>> Ring(depth=8)
    Ring(depth=8)
    >>> Ring(depth=0)
    Traceback (most recent call last):
    workbench.errors.InputError: ring.depth must be a whole number from 1 to 64. Got 0. Nearest: 1.
    """

    levers: ClassVar[Mapping[str, Lever]] = {}
    nested: ClassVar[tuple[str, ...]] = ()
    """The levers that hold specs."""
    scalars: ClassVar[tuple[tuple[str, str], ...]] = ()
    """The name and the kind of each lever that is one number to compiled code, in the order of declaration."""
    name: ClassVar[str] = "spec"
    built_in: ClassVar[bool] = True
    """Whether the class is part of this package."""
    upper_bound: ClassVar[bool] = False
    """Whether what it does stands for a limit that real hardware cannot reach; pictures show it as one."""
    __describes__: ClassVar[Collection[str]] = ("built_in", "upper_bound", "nested", "scalars", "__describes__")
    """The attributes of the class that say nothing about what it does; each class adds its own."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = declared_levers(cls, Spec)
        inherited = [getattr(base, "levers", {}) for base in reversed(cls.__bases__)]
        cls.levers = _Levers({name: lv for levers in (*inherited, own) for name, lv in levers.items()})
        cls.nested = tuple(name for name, declared in cls.levers.items() if declared.kind in ("spec", "specs"))
        cls.scalars = tuple((name, one.kind) for name, one in cls.levers.items() if one.kind in SCALAR_KINDS)
        cls.name = snake_case(cls.__name__)
        cls.built_in = cls.__module__.startswith("workbench.")

    def __init__(self, **values: Any) -> None:
        for name in values:
            if name not in self.levers:
                raise unknown_name("", f"lever of {self.name}", name, self.levers)
        for name, declared in self.levers.items():
            value = values.get(name, declared.default)
            if name not in values and declared.required:
                raise InputError(f"{self.name} needs {name} ({declared.description}).")
            object.__setattr__(self, name, declared.check(value, f"{self.name}.{name}"))
        self.check()

    def check(self) -> None:
        """Refuse combinations of levers that do not go together; a single lever is checked by its declaration.

        A sentence that begins with the spec's name (`ring.depth must ...`) is shown with the path in the sweep file.
        """

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{self.name} is frozen; make another with {self.name}.but({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{self.name} is frozen; {name} cannot be taken away")

    def but(self, **values: Any) -> Self:
        """Return the same with some levers changed."""
        return type(self)(**{**self.values(), **values})

    def values(self) -> dict[str, Any]:
        """Return every lever with its value."""
        return {name: getattr(self, name) for name in self.levers}

    def plain(self) -> dict[str, Any]:
        """Return every lever with its value in plain types, defaults included; read again, it gives the same spec."""
        return {name: self.levers[name].plain(value) for name, value in self.values().items()}

    def identity(self) -> dict[str, Any]:
        """Return the settings that determine the behavior, in plain types: part of every run id.

        The name, every lever, and the digest of the code as it is in memory now, nested specs included; the package's
        own code as it was when the latest plan was made.

        Raises
        ------
        InputError
            The code refers to something that has no digest, such as an open file; the sentence names it.
        """
        inside = {n: self._identity_of(n, v) for n, v in self.values().items()}
        return {self.name: inside, "code": current(type(self)).digest}

    def __identity__(self) -> dict[str, Any]:
        """Return the data for a digest of code that refers to this spec."""
        return identity_of(self)

    def _identity_of(self, name: str, value: Any) -> Any:
        if self.levers[name].kind == "specs":
            return [identity_of(item) for item in value]
        return identity_of(value) if isinstance(value, Spec) else self.levers[name].plain(value)

    def short(self, always: Collection[str] = ()) -> str:
        """Return the name and the levers that differ from their defaults (or are `always` shown), for figures and
        tables."""
        changed = {n: v for n, v in self.values().items() if n in always or v != self.levers[n].default}
        inside = ", ".join(f"{n}={self.levers[n].shortly(v)}" for n, v in changed.items())
        return f"{self.name}({inside})" if inside else self.name

    def numbers(self) -> list[float]:
        """Return the scalar levers in the order of declaration, as compiled code sees them."""
        return [*self._scalar_numbers]

    @cached_property
    def _scalar_numbers(self) -> tuple[float, ...]:
        """Return the same, computed once: every run of a setup asks for them."""
        return tuple(self.levers[name].number(getattr(self, name)) for name, _ in self.scalars)

    @classmethod
    def read(cls, given: object, path: str = "", where: str = "") -> Self:
        """Read the spec that a sweep file describes; a class that can be written in more ways than one overrides
        this."""
        return read_spec(cls, given, path, where)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of the levers."""
        required = [n for n, lv in cls.levers.items() if lv.required]
        shape: dict[str, Any] = {"type": "object", "additionalProperties": False}
        shape["properties"] = {n: lv.schema() for n, lv in cls.levers.items()}
        return {**shape, "required": required} if required else shape

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self._given == other._given)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _given(self) -> tuple[Any, ...]:
        """Return the values of the levers, taken once: what is remembered of a machine is asked for by every run."""
        return tuple(self.values().values())

    @cached_property
    def _hash(self) -> int:
        return hash((type(self), self._given))

    @cached_property
    def is_of_the_package(self) -> bool:
        """Return whether its class and those of all specs within it are part of this package."""
        return self.built_in and all(spec.is_of_the_package for spec in self._inside())

    @cached_property
    def is_upper_bound(self) -> bool:
        """Return whether it, or a spec within it, is an upper bound."""
        return self.upper_bound or any(spec.is_upper_bound for spec in self._inside())

    def _inside(self) -> Iterator[Spec]:
        for value in (getattr(self, name) for name in self.nested):
            yield from value if isinstance(value, tuple) else (value,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in self.values().items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        _check_state(self)
        return _rebuilt, (type(self), self.values())


def _rebuilt(cls: type[Spec], values: dict[str, Any]) -> Spec:
    """Return a spec by its levers, whatever an `__init__` of its class takes."""
    spec = cls.__new__(cls)
    Spec.__init__(spec, **values)
    return spec


def identity_of(spec: Spec) -> dict[str, Any]:
    """Return the part of a run id for a spec: what its `identity` says, and the digest of its code whatever that says.

    Parameters
    ----------
    spec : Spec
        A machine, a workload, a policy or options; its class may have an `identity` of its own.

    Raises
    ------
    InputError
        The code refers to something that has no digest; or the spec holds a value that is no lever, such as one that
        its own `__init__` sets: no id would tell two of them apart, and no other process would have it.
    """
    _check_state(spec)
    return {**spec.identity(), "code": current(type(spec)).digest}


def _check_state(spec: Spec) -> None:
    """Refuse values other than the levers, such as an `__init__` of the user's sets."""
    for name, value in vars(spec).items():
        if name not in spec.levers and not isinstance(getattr(type(spec), name, None), cached_property):
            raise InputError(
                f"{spec.name}.{name} is set outside of the levers, so runs cannot tell two values of it apart: declare "
                f"it in the class, `{name}: {type(value).__name__} = lever(...)`, and give it by name."
            )


def code_of(*specs: Spec) -> tuple[str, ...]:
    """Return the digests of the code of specs and of all specs within them.

    What is remembered of what specs computed is kept by these too: an edited class is equal to what it was.
    """
    return tuple(digest for spec in specs for digest in _code(spec))


def _code(spec: Spec) -> Iterator[str]:
    yield current(type(spec)).digest
    for name in spec.nested:
        value = getattr(spec, name)
        for one in value if isinstance(value, tuple) else (value,):
            yield from _code(one)


_S = TypeVar("_S", bound=Spec)


def read_spec(cls: type[_S], given: object, path: str = "", where: str = "") -> _S:
    """Build a spec from what a sweep file says: a mapping of its levers, `{name: levers}`, or the spec as it is.

    Raises
    ------
    InputError
        A key is unknown or a value is not allowed; the sentence holds the path of the offending key.
    """
    if isinstance(given, cls):
        return given
    if not isinstance(given, Mapping):
        raise wrong_value(where, path or cls.name, f"must be a mapping of {', '.join(cls.levers) or 'nothing'}", given)
    if list(given) == [cls.name] and cls.name not in cls.levers:
        return read_spec(cls, given[cls.name], f"{path}.{cls.name}" if path else cls.name, where)
    for key in given:
        if key not in cls.levers:
            raise unknown_name(at(where, path), "key", key, cls.levers)
    return rooted(cls, given, path, where)


def rooted(cls: type[_S], levers: Mapping[str, Any], path: str, where: str) -> _S:
    """Build a spec; what is refused names the path in the file instead of the spec's own name."""
    try:
        return cls(**levers)
    except InputError as wrong:
        text = str(wrong)
        own = re.match(rf"{re.escape(cls.name)}(?=[\s.:\[])", text)
        sentence = text if not path else path + text[own.end() :] if own else f"{path}: {text}"
        raise InputError(at(where, sentence)) from None


_PLAIN_KINDS: dict[Any, Kind] = {
    int: "integer",
    float: "number",
    bool: "switch",
    str: "text",
    tuple[int, ...]: "integers",
    tuple[float, ...]: "numbers",
}


def declared_levers(cls: type, base: type) -> dict[str, Lever]:
    """Return the levers that a class body declares, in order; the class keeps none of the declarations as
    attributes."""
    found = {name: value for name, value in vars(cls).items() if isinstance(value, Declaration)}
    return {name: _lever(cls, base, name, declared) for name, declared in found.items()}


def _lever(cls: type, base: type, name: str, declared: Declaration) -> Lever:
    if hasattr(base, name) or callable(getattr(super(cls, cls), name, None)):
        raise InputError(f"{cls.__name__}.{name} cannot be a lever: its class has another {name}; choose another name.")
    delattr(cls, name)
    kind, extra = _kind(cls, base, name)
    _check_numbers(f"{cls.__name__}.{name}", declared)
    least, most = declared["least"], declared["most"]
    if least is not None and most is not None and least > most:
        raise InputError(f"{cls.__name__}.{name} has an empty range: least is {least} and most is {most}.")
    return Lever(name, kind, **declared, **extra)


def _check_numbers(name: str, declared: Declaration) -> None:
    """Refuse an end of a range or a step that is no number, and a scale that there is not."""
    for part in ("least", "most", "step"):
        value = declared[part]
        whole = value is None or (isinstance(value, numbers.Real) and not isinstance(value, bool))
        if not whole or (value is not None and not math.isfinite(value)):
            raise InputError(f"{name} is declared with {part}={shown(value)}; {part} must be a number.")
    if declared["scale"] not in typing.get_args(Scale):
        raise unknown_name(name, "scale", declared["scale"], typing.get_args(Scale))


def _kind(cls: type, base: type, name: str) -> tuple[Kind, dict[str, Any]]:
    annotation = _annotation(cls, name)
    if typing.get_origin(annotation) is Literal:
        return "choice", {"choices": typing.get_args(annotation)}
    if isinstance(annotation, type) and issubclass(annotation, base):
        return "spec", {"spec": annotation}
    if annotation in _PLAIN_KINDS:
        return _PLAIN_KINDS[annotation], {}
    inside = typing.get_args(annotation)
    if typing.get_origin(annotation) is tuple and isinstance(inside[0], type) and issubclass(inside[0], base):
        return "specs", {"spec": inside[0]}
    known = "int, float, bool, str, Literal[...], tuple[int, ...], tuple[float, ...], a Spec or tuple[Spec, ...]"
    raise InputError(f"{cls.__name__}.{name} must be annotated with {known}. Got {annotation!r}.")


def _annotation(cls: type, name: str) -> Any:
    annotation = inspect.get_annotations(cls).get(name)
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, vars(sys.modules[cls.__module__]), dict(vars(cls)))
    except NameError as unknown:
        raise InputError(f"{cls.__name__}.{name} is annotated with {annotation}, but {unknown}.") from None


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
            guests = (
                Guests[Any](kind, lambda value: isinstance(value, type) and issubclass(value, cls)) if kind else None
            )
            cls.members = Registry(kind or noun, noun, named_by="class name", guests=guests)
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
    members = [member for name, member in cls.members.all().items() if name not in without]
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
