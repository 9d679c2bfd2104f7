"""Where results come from: the sweep as resolved, the origins of its rows, and what a process computes with.

Every row names what computed it, and a table says so where origins meet. A driver and its workers must agree in their
sources and packages, or paired runs would not be pairs.
"""

from __future__ import annotations

import datetime
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import WorkbenchError
from workbench.experiments.row import Row, canonical, digest
from workbench.files import on_network
from workbench.process import FIXED, VARIABLE, has_fixed_hash_seed, hash_seed
from workbench.version import IMPORTED_NS

if TYPE_CHECKING:
    from workbench.experiments.run_set import RunSet


_PACKAGES = ("gpu-policy-workbench", "numba", "llvmlite", "numpy", "scipy", "pandas", "optuna")
_PROCESSORS = Path("/proc/cpuinfo")


def provenance(runs: RunSet) -> dict[str, Any]:
    """Return what a reader needs to know where a table came from, in plain types.

    It is derived from the rows alone: a process that finds every row kept leaves it as it is, to the byte.
    """
    plan = runs.plan
    return {
        "sweep": plan.sweep.name,
        "sweep_digest": digest(canonical(_plain(plan.sweep.said))),
        "points": {point.id: point.setup.identity() for point in plan.points},
        "engine_revision": plan.sweep.mechanism.engine.revision,
        "seeds": plan.sweep.seeds,
        **({"looks": list(plan.sweep.looks)} if plan.sweep.looks else {}),
        "runs": len(plan),
        "rows": len(runs.rows),
        "origins": [origin.plain() for origin in runs.origins],
    }


def environment() -> dict[str, Any]:
    """Return the versions of the packages that compute results, of Python, of the sources, and the kind of machine."""
    return {
        "python": platform.python_version(),
        "machine": ", ".join(part for part in (f"{platform.system()} {platform.machine()}", _processor()) if part),
        "packages": {name: _version(name) for name in _PACKAGES},
        "commit": _commit(),
        "sources": sources(),
    }


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    """Return what the processor calls itself, on which the code that Numba makes depends; empty where unknown."""
    try:
        lines = _PROCESSORS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    named = (line.partition(":")[2] for line in lines if line.startswith("model name"))
    return " ".join(next(named, "").split())


def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


WHEN = "when"
UNKNOWN = "origin unknown"
_TOLD = ("gpu-policy-workbench", "sources", "commit", "python", "machine")
"""What a sentence names of origins that differ, before single packages."""


class RowsOfOrigin(NamedTuple):
    """The rows that were computed with the same code on the same kind of machine, in one session or in several."""

    facts: dict[str, Any]
    """Version, sources, commit, Python, packages and machine; empty where the origin is unknown."""
    rows: int
    seconds: float
    """Of computing them, together."""
    sessions: tuple[str, ...]
    """When each of the processes that computed them began (ISO 8601, UTC), the earliest first."""

    def plain(self) -> dict[str, Any]:
        """Return it as `provenance.json` holds it."""
        facts = self.facts or {"origin": "unknown"}
        return {**facts, "rows": self.rows, "seconds": round(self.seconds, 3), "sessions": list(self.sessions)}


@functools.cache
def own_origin(own_code: bool = False) -> str:
    """Return the origin of every row that this process computes, as canonical JSON; fixed when it is first asked.

    That of rows of a user's own code names the hash seed too, on which such code may depend.
    """
    if own_code:
        return canonical({**json.loads(own_origin()), "hash_seed": hash_seed()})
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return canonical({**environment(), WHEN: now})


def origins_of(rows: Iterable[Row]) -> list[RowsOfOrigin]:
    """Return where rows come from, the largest part first; sessions that differ in their time alone are one origin.

    >>> two = [Row("a", "p", 0, "done", "", 2.0, {}, '{"python":"3.11.2","when":"2026-01-01"}'),
    ...        Row("b", "p", 1, "done", "", 3.0, {}, '{"python":"3.11.2","when":"2026-01-02"}')]
    >>> origins_of(two)
    [RowsOfOrigin(facts={'python': '3.11.2'}, rows=2, seconds=5.0, sessions=('2026-01-01', '2026-01-02'))]
    """
    texts: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        texts[row.origin].append(row.seconds)
    parts: dict[str, list[tuple[str, list[float]]]] = defaultdict(list)
    for text, seconds in texts.items():
        facts = json.loads(text) if text else {}
        when = facts.pop(WHEN, "")
        parts[canonical(facts)].append((when, seconds))
    origins = [_together(json.loads(facts), sessions) for facts, sessions in parts.items()]
    return sorted(origins, key=lambda one: (-one.rows, canonical(one.facts)))


