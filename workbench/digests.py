"""Digests of plain types: one canonical text, and its digest."""

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
