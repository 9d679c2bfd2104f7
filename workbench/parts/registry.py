"""Registries, each of the parts of one kind by name, and parts from a user's own files, such as `my_fit.py:MyFit`.

Policies, engines, importers, generators, measures, figures, claims and dashboards are all entered in a registry, the
package's own and the user's alike.

A user's file imports what lies beside it, without any search path. Each file becomes a module under a name of its own,
and has what lies beside it to itself, so that `helper.py` of one folder is never that of another. What lies beside a
file comes before installed packages of the same name, and after Python's own modules and the workbench.
"""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple, TypeVar

from workbench.errors import InputError, at, unknown_name
from workbench.identity import once_a_moment

T = TypeVar("T")

_registries: dict[str, list[Registry[Any]]] = {}
"""The registries of each kind."""


class Part(NamedTuple):
    """A part as tables show it."""

    kind: str
    name: str
    description: str
    built_in: bool
    """Whether it is part of this package; else it is the user's."""


class Registry(dict[str, T]):
    """The parts of one kind by name, those that are imported so far; `all` and `find` import the others.

    >>> colours = Registry("colour")
    >>> @colours.joined
    ... class Grey:
    ...     '''Neither black nor white.'''
    ...     name, built_in = "grey", False
    >>> colours.parts()
    [Part(kind='colour', name='grey', description='Neither black nor white.', built_in=False)]
    >>> colours.find("gray")
    Traceback (most recent call last):
    workbench.errors.InputError: unknown colour 'gray'; there are grey. Did you mean grey?
    """

    def __init__(
        self,
        kind: str,
        noun: str = "",
        later: Mapping[str, Callable[[], T]] | None = None,
        named_by: str = "name",
    ) -> None:
        """Make a registry.

        Parameters
        ----------
        kind : str
            What `remove` calls its parts; several registries may share one.
        noun : str
            What messages call a part; the kind if empty.
        later : mapping, optional
            Names of the package's own parts that are made when they are first asked for, each with what makes it.
        named_by : str
            What has to be changed where a name is taken, such as `class name`.
        """
        super().__init__()
        self.kind, self.noun, self._named_by = kind, noun or kind, named_by
        self._later = dict(later or {})
        _registries.setdefault(kind, []).append(self)

    def __identity__(self) -> tuple[()]:
        """Return nothing: what a run depends on is digested as itself, wherever it is entered."""
        return ()

    def join(self, name: str, part: T) -> T:
        """Enter a part; the user's replaces one of the user's, and nobody replaces one of the package.

        Raises
        ------
        InputError
            The package has another part of that name.
        """
        before = self.get(name)
        taken = (before is not None and is_built_in(before)) or name in self._later
        if taken and not (is_built_in(part) and (before is None or _place(before) == _place(part))):
            raise InputError(f"{name} is already {_a(self.noun)} of the workbench; choose another {self._named_by}.")
        self[name] = part
        return part

    def joined(self, part: T) -> T:
        """Enter a part under its own `name`, and return it: a decorator of classes."""
        return self.join(part.name, part)  # type: ignore[attr-defined]

    def names(self) -> list[str]:
        """Return every name, sorted, also of parts that are not imported yet."""
        return sorted({*self, *self._later})

    def all(self) -> dict[str, T]:
        """Return every part by name: the package's own in the order in which it lists them, then the user's."""
        for name in self._later:
            self._made(name)
        return {name: self[name] for name in dict.fromkeys((*self._later, *self))}

    def find(self, name: Any, where: str = "", known: Mapping[str, Any] | None = None) -> T:
        """Return the part of a name.

        Parameters
        ----------
        where : str
            What stands in front of the sentence.
        known : mapping, optional
            The parts that may be named here, if not all.

        Raises
        ------
        InputError
            There is none of that name.
        """
        if known is None and type(name) is str and name in self:  # as every run asks
            return self[name]
        there: Mapping[str, Any] = ChainMap(self, self._later) if known is None else known
        if not isinstance(name, str) or name not in there:
            raise unknown_name(where, self.noun, name, there)
        return self._made(name)

    def _made(self, name: str) -> T:
        if name not in self:
            made = self._later[name]()
            self.setdefault(name, made)  # which some enter themselves
        return self[name]

    def parts(self) -> list[Part]:
        """Return every part as tables show it."""
        return [Part(self.kind, name, describe(part), is_built_in(part)) for name, part in self.all().items()]

    def keep_only(self, own: Mapping[str, T]) -> None:
        """Let the package's parts and some others, all of the user's that count, be the known ones."""
        wanted = {**{name: part for name, part in self.items() if is_built_in(part)}, **own}
        if wanted != dict(self):
            self.clear()
            self.update(wanted)

    def copy(self) -> Registry[T]:
        """Return the same in another registry, which `remove` does not know."""
        other: Registry[T] = Registry.__new__(Registry)
        other.__dict__.update(self.__dict__)
        other.update(self)
        return other


