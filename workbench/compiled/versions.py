"""The compiled forms of answers: one for every state of what it refers to.

Numba takes the globals, closure cells and helpers of a function as they are when it compiles it. So an answer is asked
for its digest whenever a run begins, and compiled again when that is another.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from numba.core import event
from numba.core.caching import NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target
from numba.np.ufunc.ufuncbuilder import UFuncDispatcher

from workbench.compiled.kernel import INTERPRETED
from workbench.errors import PolicyError
from workbench.identity import Snapshot, current, digest_of, look, still, tell_of_snapshots
from workbench.identity.owner import owner_of
from workbench.parts.user_files import executed_within

Compiled = tuple[int, Any]
"""An address, and what keeps the code there alive."""


class Versions:
    """The compiled forms of all answers to a question, by their digests."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Hashable], Compiled] = {}

    def known(self, answer: Callable[..., int], way: Hashable) -> int | None:
        """Return the address of an answer as it is now, None if it was never compiled so."""
        compiled = self._known.get((current(answer).digest, way))
        return None if compiled is None else compiled[0]

    def now(self, answer: Callable[..., int], way: Hashable, compiled: Callable[[str], Compiled]) -> int:
        """Return the address of an answer as it is now, compiled if it never was so.

        Parameters
        ----------
        way : hashable
            Which of several ways to compile is meant.
        compiled : function
            Compiles the answer, told its digest.

        Raises
        ------
        PolicyError
            It does not compile, or something that it refers to changes meanwhile.
        """
        taken = current(answer)
        key = taken.digest, way
        if key not in self._known:
            freshen(taken)
            version = compiled(taken.digest)
            if changed := taken.changed():
                raise PolicyError(f"{answer.__qualname__}: {changed} changed while it was compiled.")
            self._known[key] = version
        return self._known[key][0]


class _Trusted(NamedTuple):
    """What a user's compiled helper is known to have been compiled from."""

    taken: Snapshot
    """Of the helper, as it was then."""
    forms: frozenset[Any]
    """The arguments of the forms that were compiled from it."""
    declared: Mapping[Any, Any]
    """Of fixed signatures, those that declare what is returned, by their arguments."""


_trusted: WeakKeyDictionary[Any, _Trusted] = WeakKeyDictionary()
_asked: WeakKeyDictionary[Any, Snapshot] = WeakKeyDictionary()
"""Of each function that says what Numba compiles in place of another one, what it was when it was last asked."""


def _helpers(taken: Snapshot) -> Iterator[Any]:
    """Yield the compiled functions that a snapshot passed, and those that Numba has made of functions that it passed.

    `register_jitable` and `overload` make some behind the scenes.
    """
    yield from (helper for helper in taken.compiled if hasattr(helper, "_reset_overloads"))
    for template in _templates(taken):
        made = [made for made, _ in template._impl_cache.values() if made is not None]
        yield from (helper for helper in made if hasattr(helper, "_reset_overloads"))


def _templates(taken: Snapshot) -> Iterator[Any]:
    """Yield the holders of the forms that Numba has made of functions that a snapshot passed."""
    for function in taken.functions:
        known = cpu_target.typing_context._lookup_global(function)
        yield from (one for one in getattr(known, "templates", ()) if hasattr(one, "_overload_func"))


def freshen(taken: Snapshot) -> bool:
    """Let the user's compiled helpers that a snapshot passed be compiled again, unless they are of what they are now.

    Python calls them too, in a policy's `parameters` for one, and then nothing else asks what they were compiled from.
    Returns whether fixed signatures were compiled, which may return another type now.

    Raises
    ------
    PolicyError
        Something that Numba compiles once for all (`vectorize`, `stencil`, `jitclass`) is another than it was.
    """
    _refuse_changed(taken)
    for template in _templates(taken):
        if not still(_asked, template._overload_func):
            template._impl_cache.clear()
    stale = [helper for helper in dict.fromkeys(_helpers(taken)) if not _is_trusted(helper)]
    if stale:
        with global_compiler_lock:
            _forget(stale)
    return not all(helper._can_compile for helper in stale)


tell_of_snapshots(freshen)


def _refuse_changed(taken: Snapshot) -> None:
    """Refuse what keeps forms that nothing can take from it, such as ufuncs, once it is another than it was."""
    for helper in taken.compiled:
        if not hasattr(helper, "_reset_overloads"):
            before = _once.setdefault(helper, look(helper))
            if before.changed() and before.digest != look(helper).digest:
                name = _name(helper)
                raise PolicyError(
                    f"{name} was compiled once for all by Numba ({_decorator(helper)}), and something that it "
                    "refers to has changed since: define it again."
                )


def _name(helper: Any) -> str:
    names = (getattr(helper, name, None) for name in ("__name__", "class_name"))
    return str(next(filter(None, names), None) or helper.kernel_ir.func_id.func_name)


