"""Which code of a results folder or a bundle may be executed: what this user has signed, to the byte.

A sweep file or a study file that a user names is the user's word, as `python x.py` is. A results folder may be a
stranger's, and so may a bundle: reading one must not execute the files that its sweep names. A run of this user
writes the digests of the sweep and of its code into the folder, with an HMAC-SHA256 under a key that no other user
has. Code is executed for such a folder only if the bytes that were read have a digest of the list.

The list holds the files that a sweep names and the modules of their folders that they import, also in functions. It
leaves out other files of the folder that they lie in: an edit of another policy there must take nothing back. A module
that the list lacks is not executed, however it comes to be imported.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbench.digests import canonical
from workbench.errors import InputError, StoreError

SIGNATURE = ".trusted"
"""The file of a folder that holds the digests and their HMAC."""
KEY_BYTES = 32
MOST_BYTES = 1 << 24
"""Of a signature: one lists a few files for each sweep."""
_FORMAT = 1


class UntrustedError(InputError):
    """Code that a folder names is not what this user has signed there; it was not executed."""


class Admission:
    """The code that may be executed for what one results folder or bundle says."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.files, self._lack = _signed_files(home)

    def name_of(self, path: Path) -> str:
        """Return the name of a file in the signature."""
        return name_in(self.home, path)

    def admits(self, path: Path, content: bytes) -> bool:
        """Return True if the user has signed a file with this content."""
        return hmac.compare_digest(self.files.get(self.name_of(path), "").encode(), digest_of(content).encode())

    def check(self, path: Path, content: bytes) -> None:
        """Refuse a file that the user has not signed with this content.

        Raises
        ------
        UntrustedError
            The sentence says why, and what signs it.
        """
        if not self.admits(path, content):
            raise UntrustedError(self.refusal(path))

    def refusal(self, path: Path) -> str:
        """Return the reason why a file is not executed, and its signer."""
        reason = self._lack
        if not reason:
            known = self.name_of(path) in self.files
            since = "was edited since you signed it" if known else "is not among the files that you signed"
            reason = f"it {since} in {self.home}"
        return f"the code of {path.name} was not run: {reason}; `workbench trust {self.home}` lists and signs it."


def admission(folder: Path) -> Admission | None:
    """Return the names in a file of a folder that may be executed; None where that is what the user named.

    `Path()` stands for a name that the user gives, on the command line or in Python. A relative folder of a sweep
    file in a results folder is made absolute where the file is read.
    """
    home = None if folder == Path() else home_of(folder)
    return None if home is None else Admission(home)


def home_of(folder: Path) -> Path | None:
    """Return the results folder or the bundle that a folder is, or lies in; None where it lies in none.

    Folders count as they are named and as they lie on the disk: a link does not lead out of a results folder.
    """
    for place in dict.fromkeys((os.path.abspath(folder), os.path.realpath(folder))):
        for one in (Path(place), *Path(place).parents):
            if _is_home(one):
                return one
    return None


def _is_home(folder: Path) -> bool:
    """Return whether a folder holds rows of runs, the trials of a study, or a bundle."""
    has = {name for name in ("sweep.yaml", "manifest.json", "study.yaml", "study.journal") if _is_there(folder, name)}
    return {"sweep.yaml", "manifest.json"} <= has or {"study.yaml", "study.journal"} <= has or _has_rows(folder)


def _is_there(folder: Path, name: str) -> bool:
    return os.path.isfile(os.path.join(folder, name))


def _has_rows(folder: Path) -> bool:
    try:
        return any(name.endswith(".rows") for name in os.listdir(os.path.join(folder, "rows")))
    except OSError:
        return False


def name_in(home: Path, path: Path) -> str:
    """Return the name of a file in a signature of a folder: its path from there, with `..` at the start if it is
    outside.

    >>> name_in(Path("/kept/out"), Path("/kept/mine/evil.py"))
    '../mine/evil.py'
    """
    return Path(os.path.relpath(os.path.realpath(path), os.path.realpath(home))).as_posix()


