"""Where the trials of a study are kept, if not in the journal of its folder: `storage: postgresql://user@host/base`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, at, unknown_name, wrong_value

_KEYS = ("url", "study")
_KINDS = ("postgresql", "sqlite")
_URL = re.compile(r"(?P<kind>postgres(?:ql)?|sqlite)(?:\+\w+)?://(?P<rest>.+)")
_PASSWORD = re.compile(r"(?<=://)(?P<user>[^:/@]*):[^@]*@")
_EXPECTED = "must be sqlite:///FILE or postgresql://USER@HOST/BASE, or be left out for a journal in the results folder"


class Storage(NamedTuple):
    """A study in a database."""

    url: str
    study: str
    """Its name there."""

    @property
    def shown(self) -> str:
        """Return the address as people may see it: without a password."""
        return hidden(self.url)

    @property
    def file(self) -> Path | None:
        """Return the file of an SQLite database."""
        return Path(self.url.removeprefix("sqlite:///")) if self.url.startswith("sqlite:") else None

    @property
    def driven(self) -> str:
        """Return the address with the driver that the workbench installs."""
        return self.url.replace("postgresql://", "postgresql+psycopg://", 1)


def hidden(text: str) -> str:
    """Return a text whose addresses lack their passwords.

    >>> hidden("postgresql://ada:secret@cluster/tuning")
    'postgresql://ada@cluster/tuning'
    """
    return _PASSWORD.sub(r"\g<user>@", text)


def read_storage(given: Any, name: str, where: str) -> Storage | None:
    """Read the storage of a study file: an address, or `{url: , study: NAME}` where a name is taken; None = a journal.

    Raises
    ------
    InputError
        It is no address of a database that the workbench can use; the sentence holds no password.

    Examples
    --------
    >>> read_storage("sqlite:///study.db", "dispatch", "")
    Storage(url='sqlite:///study.db', study='dispatch')
    """
    if given is None:
        return None
    config = given if isinstance(given, Mapping) else {"url": given}
    for key in config:
        if key not in _KEYS:
            raise unknown_name(at(where, "storage"), "key", key, _KEYS)
    url, study = config.get("url"), config.get("study", name)
    if not isinstance(study, str) or not study.strip():
        raise wrong_value(where, "storage.study", "must be the name of a study", study)
    match = _URL.fullmatch(url) if isinstance(url, str) else None
    if match is None:
        raise wrong_value(where, "storage", _EXPECTED, hidden(url) if isinstance(url, str) else url)
    if match["kind"] == "sqlite" and not match["rest"].startswith("/"):
        raise InputError(at(where, f"storage: an SQLite file is named after three slashes: sqlite:///{match['rest']}"))
    kind = "sqlite" if match["kind"] == "sqlite" else "postgresql"
    return Storage(f"{kind}://{match['rest']}", study)
