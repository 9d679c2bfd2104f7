"""`kernel`: a plain function over arrays and numbers, compiled once and kept on disk, and how its calls are compiled.

With `NUMBA_DISABLE_JIT=1` every kernel stays the Python function that it was written as: for debugging, for line
coverage, and as the reference that compiled results are compared with.

- Never inlined: Numba hands LLVM a function together with all that it calls, and LLVM copies what is called in one
  place only into its caller. Of the path of an access through a translation hierarchy, some sixty functions, it thus
  made one function that took two minutes to optimize. Not inlined it takes a sixth of that, and a call costs a
  nanosecond.
- Called by symbol: where a callee may not be copied nothing is gained by optimizing it again at each level above. A
  caller's machine code needs the callee's symbol alone, which the machine's linker resolves. A function that comes from
  the cache on disk says which others it calls so, and they are loaded before it.
- Not filled with zeros: Numba fills every place on the stack with zeros on entry. A call has two, one for its result
  and one for what it raises, both of which the callee writes before they are read. The routine of the engine
  `translation` that handles an event wrote 35 zeros each time, a quarter of what an event took.
- SciPy's linear algebra is imported when compiled code calls it. Numba would ask at its first compilation whether there
  is a BLAS, by importing SciPy's. That takes a quarter of a second in every process, though no kernel of this package
  calls it. Until somebody reads an attribute of that module, a stand-in takes its place.

Compiled code is kept in one folder a module, named after a digest of all sources that can be in it. Numba notices an
edit of the file that holds a function, not of a file that the function calls. So the digest is of the module and of all
that it imports, directly or not: whatever a compiled function takes in, it takes by a name that its module has from
there. An edit of a measure compiles no engine, one in the pool's engine compiles the pool and the node, and an engine
never runs yesterday's code. Numba's own locators name the folder after the absolute path of the source, so that a
second clone with equal sources would compile everything again.

Which functions are compiled is reported once anything of this package is imported; what comes from the cache is not.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import llvmlite.binding as llvm
import numba
from llvmlite.ir.instructions import AllocaInstr, CallInstr, StoreInstr
from numba import types
from numba.core import caching, event
from numba.core.caching import IndexDataCacheFile, UserProvidedCacheLocator
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, FunctionPass, register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import AnnotateTypes, BaseNativeLowering, NativeLowering
from numba.core.untyped_passes import IRProcessing
from numba.extending import intrinsic

from workbench.compiled.answer_compiler import AnswerCompiler, call_first
from workbench.files import cache_home
from workbench.process import COMPILING, Compiling

_BLAS = "scipy.linalg.cython_blas"


class _Later(ModuleType):
    """Stands for the module until an attribute of it is read."""

    def __getattr__(self, name: str) -> Any:
        # The import below would find the stand-in again.
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def import_blas_later() -> None:
    """Let the stand-in take its place, unless the module itself is there."""
    sys.modules.setdefault(_BLAS, _Later(_BLAS))


import_blas_later()
_config: Any = numba.config
_caching: Any = caching
INTERPRETED = bool(_config.DISABLE_JIT)
"""True when kernels run as plain Python."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel(function: _Function) -> _Function:
    """Compile a function that allocates nothing: inlined where it is called, without reference counting.

    Reference counts on the arrays of a run's state cost more than the simulation itself: without them the loop of the
    engine `shared_memory` does 27 instead of 0.5 million events a second.
    """
    keep = may_be_kept(function.__module__)
    options: dict[str, Any] = {"pipeline_class": KernelCompiler}
    return _of_kinds(_compiled(function, _nrt=False, forceinline=True, error_model="numpy", cache=keep, **options))


def _of_kinds(machine: Any) -> Any:
    """Let compiled code call a function by the kinds of its arguments alone, whatever constants they are.

    Numba compiles one once more for every constant that it is called with. Copied into its callers it is the same code
    without that.
    """
    if not INTERPRETED:
        template = machine.get_call_template
        machine.get_call_template = lambda arguments, named: template(tuple(map(types.unliteral, arguments)), named)
    return machine


def inlined(function: _Function) -> _Function:
    """Compile a function as a part of its callers alone: copied into them before types are inferred.

    A kernel has machine code of its own besides the copies in its callers, with all that it calls. Of long functions
    that are called in one or two places, one inside the other, that was half of what an engine's compiling took.
    """
    options: dict[str, Any] = {"pipeline_class": KeepingCompiler, "inline": "always"}
    return _compiled(function, _nrt=False, error_model="numpy", cache=may_be_kept(function.__module__), **options)