def _together(facts: dict[str, Any], sessions: list[tuple[str, list[float]]]) -> RowsOfOrigin:
    seconds = sorted(second for _, part in sessions for second in part)
    times = tuple(sorted({when for when, _ in sessions if when}))
    return RowsOfOrigin(facts, len(seconds), sum(seconds), times)


def origins_sentence(origins: list[RowsOfOrigin]) -> str:
    """Say in one line that rows of several origins meet, and in what they differ; empty where they do not.

    >>> base = {"sources": "8c", "commit": "f00", "python": "3.11.2", "machine": "Linux", "packages": {"numba": "0.68"}}
    >>> one, other = RowsOfOrigin(base, 40, 1.0, ()), RowsOfOrigin({**base, "sources": "9d"}, 20, 1.0, ())
    >>> origins_sentence([one]), origins_sentence([one, other])
    ('', 'rows of 2 origins meet: 40 of sources 8c; 20 of sources 9d')
    >>> origins_sentence([one, RowsOfOrigin({}, 20, 1.0, ())])
    'rows of 2 origins meet: 40 of sources 8c, commit f00, python 3.11.2, machine Linux; 20 of origin unknown'
    >>> origins_sentence([one, RowsOfOrigin({**base, "hash_seed": "6640"}, 20, 1.0, ())])
    ''
    >>> origins_sentence([RowsOfOrigin({}, 20, 1.0, ())])
    '20 rows: origin unknown'
    """
    if len({one.facts["hash_seed"] for one in origins if "hash_seed" in one.facts}) == 1:
        origins = _without_hash_seed(origins)
    if len(origins) < 2:
        return "".join(f"{one.rows} rows: {UNKNOWN}" for one in origins if not one.facts)
    flat = [_flat(one.facts) for one in origins]
    names = list(dict.fromkeys([*_TOLD, *(name for facts in flat for name in facts)]))
    unlike = [name for name in names if len({facts.get(name) for facts in flat if facts}) > 1]
    differing = unlike or [name for name in _TOLD if any(name in facts for facts in flat)]
    parts = [f"{one.rows} of {_told(facts, differing)}" for one, facts in zip(origins, flat)]
    return f"rows of {len(origins)} origins meet: {'; '.join(parts)}"


def _without_hash_seed(origins: Iterable[RowsOfOrigin]) -> list[RowsOfOrigin]:
    """Return origins without the hash seed, which rows of the user's code alone have."""
    merged: dict[str, RowsOfOrigin] = {}
    for one in origins:
        facts = {name: fact for name, fact in one.facts.items() if name != "hash_seed"}
        before = merged.get(key := canonical(facts))
        merged[key] = one._replace(facts=facts, rows=one.rows + (before.rows if before else 0))
    return list(merged.values())


def _flat(facts: dict[str, Any]) -> dict[str, str]:
    single = {name: str(value) for name, value in facts.items() if not isinstance(value, dict)}
    return {**single, **facts.get("packages", {})}


def _told(facts: dict[str, str], names: list[str]) -> str:
    return ", ".join(f"{name} {facts[name]}" for name in names if name in facts) or UNKNOWN


_ROOT = Path(__file__).parent.parent
_COMPUTES = ("numba", "llvmlite", "numpy", "scipy")
"""The packages whose version may show in the bits of a result."""

LOOK_SECONDS = 0.2
_looked = float("-inf")
"""When this process last looked whether its sources are as they were."""


def sources() -> str:
    """Return a digest of every source and data file of this package, as this process imported them.

    Raises
    ------
    WorkbenchError
        One was edited between the import and the first call.
    """
    return _taken().digest


class _File(NamedTuple):
    name: str
    """The path as a text, which is looked at in half the time."""
    state: tuple[int, int, int]
    digest: bytes


class _Taken(NamedTuple):
    digest: str
    files: dict[Path, _File]


