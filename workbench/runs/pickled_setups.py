"""Setups, engines and measures pickled with the user's code in them, for other processes.

Modules of the user's come along in a pickle as they are in memory: a worker could import one, but perhaps as another
file, or as the file has become since. What Numba compiles is sent as functions are: by name where its module can be
imported, else as what it was written as, and a process that interprets (`NUMBA_DISABLE_JIT=1`) gets that as its kernels
are there: plain functions. A setup is pickled once a point and opened once a worker. Engines that are not part of this
package are sent with what a notebook entered.
"""

from __future__ import annotations

import enum
import functools
import io
import os
import pickle
import socket
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import msgspec

from workbench.compiled.versions import is_compiled, name_by_digest, pickled
from workbench.engines.kit.engine import Setup
from workbench.errors import InputError, missing_extra
from workbench.identity import Snapshot, current, snapshot
from workbench.identity.owner import owner_of
from workbench.identity.value_encoders import lock_maker
from workbench.mechanisms.measured_by import measured_by
from workbench.mechanisms.mechanism import enter, is_built_in, mechanism
from workbench.mechanisms.user_measure import UserMeasure
from workbench.runs.user_code import name_of

_CACHED = type(functools.lru_cache(len))


def _cached_again(function: Any, most: int | None, typed: bool) -> Any:
    """Return a function that keeps what it returns, with nothing kept yet."""
    return functools.lru_cache(most, typed)(function)


def _of_file(name: str, make: Callable[..., CodeType], arguments: tuple[Any, ...]) -> CodeType:
    """Return code with the name of its file, which messages show; cloudpickle may leave it out."""
    return make(*arguments).replace(co_filename=name)


def pickler() -> Any:
    """Return the package that pickles code.

    Raises
    ------
    WorkbenchError
        It is not installed.
    """
    try:
        import cloudpickle
    except ImportError:
        raise missing_extra("running in other processes", "workers") from None
    return cloudpickle


def dumped(value: Any, taken: Sequence[Snapshot], named: str) -> bytes:
    """Pickle a value with the user's code in it; of a module that code reads attributes of, these attributes alone.

    Parameters
    ----------
    taken : sequence of Snapshot
        Of all code of the user's that the value refers to.
    named : str
        What an error calls the value.

    Raises
    ------
    InputError
        Something that the user's code refers to cannot be sent to another process.
    """
    cloudpickle = pickler()
    name_by_digest(helper for one in taken for helper in one.compiled)
    stream = io.BytesIO()
    with _by_value(cloudpickle, {name for one in taken for name in one.modules}):
        try:
            _pickler(cloudpickle, taken)(stream).dump(value)
        except (TypeError, pickle.PicklingError) as problem:
            raise InputError(f"{named} cannot be sent to another process: {problem}.") from None
    return stream.getvalue()


def _pickler(cloudpickle: Any, taken: Sequence[Snapshot]) -> Any:
    class Pickler(cloudpickle.Pickler):
        def reducer_override(self, value: Any) -> Any:
            if value is os.environ:
                return getattr, (os, "environ")
            if make := lock_maker(value):
                return make, ()
            if isinstance(value, _CACHED) and owner_of(value.__module__) == "user":
                parameters = value.cache_parameters()
                return _cached_again, (value.__wrapped__, parameters["maxsize"], parameters["typed"])
            if isinstance(value, CodeType):
                return _of_file, (value.co_filename, *self.dispatch_table[CodeType](value))
            if is_compiled(value):
                return pickled(value, cloudpickle.list_registry_pickle_by_value())
            if not isinstance(value, ModuleType) or not any(value.__name__ in one.modules for one in taken):
                reduced = super().reducer_override(value)
                return _with_slots(value, reduced) if isinstance(value, type) else reduced
            read = {name for one in taken for name in one.modules.get(value.__name__, ())} & vars(value).keys()
            wanted = {name for name in read if not name.startswith("__") or name == "__getattr__"}
            return ModuleType, (value.__name__,), {name: vars(value)[name] for name in wanted}

    return Pickler


def _with_slots(cls: type, reduced: Any) -> Any:
    """Return the recipe by which a class is made again, with its slots or the fields of a struct: cloudpickle leaves
    them out."""
    if not isinstance(reduced, tuple) or "__slots__" not in vars(cls) or issubclass(cls, (tuple, enum.Enum)):
        return reduced
    make, (kind, name, bases, space, *more), *rest = reduced
    if isinstance(cls, msgspec.StructMeta):
        names = dict(zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True))
        own = [name for name in names if name in vars(cls)]
        defaults = zip(reversed(names), reversed(cls.__struct_defaults__))
        values = {name: (hasattr(one, "factory"), getattr(one, "factory", one)) for name, one in defaults}
        options = {name: getattr(cls.__struct_config__, name) for name in dir(cls.__struct_config__) if name[0] != "_"}
        options |= {"rename": names, "kw_only": not {*own} <= {*cls.__match_args__}}
        fields = {name: values.get(name, (False, msgspec.NODEFAULT)) for name in own}
        kind = functools.partial(_struct, kind, fields, "__post_init__" in vars(cls), options)
    else:
        space = {**space, "__slots__": vars(cls)["__slots__"]}
    return make, (kind, name, bases, space, *more), *rest