def routine(function: _Function) -> _Function:
    """Compile a function that allocates nothing and is called, not inlined: for large ones over lent tuples.

    What is inlined is optimized once more at every level above it.
    """
    options: dict[str, Any] = {"pipeline_class": KernelCompiler}
    return _compiled(function, _nrt=False, error_model="numpy", cache=may_be_kept(function.__module__), **options)


def noinline(function: _Function) -> _Function:
    """Compile a function that allocates nothing and is never copied into its callers: for those of deep calls.

    One with a lent tuple is called from compiled code alone.
    """
    return _never_copied(function, NoInlineCompiler)


def entry_point(function: _Function) -> _Function:
    """Compile a function over a lent tuple that is never copied, and that Python calls as well (`bound`)."""
    return _never_copied(function, EntryPointCompiler)


def _never_copied(function: _Function, pipeline: type) -> _Function:
    keep = may_be_kept(function.__module__)
    options: dict[str, Any] = {"_nrt": False, "forceinline": False, "pipeline_class": pipeline}
    return _compiled(function, error_model="numpy", cache=keep, **options)


def allocating(function: _Function) -> _Function:
    """Compile a function that creates arrays."""
    options: dict[str, Any] = {"pipeline_class": KeepingCompiler}
    return _compiled(function, error_model="numpy", cache=may_be_kept(function.__module__), **options)


def compiled_answer(function: _Function, signature: Any, built_in: bool, checked: bool, digest: str) -> Any:
    """Compile an answer for one signature now.

    A built-in one is kept on disk by its digest and counts no references (12 instead of 19 ns for nearest boundary over
    two words), so it creates no arrays; a user's raises on a division by zero and has its loops metered. `checked`
    tests every array index.
    """
    options: dict[str, Any] = {
        "part": os.path.join("answers", digest),
        "boundscheck": checked,
        "error_model": "python",
        "cache": built_in and not checked,
    }
    options["_nrt"] = not built_in
    options["pipeline_class"] = KeepingCompiler if built_in else AnswerCompiler
    return _compiled(function, signature, **options)


class PackageCacheLocator(UserProvidedCacheLocator):
    """Puts a function into the folder that Numba's setting names while it is defined, wherever the clone lies.

    The index stores a digest of the file's contents, as Numba's own locators do.
    """

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = _config.CACHE_DIR


LOCATOR = f"{__name__}.{PackageCacheLocator.__name__}"
"""The locator by name, as Numba's setting takes it."""


def _compiled(function: _Function, *signature: Any, part: str = "", **options: Any) -> Any:
    # Without the entry that C would call it by, which no caller uses: a twentieth of the time that compiling takes.
    options |= {"nogil": True, "no_cfunc_wrapper": True}
    # Numba takes these from its modules `config` and `caching`, not as arguments, when it defines a function.
    theirs = _config.CACHE_DIR, _config.CACHE_LOCATOR_CLASSES, _caching.IndexDataCacheFile
    if options["cache"]:
        folder = os.path.join(cache_folder(function.__module__), part)
        _config.CACHE_DIR, _config.CACHE_LOCATOR_CLASSES, _caching.IndexDataCacheFile = folder, LOCATOR, KeptIndex
    try:
        return numba.njit(*signature, **options)(function)
    finally:
        _config.CACHE_DIR, _config.CACHE_LOCATOR_CLASSES, _caching.IndexDataCacheFile = theirs


@intrinsic
def _forbid_inlining(typing_context):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), code


@register_pass(mutates_CFG=False, analysis_only=False)
class _NoInline(FunctionPass):
    _name = "no_inline"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        blocks = state.func_ir.blocks
        call_first(state.func_ir, blocks[min(blocks)], _forbid_inlining)
        return True


class NoInlineCompiler(CompilerBase):
    """The passes of kernels, and the attribute that forbids copies."""

    by_symbol = True
    within_compiled_code = True

    def define_pipelines(self) -> list[Any]:
        passes = passes_of_kernels(self.state)
        passes.add_pass_after(_NoInline, IRProcessing)
        passes.finalize()
        return [passes]