def digest_of(content: bytes) -> str:
    """Return the digest of a file's content."""
    return hashlib.blake2b(content).hexdigest()


def sign(home: Path, files: Mapping[str, str]) -> None:
    """Write the digests of a folder's sweeps and of their code, by name, with this user's HMAC; nothing if it is there.

    Raises
    ------
    StoreError
        The key or the signature cannot be written.
    """
    text = json.dumps({"format": _FORMAT, "files": {**files}, "hmac": _mac(_key(make=True), files)}, indent=1)
    with suppress(OSError):
        if (home / SIGNATURE).read_text(encoding="utf-8") == text:
            return
    _write(home / SIGNATURE, text.encode(), 0o644)


def forget(home: Path) -> None:
    """Take a signature away, of a folder that names no code."""
    with suppress(OSError):
        (home / SIGNATURE).unlink(missing_ok=True)


def _signed_files(home: Path) -> tuple[dict[str, str], str]:
    """Return the digests that this user has signed in a folder, or why there are none."""
    try:
        with open(home / SIGNATURE, "rb", opener=_without_waiting) as file:
            known: Any = json.loads(file.read(MOST_BYTES))
        files, mac = dict(known["files"]), str(known["hmac"])
        text = {str(name): str(digest) for name, digest in files.items()}
    except FileNotFoundError:
        return {}, f"you have not signed {home}"
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return {}, f"the signature of {home} cannot be read"
    try:
        key = _key(make=False)
    except StoreError as problem:
        return {}, str(problem).rstrip(".")
    if not key or not hmac.compare_digest(_mac(key, text).encode(), mac.encode(errors="replace")):
        return {}, f"the signature of {home} is not yours"
    return text, ""


def _without_waiting(path: str, flags: int) -> int:
    """Open a file of a stranger's, which may be a pipe without a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _mac(key: bytes, files: Mapping[str, str]) -> str:
    text = canonical({"format": _FORMAT, "files": {**files}})
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def key_file() -> Path:
    """Return the path of this user's key: below XDG_CONFIG_HOME, or below ~/.config.

    Raises
    ------
    StoreError
        The user has no home.
    """
    given = os.environ.get("XDG_CONFIG_HOME", "")
    try:
        folder = Path(given) if os.path.isabs(given) else Path.home() / ".config"
    except RuntimeError:
        raise StoreError("there is no home folder for the key of `workbench trust`; set XDG_CONFIG_HOME.") from None
    return folder / "workbench" / "trust.key"


def _key(make: bool) -> bytes:
    """Return this user's key; where there is none a new one, or nothing.

    Raises
    ------
    StoreError
        Others can read or write it, it is no key, or it cannot be written.
    """
    path = key_file()
    if make and not path.exists():
        _make_key(path)
    try:
        with open(path, "rb") as file:
            status, key = os.fstat(file.fileno()), file.read(KEY_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as problem:
        raise StoreError(f"{path}, your key, cannot be read: {problem.strerror}.") from None
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise StoreError(f"{path}, your key, is open to other users: anyone could sign for you. Remove it.")
    if len(key) != KEY_BYTES:
        raise StoreError(f"{path} is no key: it must hold {KEY_BYTES} bytes. Remove it, and sign folders again.")
    return key


def _make_key(path: Path) -> None:
    """Write a new key, unless another process has written one meanwhile."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(beside, secrets.token_bytes(KEY_BYTES), 0o600)
        with suppress(FileExistsError):
            os.link(beside, path)
        beside.unlink()
    except OSError as problem:
        raise StoreError(f"{path}, your key, cannot be written: {problem.strerror}.") from None


def _write(path: Path, content: bytes, mode: int) -> None:
    """Write a file whole or not at all, never through a link that was there."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with suppress(FileNotFoundError):
            beside.unlink()
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
        os.replace(beside, path)
    except OSError as problem:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise StoreError(f"{path} cannot be written: {problem.strerror}.") from None