def attribute(place: str) -> Callable[[], Any]:
    """Return what imports `module:name` and returns it when it is called."""
    module, _, name = place.partition(":")
    return lambda: getattr(importlib.import_module(module), name)


def remove(kind: str, name: str) -> None:
    """Take a part of the user's out again: a policy, an engine, an importer, a generator, a measure, a figure, a claim.

    Parameters
    ----------
    kind : str
        Such as `measure`.
    name : str
        Such as `slack`; a measure is removed from every engine that has it.

    Raises
    ------
    InputError
        There is no such kind or part, or it is one of the workbench's own.

    Examples
    --------
    >>> remove("colours", "grey")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.errors.InputError: unknown kind of part 'colours'; there are ...
    """
    if kind not in _registries:
        raise unknown_name("", "kind of part", kind, _registries)
    holding = [registry for registry in _registries[kind] if name in registry.names()]
    own = [registry for registry in holding if name in registry and not is_built_in(registry[name])]
    if holding and not own:
        raise InputError(f"{name} is {_a(holding[0].noun)} of the workbench, which cannot be removed.")
    if not own:
        users = (n for registry in _registries[kind] for n, part in registry.items() if not is_built_in(part))
        raise unknown_name("", f"{kind} of yours", name, users)
    for registry in own:
        del registry[name]


def is_built_in(part: Any) -> bool:
    """Return True if a part is one of this package: by what it says, or by the module that defines it."""
    message = getattr(part, "built_in", None)
    return message if isinstance(message, bool) else str(_place(part)[0]).startswith("workbench.")


def describe(part: Any) -> str:
    """Return what a part says of itself: its description, or the first sentence of its docstring."""
    for name in ("description", "says", "statement"):
        if isinstance(message := getattr(part, name, None), str):
            return message
    return first_paragraph(part.__doc__) if part.__doc__ != type(part).__doc__ or isinstance(part, type) else ""


def first_paragraph(docstring: str | None) -> str:
    """Return the first paragraph of a docstring on one line, empty where there is none.

    >>> first_paragraph('''Take the
    ...     lowest.
    ...
    ...     Ties are broken by chance.
    ...     ''')
    'Take the lowest.'
    """
    return " ".join(inspect.cleandoc(docstring or "").partition("\n\n")[0].split())


def _place(part: Any) -> tuple[Any, Any]:
    """Return the module that defines a part, or its class, and its name there."""
    one = part if hasattr(part, "__qualname__") else type(part)
    return one.__module__, one.__qualname__