@functools.cache
def _taken() -> _Taken:
    whole, files = hashlib.blake2b(digest_size=8), {}
    for path in sorted(p for p in _ROOT.rglob("*") if p.suffix in (".py", ".yaml")):
        state, content = _state(name := str(path)), path.read_bytes()
        _refuse_later(path, state)
        files[path] = _File(name, state, _digest_of_files(content))
        whole.update(str(path.relative_to(_ROOT)).encode() + b"\0" + content + b"\0")
    return _Taken(whole.hexdigest(), files)


def _state(path: str) -> tuple[int, int, int]:
    try:
        now = os.stat(path)
    except OSError:
        return 0, 0, 0
    return now.st_mtime_ns, now.st_size, now.st_ino


def _digest_of_files(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _refuse_later(path: Path, state: tuple[int, int, int]) -> None:
    """Refuse a file that was edited after the import; times of another clock tell nothing."""
    if IMPORTED_NS < state[0] <= time.time_ns() and not on_network(_ROOT):
        raise _edited(path)


def _edited(path: Path) -> WorkbenchError:
    return WorkbenchError(
        f"{path.relative_to(_ROOT.parent)} was edited after this process imported the workbench; restart the process "
        "(in a notebook, the kernel), so that all of it computes with the same sources."
    )


class Origin(NamedTuple):
    """What determines the bits of a run beside its setup and its seed."""

    sources: str
    versions: dict[str, str]
    """Python (major and minor) and the packages that compute."""


def check_unedited() -> None:
    """Refuse to go on in a process that imported other sources of this package than there are now.

    It would compute some things with the old ones and, as rooms are imported when they are first needed, others with
    the new ones. It looks at times and sizes (2 ms), at most five times a second.

    Raises
    ------
    WorkbenchError
        A file was edited since; the sentence names it.
    """
    global _looked
    files = _taken().files
    if time.monotonic() - _looked < LOOK_SECONDS:
        return
    for path, file in files.items():
        if _state(file.name) != file.state and not (
            path.is_file() and _digest_of_files(path.read_bytes()) == file.digest
        ):
            raise _edited(path)
    _looked = time.monotonic()


@functools.cache
def origin() -> Origin:
    """Return what this process computes with."""
    python = ".".join(platform.python_version_tuple()[:2])
    return Origin(sources(), {"Python": python, **{name: importlib.metadata.version(name) for name in _COMPUTES}})


def differences(worker: Origin, driver: Origin) -> str:
    """Return what a worker has and the driver has otherwise, as part of a sentence; empty where they agree.

    >>> mine = Origin("8c", {"Python": "3.11", "numba": "0.68.1"})
    >>> differences(Origin("8c", {"Python": "3.11", "numba": "0.67.0"}), mine)
    'numba 0.67.0 (the driver: 0.68.1)'
    >>> differences(Origin("9d", {"Python": "3.12", "numba": "0.68.1"}), mine)
    'Python 3.12 (the driver: 3.11) and other sources of the workbench, 9d (the driver: 8c)'
    """
    differing = [
        f"{name} {worker.versions.get(name)} (the driver: {version})"
        for name, version in driver.versions.items()
        if worker.versions.get(name) != version
    ]
    if worker.sources != driver.sources:
        differing.append(f"other sources of the workbench, {worker.sources} (the driver: {driver.sources})")
    return " and ".join(differing)


def check_origin(driver: Origin) -> None:
    """Refuse to work for a driver that computes with something else.

    Raises
    ------
    WorkbenchError
        They differ; the sentence names every difference.
    """
    if difference := differences(origin(), driver):
        raise WorkbenchError(
            f"a worker has {difference}; install the same versions everywhere, or start again if sources were edited "
            "while this ran."
        )


def check_hash_seed() -> None:
    """Refuse to execute a user's code in a worker that orders sets of texts in its own way.

    Raises
    ------
    WorkbenchError
        It does: it is a worker of a cluster or an executor that somebody else started.
    """
    if not has_fixed_hash_seed():
        raise WorkbenchError(
            f"a worker has the hash seed {hash_seed()!r}, by which code of your own that goes through a set of texts "
            f"may give other numbers than elsewhere; start the workers with {VARIABLE}={FIXED} in their environment."
        )
