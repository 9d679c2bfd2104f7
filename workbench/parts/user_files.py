"""Parts from a user's own files, such as `my_fit.py:MyFit`.

A user's file imports from its own folder, without any search path. Each file becomes a module under a name of its own,
with its own copies of its folder's modules, so that `helper.py` of one folder is never that of another. The folder of a
file comes before installed packages of the same name, and after Python's own modules and the workbench.

A results folder or a bundle may be a stranger's. The files that its sweep names, and those that they import,
are executed only with the bytes that this user has signed (`workbench.trust`).
"""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from workbench.errors import InputError, at, file_guess, unknown_name
from workbench.identity import once_a_moment
from workbench.identity.observed import read_by_import
from workbench.trust import Admission, UntrustedError, admission, digest_of


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

    With `Path()` as the folder the user has given the name. The file may import modules of its folder. When one of
    these files holds something else than when it was executed, all of them are executed again.

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
    UntrustedError
        The folder is of a results folder or a bundle, and the user has not signed the file there.
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
    """Return the file that `FILE.py:NAME` names and every file of its folder that it imports; errors as above."""
    path = file_path(file_and_name(name)[0], folder, where, noun)
    module = _module(path, folder, where)
    return list(_origins[module.__name__].files)


def module_in_file(file: str, folder: Path, where: str, noun: str) -> ModuleType:
    """Return the module of a user's file, executed where it was not or has changed since; errors as above."""
    return _module(file_path(file, folder, where, noun), folder, where)


def file_path(file: str, folder: Path, where: str, noun: str) -> Path:
    """Return the path of the file of a part: in a folder, or else where the command runs; links are followed.

    Raises
    ------
    InputError
        There is no such file.
    """
    path = next((p for p in (folder / file, Path(file)) if p.is_file()), None)
    if path is None:
        kind = noun.removesuffix(" class")
        guess = file_guess(folder / file) or file_guess(file)
        raise InputError(at(where, f"the {kind} file {file} does not exist (looked in {folder or '.'}).{guess}"))
    return path.resolve()


def _module(path: Path, folder: Path, where: str) -> ModuleType:
    try:
        return once_a_moment(f"policy file {path} named in {folder}", lambda: module_of(path, admission(folder)))
    except UntrustedError as refused:
        raise UntrustedError(at(where, str(refused))) from None
    except (Exception, SystemExit) as problem:
        raise InputError(at(where, f"{path.name} does not run: {type(problem).__name__}: {problem}")) from None


@dataclass
class _Origin:
    """The folder from which a module and its own imports come."""

    name: str
    """Of the module; names of those of its folder begin with it."""
    folder: Path
    files: dict[Path, str]
    """Every file that was executed, with the digest of what it held then."""
    admission: Admission | None
    """What may be executed; None = all, as the user named the file."""


executed_within: list[Callable[[], contextlib.AbstractContextManager[None]]] = []
"""What files of a user's are executed within."""

_origins: dict[str, _Origin] = {}
"""By the name of every module from a file of a user's, parts of packages left out."""


def module_of(path: Path, admission: Admission | None = None) -> ModuleType:
    """Return the module of a file, executed again when it, or a file of its folder that it imports, has changed since.

    So it is when a file has changed that one of them read as it was executed. Files are compared by what they hold, not
    by their times: edits within a grain of the clock are seen.

    Parameters
    ----------
    admission : Admission, optional
        What may be executed, if a results folder or a bundle names the file; all of it if the user does.

    Raises
    ------
    Exception
        Whatever the file raises; the module is then as if it had never been asked for.
    UntrustedError
        The user has not signed the file, or one that it imports from its folder.
    """
    name = _module_name(path)
    known = sys.modules.get(name)
    if known is not None and not _has_changed(name):
        for file in _origins[name].files if admission is not None else ():
            admission.check(file, _content(file))  # type: ignore[union-attr]
        if admission is None:
            _origins[name].admission = None
        return known
    _forget(name)
    try:
        return _loaded(name, path, _Origin(name, path.parent, {}, admission))
    except BaseException:
        _forget(name)
        raise


def _has_changed(name: str) -> bool:
    """Return whether a file of a module, or one that it read as it was executed, is another than it was then."""
    files = _origins[name].files.items()
    return any(digest_of(_content(file)) != then for file, then in files) or any(
        read_by_import(part).changed() for part in _parts(name)
    )


def file_of(cls: Any) -> Path | None:
    """Return the file that was named when a class or function was loaded from it or from its folder, else None."""
    origin = _origins.get(_top(cls.__module__))
    return next(iter(origin.files)) if origin and origin.files else None


def executed_files(path: Path) -> dict[Path, str]:
    """Return a file and every file that it imported from its folder, each with the digest of what was executed.

    It is empty for a file that was not executed.
    """
    name = _module_name(path)
    return {**_origins[name].files} if name in sys.modules else {}


def executed_anew(path: Path) -> ModuleType:
    """Return the module of a file that was executed before, as the file is now; errors as of `module_of`.

    What may be executed is what might then.
    """
    return module_of(path, _origins[_module_name(path)].admission)


def _module_name(path: Path) -> str:
    return f"policy_file_{path.stem}_{hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()}"


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
    for part in _parts(name):
        del sys.modules[part]


def _parts(name: str) -> list[str]:
    """Return the names of a module and of those that it imported from its folder."""
    return [part for part in sys.modules if _top(part) == name or _top(part).startswith(f"{name}__")]


def _top(name: str) -> str:
    return name.partition(".")[0]


class _AsWritten(SourceFileLoader):
    """Reads the source every time: bytecode would lie in a user's folder, and outlive an edit of the same second."""

    def __init__(self, name: str, path: Path, origin: _Origin) -> None:
        super().__init__(name, str(path))
        self._origin = origin

    def get_code(self, fullname: str) -> CodeType:
        content = self.get_data(self.path)
        if self._origin.admission is not None:
            self._origin.admission.check(Path(self.path), content)
        self._origin.files[Path(self.path)] = digest_of(content)
        return self.source_to_code(content, self.path)

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": _Import(self._origin)}
        super().exec_module(module)


class _Import:
    """The `import` of modules from files: it looks in the file's folder first, also for `from .helper import`."""

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
    """Finds the parts of packages in the folder of a file."""

    @staticmethod
    def find_spec(name: str, paths: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """Return the loader of a part of a package, None where it is of no package in the folder of a file."""
        origin = _origins.get(_top(name))
        path = _found(Path(paths[0]), name.rpartition(".")[2]) if origin and paths else None
        return _spec(name, path, origin) if origin and path else None


def _found(folder: Path, name: str) -> Path | None:
    """Return the file of a module or of a package in a folder, None where there is none."""
    paths = folder / f"{name}.py", folder / name / "__init__.py"
    return next((path for path in paths if path.is_file()), None)


sys.meta_path.insert(0, _Inside)


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