def _struct(
    kind: Any, fields: Mapping[str, Any], checks: bool, options: Mapping[str, Any], name: str, bases: Any, space: Any
) -> Any:
    """Return a struct with fields: of each whether its default is made by a call, and the default; all else is set
    later."""
    given = {one: pair for one, pair in fields.items() if pair[1] is not msgspec.NODEFAULT}
    space |= {one: msgspec.field(default_factory=it) if called else it for one, (called, it) in given.items()}
    checked = {"__post_init__": _post_init} if checks else {}
    return kind(name, bases, {**space, **checked, "__annotations__": dict.fromkeys(fields, Any)}, **options)


def _post_init(struct: Any) -> None:
    """Call what a struct does once its fields are set, which it is given after it is made."""
    type(struct).__post_init__(struct)


@contextmanager
def _by_value(cloudpickle: Any, names: set[str]) -> Iterator[None]:
    """Send what modules of the user's define, within this context, as it is in memory."""
    before = cloudpickle.list_registry_pickle_by_value()
    new = [sys.modules[name] for name in names if name in sys.modules and name not in (*before, "__main__")]
    for module in new:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in new:
            cloudpickle.unregister_pickle_by_value(module)


KEPT = 64
"""How many pickled setups are kept at hand on either side."""


class Packer:
    """Packs setups; every class of the user's travels with its code and all that this refers to."""

    def __init__(self) -> None:
        pickler()
        self._packed: OrderedDict[str, bytes] = OrderedDict()

    def pack(self, point: str, setup: Setup) -> bytes:
        """Return a point's setup as it is pickled, once.

        Raises
        ------
        InputError
            Something that the user's code refers to cannot be sent to another process.
        """
        if point not in self._packed:
            taken, names = [current(cls) for cls, _ in setup.code], ", ".join(name_of(cls) for cls, _ in setup.code)
            self._packed[point] = dumped(setup, taken, names or setup.engine)
        self._packed.move_to_end(point)
        while len(self._packed) > KEPT:
            self._packed.popitem(last=False)
        return self._packed[point]


def opened(pickled_setup: bytes) -> Setup:
    """Return the setup that was pickled; it is opened again where a later one has changed its classes, which are the
    same ones."""
    setup: Setup = _loaded(pickled_setup)
    if any(current(cls).digest != digest for cls, digest in setup.code):
        _loaded.cache_clear()
        setup = _loaded(pickled_setup)
    return setup


_loaded = functools.lru_cache(KEPT)(pickle.loads)


class PackedEngine(NamedTuple):
    """What a worker needs to know of the engine of some runs."""

    name: str
    measured: str
    """The digests of the measures in the driver."""
    driver: tuple[str, int]
    """The machine and the number of the driver's process, which has everything already."""
    mechanism: bytes = b""
    """The mechanism pickled with its code; empty for one that every worker has."""
    user_measures: bytes = b""
    """The user's measures that are computed of the runs, pickled with their code; empty where there are none."""


def packed(engine: str, user_measures: Mapping[str, UserMeasure] | None = None) -> PackedEngine:
    """Return an engine, and measures of the user's, as they are in memory.

    Raises
    ------
    InputError
        Something that the user's engine or measures refer to cannot be sent to another process.
    """
    registered = mechanism(engine)
    measures, others = b"", b""
    if user_measures:
        functions = [snapshot(one.function) for one in user_measures.values()]
        measures = dumped(dict(user_measures), functions, f"the measures {', '.join(user_measures)}")
    if not is_built_in(engine):
        taken = [current(type(registered.engine)), current(registered.engine), snapshot(registered.measure)]
        others = dumped(registered._replace(events=_no_events), taken, f"the engine {engine}")
    return PackedEngine(engine, measured_by(registered, user_measures or {}).text, _here(), others, measures)


def is_here(engine: PackedEngine) -> bool:
    """Return whether this process is the driver itself, as with some executors that are handed in."""
    return engine.driver == _here()


def _here() -> tuple[str, int]:
    return socket.gethostname(), os.getpid()


def _no_events(record: Any) -> dict[str, Any]:
    """Stand for the event log, which is made in the driver alone."""
    return {}


_entered: dict[str, bytes] = {}
"""The mechanism of each engine that this process entered last."""


def enter_packed(engine: PackedEngine) -> dict[str, UserMeasure]:
    """Enter an engine that came from the driver, unless it is the one that is there; return the user's measures.

    Raises
    ------
    InputError
        The measures that are computed here are not those of the driver.
    """
    measures: dict[str, UserMeasure] = _loaded(engine.user_measures) if engine.user_measures else {}
    if is_here(engine):
        return measures
    if engine.mechanism and _entered.get(engine.name) != engine.mechanism:
        enter(pickle.loads(engine.mechanism))
        _entered[engine.name] = engine.mechanism
    if measured_by(mechanism(engine.name), measures, anew=True).text != engine.measured:
        raise InputError(
            f"the code of the measures of {engine.name}, or something it refers to, is not what the driver has; "
            "run the sweep again."
        )
    return measures