def _a(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def is_in_file(name: object) -> bool:
    """Return True if a name in a sweep means something in a file.

    >>> is_in_file("my_fit.py:MyFit"), is_in_file("best_fit"), is_in_file(3)
    (True, False, False)
    """
    return isinstance(name, str) and ".py:" in name


def file_and_name(name: str) -> tuple[str, str]:
    """Return the file and the name in it.

    >>> file_and_name("mine/my_fit.py:MyFit")
    ('mine/my_fit.py', 'MyFit')
    """
    file, _, inside = name.rpartition(":")
    return file, inside


def from_file(name: str, folder: Path, where: str, noun: str, is_part: Callable[[Any], bool]) -> Any:
    """Return the part that `FILE.py:NAME` names, looked for in a folder and then where the command runs.

    The file may import modules that lie beside it. When one of these files holds something else than when it was
    executed, all of them are executed again.

    Parameters
    ----------
    noun : str
        What messages call it, such as `policy`.
    is_part : callable
        Whether a value that the file holds may be named there.

    Raises
    ------
    InputError
        There is no such file or name, or the file does not run.
    """
    file, inside = file_and_name(name)
    module = module_in_file(file, folder, where, noun)
    found = {name: value for name, value in vars(module).items() if is_part(value)}
    if inside not in found:
        listed = [
            name for name, value in found.items() if not isinstance(value, type) or value.__module__ == module.__name__
        ]
        raise unknown_name(where, f"{noun} in {file}", inside, listed)
    return found[inside]


def entered_by_file(name: str, folder: Path, where: str, noun: str) -> str:
    """Return a name without its file, which is executed and so enters what it makes; a name alone as it is."""
    if not is_in_file(name):
        return name
    file, inside = file_and_name(name)
    module_in_file(file, folder, where, noun)
    return inside


def files_named(name: str, folder: Path, where: str, noun: str) -> list[Path]:
    """Return the file that `FILE.py:NAME` names and every file that it imports from beside it; errors as above."""
    path = _path(file_and_name(name)[0], folder, where, noun)
    _module(path, where)
    return files_of(path)


def module_in_file(file: str, folder: Path, where: str, noun: str) -> ModuleType:
    """Return the module of a user's file, executed where it was not or has changed since; errors as above."""
    return _module(_path(file, folder, where, noun), where)


def _path(file: str, folder: Path, where: str, noun: str) -> Path:
    path = next((p for p in (folder / file, Path(file)) if p.is_file()), None)
    if path is None:
        kind = noun.removesuffix(" class")
        raise InputError(at(where, f"the {kind} file {file} does not exist (looked in {folder or '.'})."))
    return path.resolve()


def _module(path: Path, where: str) -> ModuleType:
    try:
        return once_a_moment(f"policy file {path}", lambda: module_of(path))
    except (Exception, SystemExit) as problem:
        raise InputError(at(where, f"{path.name} does not run: {type(problem).__name__}: {problem}")) from None


class _Origin(NamedTuple):
    """Where a module and what it imports from beside it come from."""

    name: str
    """Of the module; names of those beside it begin with it."""
    folder: Path
    files: dict[Path, str]
    """Every file that was executed, with the digest of what it held then."""


executed_within: list[Callable[[], contextlib.AbstractContextManager[None]]] = []
"""What files of a user's are executed within."""

_origins: dict[str, _Origin] = {}
"""By the name of every module from a file of a user's, parts of packages left out."""


def module_of(path: Path) -> ModuleType:
    """Return the module of a file, executed again when it, or a file that it imports from beside it, has changed since.

    Files are compared by what they hold, not by their times: edits within a grain of the clock are seen.

    Raises
    ------
    Exception
        Whatever the file raises; the module is then as if it had never been asked for.
    """
    name = f"policy_file_{path.stem}_{hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()}"
    known = sys.modules.get(name)
    if known is not None and all(_digest(file) == digest for file, digest in _origins[name].files.items()):
        return known
    _forget(name)
    try:
        return _loaded(name, path, _Origin(name, path.parent, {}))
    except BaseException:
        _forget(name)
        raise


def file_of(cls: Any) -> Path | None:
    """Return the file that was named when a class or function was loaded from it or from beside it, else None."""
    origin = _origins.get(_top(cls.__module__))
    return next(iter(origin.files)) if origin and origin.files else None


def files_of(path: Path) -> list[Path]:
    """Return a file and every file that it imports from beside it, in the order of their first use.

    Raises
    ------
    Exception
        Whatever the file raises.
    """
    return list(_origins[module_of(path).__name__].files)


def _loaded(name: str, path: Path, origin: _Origin) -> ModuleType:
    _origins[name] = origin
    spec = _spec(name, path, origin)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    assert spec.loader is not None
    with contextlib.ExitStack() as within:
        for context in executed_within:
            within.enter_context(context())
        spec.loader.exec_module(module)
    return module


def _spec(name: str, path: Path, origin: _Origin) -> ModuleSpec:
    inside = [str(path.parent)] if path.name == "__init__.py" else None
    loader = _AsWritten(name, path, origin)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader, submodule_search_locations=inside)
    assert spec is not None
    return spec


