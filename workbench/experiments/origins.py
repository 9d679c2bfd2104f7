"""The origins of rows: what computed them, how many of each there are, and a sentence where several meet."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.digests import canonical
from workbench.runs.row import Row

if TYPE_CHECKING:
    pass
from workbench.runs.origin import WHEN

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


def origins_of(rows: Iterable[Row]) -> list[RowsOfOrigin]:
    """Return the origins of rows, the largest part first; sessions that differ in their time alone are one origin.

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
    >>> origins_sentence([one, RowsOfOrigin({**base, "decimal": {"prec": "7"}}, 20, 1.0, ())])
    'rows of 2 origins meet: 40 of the usual settings; 20 of decimal prec 7'
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
    settings = {
        f"{name} {key}": value
        for name, some in facts.items()
        if isinstance(some, dict) and name != "packages"
        for key, value in some.items()
    }
    return {**single, **facts.get("packages", {}), **settings}


def _told(facts: dict[str, str], names: list[str]) -> str:
    settings = ", ".join(f"{name} {facts[name]}" for name in names if name in facts)
    return settings or ("the usual settings" if facts else UNKNOWN)
