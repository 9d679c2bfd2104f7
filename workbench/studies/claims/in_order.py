"""In which order do claims of a specification stand?"""

from __future__ import annotations


def in_order(id: str) -> tuple[int, str]:
    """Return the number of a claim in its specification, then the letter of one that is stated beside it.

    >>> sorted(["H3.10", "H3.9b", "H3.9"], key=in_order)
    ['H3.9', 'H3.9b', 'H3.10']
    """
    last = id.rsplit(".", 1)[1]
    return int(last.rstrip("bcd")), last