def _forget(name: str) -> None:
    for part in [part for part in sys.modules if _top(part) == name or _top(part).startswith(f"{name}__")]:
        del sys.modules[part]


def _top(name: str) -> str:
    return name.partition(".")[0]


class _AsWritten(SourceFileLoader):
    """Reads the source every time: bytecode would lie in a user's folder, and outlive an edit of the same second."""

    def __init__(self, name: str, path: Path, origin: _Origin) -> None:
        super().__init__(name, str(path))
        self._origin = origin

    def get_code(self, fullname: str) -> CodeType:
        content = self.get_data(self.path)
        self._origin.files[Path(self.path)] = hashlib.blake2b(content).hexdigest()
        return self.source_to_code(content, self.path)

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": _Import(self._origin)}
        super().exec_module(module)


class _Import:
    """The `import` of modules from files: it looks beside the file first, also for `from .helper import`."""

    def __init__(self, origin: _Origin) -> None:
        self._origin = origin

    def __call__(
        self,
        name: str,
        space: Mapping[str, Any] | None = None,
        local: Mapping[str, Any] | None = None,
        names: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        beside = level == 1 and not (space or {}).get("__package__")  # `from .helper import`, in no package
        if beside and not name:
            package = ModuleType(self._origin.name)
            vars(package).update({wanted: self(wanted, space, local, ("*",), level) for wanted in names or ()})
            return package
        path = _found(self._origin.folder, _top(name)) if beside or not level else None
        is_other = not beside and (_top(name) in sys.stdlib_module_names or _top(name) == "workbench")
        if path is None or is_other:
            return builtins.__import__(name, space, local, names or (), level)
        whole = f"{self._origin.name}__{name}"
        if _top(whole) not in sys.modules:
            _loaded(_top(whole), path, self._origin)
        module = importlib.import_module(whole)
        for wanted in names or ():
            if hasattr(module, "__path__") and not hasattr(module, wanted) and _found(Path(module.__path__[0]), wanted):
                importlib.import_module(f"{whole}.{wanted}")
        return module if names else sys.modules[_top(whole)]


class _Inside:
    """Finds the parts of packages that lie beside a file."""

    @staticmethod
    def find_spec(name: str, paths: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """Return how to load a part of a package, None where it is of no package that lies beside a file."""
        origin = _origins.get(_top(name))
        path = _found(Path(paths[0]), name.rpartition(".")[2]) if origin and paths else None
        return _spec(name, path, origin) if origin and path else None


def _found(folder: Path, name: str) -> Path | None:
    """Return the file of a module or of a package in a folder, None where there is none."""
    paths = folder / f"{name}.py", folder / name / "__init__.py"
    return next((path for path in paths if path.is_file()), None)


sys.meta_path.insert(0, _Inside)


def _digest(file: Path) -> str:
    try:
        return hashlib.blake2b(file.read_bytes()).hexdigest()
    except OSError:
        return ""