def _decorator(helper: Any) -> str:
    return _DECORATORS.get(type(helper).__name__, type(helper).__name__)


_DECORATORS = {
    "CFunc": "cfunc",
    "DUFunc": "vectorize",
    "GUFunc": "guvectorize",
    "ClassType": "jitclass",
    "StencilFunc": "stencil",
}
_once: WeakKeyDictionary[Any, Snapshot] = WeakKeyDictionary()
"""Of each thing that Numba compiles once for all, what it was when it was first met."""


def _forget(stale: Sequence[Any]) -> None:
    """Forget the compiled forms of helpers; fixed signatures are compiled at once, as helpers may call one another."""
    before = [(helper, dict(helper.overloads), helper._can_compile) for helper in stale]
    for helper in stale:
        _clear(helper)
    for helper, forms, open_ended in before:
        known = _trusted.get(helper)
        declared = {} if open_ended else known.declared if known else _declared(helper, forms)
        for arguments in () if open_ended else forms:
            helper.compile(declared.get(arguments, arguments))
        helper._can_compile = open_ended
        _trusted[helper] = _Trusted(look(helper), frozenset(helper.overloads), declared)


def _clear(helper: Any) -> None:
    # As Numba does when a dispatcher dies: its compiled forms leave the tables of the target.
    helper._make_finalizer()()
    helper._reset_overloads()
    helper._cache = NullCache()
    helper._can_compile = True


def _declared(helper: Any, forms: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return the fixed signatures that declare their result: those that otherwise return another type.

    Numba does not keep which ones do, and one that does not is to return what follows from the values of now.
    """
    for arguments in forms:
        helper.compile(arguments)
    inferred = {arguments: form.signature.return_type for arguments, form in helper.overloads.items()}
    declared = {a: form.signature for a, form in forms.items() if form.signature.return_type != inferred[a]}
    if declared:
        _clear(helper)
    return declared


def _is_trusted(helper: Any) -> bool:
    known = _trusted.get(helper)
    if known is None or not known.forms.issuperset(helper.overloads):
        return False
    return not known.taken.changed() or known.taken.digest == look(helper).digest


class _Trust(event.Listener):
    """Trusts what is compiled while a helper is what it was when it was last looked at."""

    def on_start(self, event: Any) -> None:
        """Do nothing: what counts is what it was compiled from in the end."""

    def on_end(self, event: Any) -> None:
        helper = event.data["dispatcher"]
        known = _trusted.get(helper) if hasattr(helper, "_reset_overloads") else None
        if known is not None and not known.taken.changed():
            _trusted[helper] = known._replace(forms=known.forms | {tuple(event.data["args"])})


event.register("numba:compile", _Trust())


def name_by_digest(helpers: Iterable[Any]) -> None:
    """Let a user's compiled helpers travel under the names of their digests.

    Numba lets a process that has met a helper before take the former one in its place, by a name that stays the same
    whatever becomes of the globals that the helper reads.
    """
    for helper in helpers:
        if hasattr(helper, "_set_uuid"):
            helper._MemoMixin__uuid = None
            helper._set_uuid(digest_of(helper))


def is_compiled(value: object) -> bool:
    """Return whether a value is a function that Numba compiles."""
    return isinstance(value, Dispatcher)


def pickled(value: Any, sent: Collection[str]) -> tuple[Any, tuple[Any, ...]]:
    """Return the pickled form of a compiled function: its module and name, or its parts where the module is sent
    itself."""
    home, name = value.__module__, value.__name__
    if home in ("__main__", *sent) or getattr(sys.modules.get(home), name, None) is not value:
        return _made_here, (type(value), value._reduce_states())
    return getattr, (sys.modules[home], name)


def _made_here(kind: Any, states: dict[str, Any]) -> Any:
    """Return a compiled function as this process has them: where nothing is compiled, the one that was written."""
    return states["py_func"] if INTERPRETED else kind._rebuild(**states)


@contextmanager
def users_cache_off() -> Iterator[None]:
    """Keep no machine code of the user's own functions on disk within this, nor read any.

    Numba knows an edit of the file that a function stands in, not of what the function refers to: what a file computes
    while it is executed would be of the code of before.
    """
    kinds: list[tuple[Any, Any]] = [(kind, kind.enable_caching) for kind in (Dispatcher, UFuncDispatcher)]
    for kind, enable in kinds:
        kind.enable_caching = _unless_users(enable)
    try:
        yield
    finally:
        for kind, enable in kinds:
            kind.enable_caching = enable


def _unless_users(enable: Callable[[Any], None]) -> Callable[[Any], None]:
    return lambda self: None if owner_of(self.py_func.__module__) == "user" else enable(self)


executed_within.append(users_cache_off)