_RAISED = "excinfo"
"""What Numba calls the place for what a callee raises; it is the second argument, behind the place for the result."""


def leave_unfilled(function: Any) -> None:
    """Take the stores of zeros to the places of calls out of a function's first block, which stand there alone."""
    places = {id(place) for place in _places(function)}
    first = function.entry_basic_block
    first.instructions = [
        one for one in first.instructions if not (isinstance(one, StoreInstr) and id(one.operands[1]) in places)
    ]


def _places(function: Any) -> Iterator[Any]:
    """Yield the places for the result and the exception of every call of a compiled function."""
    for block in function.blocks:
        for one in block.instructions:
            if isinstance(one, CallInstr) and len(one.args) > 1:
                result, raised = one.args[:2]
                if isinstance(raised, AllocaInstr) and raised.name.startswith(_RAISED):
                    yield from (result, raised)


class _Lower(Lower):
    """Numba's own; places of calls are left as they are, and what is never copied is called by its symbol."""

    def _lower_call_normal(self, fnty: Any, expr: Any, signature: Any) -> Any:
        result = super()._lower_call_normal(fnty, expr, signature)
        theirs = called_by_symbol(fnty, signature)
        if theirs is not None:
            # Numba has just listed the callee's code to be linked in; a call by symbol does without it.
            self.library._linking_libraries.remove(theirs)
        return result

    def post_lower(self) -> None:
        super().post_lower()
        leave_unfilled(self.function)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(BaseNativeLowering):
    _name: Any = "lowering_of_kernels"

    def run_pass(self, state: Any) -> bool:
        """Compile a function, without what Python would call it by where it never does: it has no references."""
        within = state.flags.forceinline or getattr(state.pipeline, "within_compiled_code", False)
        if within and any(getattr(kind, "is_lent", False) for kind in state.args):
            state.flags.no_cpython_wrapper = True
        return bool(super().run_pass(state))

    @property
    def lowering_class(self) -> type[Lower]:
        return _Lower


def passes_of_kernels(state: Any) -> Any:
    """Return Numba's usual passes over a kernel, with places of calls left as they are and no annotated listing; they
    are still to be finalized."""
    passes = DefaultPassBuilder.define_nopython_pipeline(state)
    each = [(one, what) for one, what in passes.passes if one is not AnnotateTypes]
    passes.passes = [(_Lowering if one is NativeLowering else one, what) for one, what in each]
    passes.add_pass_after(KeepNeeded, _Lowering)
    return passes


class Needed(NamedTuple):
    """A function that compiled code calls by a symbol."""

    symbol: str
    module: str
    name: str
    arguments: tuple[Any, ...]
    """The types of its arguments."""

    def __call__(self) -> None:
        """Load the function, or compile it; the symbol leads to it, also where another process named it otherwise."""
        _known[self.symbol] = self
        function = getattr(import_module(self.module), self.name)
        function.compile(self.arguments)
        result = function.overloads[self.arguments]
        symbol = result.fndesc.llvm_func_name
        if symbol != self.symbol:
            llvm.add_symbol(self.symbol, result.library.get_pointer_to_function(symbol))


_known: dict[str, Needed] = {}
"""Every function that is called by its symbol in this process."""


def called_by_symbol(function: Any, signature: Any) -> Any | None:
    """Return the library of a function that is called by its symbol; None for all others."""
    if not isinstance(function, types.Dispatcher) or not _may_be(function.dispatcher):
        return None
    dispatcher, arguments = function.dispatcher, tuple(signature.args)
    result = dispatcher.overloads[arguments]
    symbol = result.fndesc.llvm_func_name
    _known[symbol] = Needed(symbol, dispatcher.__module__, dispatcher.__qualname__, arguments)
    return result.library


def _may_be(dispatcher: Any) -> bool:
    """Return whether a function is never copied, and another process would know it by its name."""
    if not getattr(dispatcher._compiler.pipeline_class, "by_symbol", False):
        return False
    module = import_module(dispatcher.__module__)
    return getattr(module, dispatcher.__qualname__, None) is dispatcher


def needed_by(library: Any) -> Iterator[Needed]:
    """Yield the symbols by which the code of a library calls."""
    for function in library._final_module.functions:
        if function.is_declaration and function.name in _known:
            yield _known[function.name]


