"""The name of a run: a digest of everything that determines it."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical(value: Any) -> str:
    """Return plain types as one text: keys sorted, no blanks, numbers as Python writes them.

    >>> canonical({"b": 1, "a": [0.5, True]})
    '{"a":[0.5,true],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=True)


def digest(text: str) -> str:
    """Return 32 hexadecimal digits of BLAKE2b."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


Revision = int | tuple[int, str]
"""Of an engine: its number; of one that is not part of this package with the digest of its code."""


def point_id(identity: dict[str, Any], revision: Revision) -> str:
    """Return the name of a setup under one revision of its engine."""
    return digest(canonical({"revision": revision, **identity}))


def run_id(point: str, seed: int) -> str:
    """Return the name of one run of a setup."""
    return digest(f"{point}/{seed}")