@register_pass(mutates_CFG=False, analysis_only=True)
class KeepNeeded(AnalysisPass):
    """Keeps with a compiled function what it calls by symbols, for whoever loads it; runs behind lowering."""

    _name = "keep_needed"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.reload_init[:] = [*state.reload_init, *needed_by(state.library)]
        return False


class EntryPointCompiler(NoInlineCompiler):
    """The same for what Python calls too."""

    within_compiled_code = False


class KernelCompiler(CompilerBase):
    """Numba's usual passes, and places of calls left as they are."""

    def define_pipelines(self) -> list[Any]:
        passes = passes_of_kernels(self.state)
        passes.finalize()
        return [passes]


class KeepingCompiler(CompilerBase):
    """Numba's usual passes, and what is needed is kept: for what may call kernels and is kept on disk itself."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(KeepNeeded, NativeLowering)
        passes.finalize()
        return [passes]


SELDOM = (50_000, 20, 100)
"""How seldom garbage is collected while something is compiled: what a compiler makes is kept until it is done, and
looking through it again and again was a twelfth of its time."""


class _Times(event.Listener):
    """Reports when a thread wants the compiler, and when it has done with it."""

    def __init__(self, known: Compiling) -> None:
        self._known = known

    def on_start(self, event: Any) -> None:
        self._known.begins()

    def on_end(self, event: Any) -> None:
        self._known.ends()


class _Functions(event.Listener):
    """Reports what is compiled, but not what is compiled for its sake; the compiler's lock is held meanwhile."""

    def __init__(self, known: Compiling) -> None:
        self._known, self._depth = known, 0
        self._thresholds = gc.get_threshold()

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._thresholds = gc.get_threshold()
            gc.set_threshold(*SELDOM)
            self._known.compiles(event.data["dispatcher"].py_func.__module__)

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            gc.set_threshold(*self._thresholds)


def report_compiling(known: Compiling = COMPILING) -> None:
    """Report from now on what is compiled."""
    event.register("numba:compiler_lock", _Times(known))
    event.register("numba:compile", _Functions(known))


ROOMS = ("compiled", "structures", "policies", "engines", "metrics")
"""The packages of the workbench that may hold compiled code."""

SOURCES = (*ROOMS, "records")
"""The packages that compiled code takes names from: `records` has the constants of columns. A test compares."""

_IMPORT = re.compile(rb"^[ \t]*from[ \t]+workbench\.([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_KERNEL = re.compile(rb"^@(kernel|inlined|routine|noinline|entry_point|allocating)\b", re.MULTILINE)
_COMMENT = re.compile(rb"#[^\n]*")
_NAME = re.compile(rb"(\w+)(?:[ \t\n]+as[ \t\n]+\w+)?")


def may_be_kept(module: str) -> bool:
    """Return whether a module's compiled functions may be kept on disk: those of this package; a user's are compiled
    again.

    >>> may_be_kept("workbench.structures.bitmaps"), may_be_kept("__main__")
    (True, False)

    Raises
    ------
    RuntimeError
        A package of this package holds compiled code without being part of the digests.
    """
    package, _, rest = module.partition(".")
    if package == "workbench" and rest.split(".")[0] not in ROOMS:
        raise RuntimeError(
            f"{module} compiles code, but its package is not part of the digests (compiled/kernel.py, `ROOMS`)."
        )
    return package == "workbench"


class Sources:
    """The Python sources of a package that compiled code can come from, each read once, when it is first asked for.

    Parameters
    ----------
    root : Path
        The folder of the package.

    Examples
    --------
    >>> from pathlib import Path
    >>> import workbench
    >>> sources = Sources(Path(workbench.__file__).parent)
    >>> "structures.bitmaps" in sources.closure("engines.shared_memory_loop")
    True
    >>> [module for module in sources.closure("engines.shared_memory_loop") if module.startswith("metrics")]
    []
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, _Source | None] = {}
        self._closures: dict[str, frozenset[str]] = {}

    def closure(self, module: str) -> frozenset[str]:
        """Return a module and all that it imports of the packages in `SOURCES`, by their names below the package."""
        if module not in self._closures:
            members, left = {module}, [module]
            while left:
                source = self._source(left.pop())
                new = set(self._modules(source)) - members if source else set()
                members |= new
                left += new
            self._closures[module] = frozenset(members)
        return self._closures[module]

    def digest(self, *modules: str) -> str:
        """Compute a digest of the sources of modules and of all that they import, names and contents."""
        digest = hashlib.blake2b(digest_size=8)
        for module in sorted(frozenset().union(*map(self.closure, modules))):
            source = self._source(module)
            digest.update(module.encode() + b"\0" + (source.digest if source else b""))
        return digest.hexdigest()

    def kernels(self, part: str) -> list[str]:
        """Return the modules that hold compiled functions, of a part such as `engines.pool` or `engines.shared_memory`.

        They bring along all that is compiled into it; the others of the part prepare runs and read them.
        """
        room, _, name = part.rpartition(".")
        folder = self._root.joinpath(*room.split("."))
        files = [*folder.glob(f"{name}/**/*.py"), *folder.glob(f"{name}_*.py"), *folder.glob(f"{name}.py")]
        modules = (".".join(file.relative_to(self._root).with_suffix("").parts) for file in files)
        return [module for module in sorted(modules) if (source := self._source(module)) and source.compiles]

    def _modules(self, source: _Source) -> Iterator[str]:
        """Yield the modules that a source imports from; of a package, its `__init__`."""
        for package, name in source.imported:
            part, whole = f"{package}.{name}", self._source(package)
            is_module = self._source(part) is not None
            if is_module:
                yield part
            # A package may have a function by the name of one of its modules.
            if not is_module or (whole and any(name == exported for _, exported in whole.imported)):
                yield package

    def _source(self, module: str) -> _Source | None:
        """Return the source of a module, None where there is no such module."""
        if module not in self._known:
            path = self._root.joinpath(*module.split("."))
            files = (path.with_name(f"{path.name}.py"), path / "__init__.py")
            self._known[module] = next((_read(file) for file in files if file.is_file()), None)
        return self._known[module]


class _Source(NamedTuple):
    """What one file says."""

    digest: bytes
    imported: tuple[tuple[str, str], ...]
    """Each name that it imports from a package in `SOURCES`, behind the module or package that is to have it."""
    compiles: bool
    """Whether it holds compiled functions."""


def _read(file: Path) -> _Source:
    content = file.read_bytes()
    imported = (
        (package.decode(), name.decode())
        for package, names in _IMPORT.findall(content)
        if package.split(b".")[0].decode() in SOURCES
        for name in _NAME.findall(_COMMENT.sub(b"", names))
    )
    return _Source(hashlib.blake2b(content, digest_size=16).digest(), tuple(imported), bool(_KERNEL.search(content)))


@functools.cache
def sources() -> Sources:
    """Return the sources of this package, as they were when this process first asked for each."""
    return Sources(Path(__file__).parent.parent)


def code_home() -> Path:
    """Return the folder below which all compiled code is kept, in the user's cache; another one where every index is
    checked (`NUMBA_BOUNDSCHECK=1`), which Numba's own index does not tell apart."""
    return cache_home() / ("code" if os.environ.get("NUMBA_BOUNDSCHECK", "") in ("", "0") else "code_with_bounds")


def cache_folder(module: str) -> Path:
    """Return the folder of a module's compiled functions, for these versions of all sources that can be in them."""
    short = module.removeprefix("workbench.")
    return code_home() / short / sources().digest(short)


def is_current(folder: Path) -> bool:
    """Return whether a folder below `code_home` is of a module's sources as they are now."""
    return folder == cache_folder(folder.parent.name)


class KeptIndex(IndexDataCacheFile):
    """The index of a function's compiled forms; empty where it names a class that has moved to another module since,
    which would raise in whoever loads it. A form that takes a class of a user's or a test's is not kept: to load the
    index, other processes would import its module."""

    def save(self, key: Any, data: Any) -> None:
        if all(cls.__module__.startswith("workbench.") for cls in _classes(key)):
            super().save(key, data)

    def _load_index(self) -> dict[Any, str]:
        try:
            return dict(super()._load_index())
        except (ImportError, AttributeError):
            return {}


def _classes(signature: Any) -> Iterator[type]:
    """Yield the class of every named tuple in a signature, those inside of others included."""
    tuples: Any = (tuple, types.BaseTuple)
    if hasattr(signature, "instance_class"):
        yield signature.instance_class
    if isinstance(signature, tuples):
        for inner in signature:
            yield from _classes(inner)
