"""Paths between cards by writing out every one of them (spec 5, R17, E8)."""

from itertools import pairwise


def every_path(direct, one, other, most):
    """All simple paths of at most so many direct links, as lists of cards."""
    result, open_ends = [], [[one]]
    while open_ends:
        path = open_ends.pop()
        if path[-1] == other:
            result.append(path)
        elif len(path) <= most:
            open_ends += [[*path, k] for k in range(len(direct)) if direct[path[-1]][k] and k not in path]
    return result


def narrowest(direct, path):
    """The bandwidth of the path's slowest link."""
    return min((direct[a][b] for a, b in pairwise(path)), default=float("inf"))


def best_path(direct, one, other, most, factor=1.0):
    """(score, path): the largest narrowest link, times `factor` a further hop; fewer hops, then lower ids at a tie."""
    ranked = [(-narrowest(direct, p) * factor ** (len(p) - 2), len(p), p) for p in every_path(direct, one, other, most)]
    if not ranked:
        return 0.0, ()
    score, _, path = min(ranked)
    return -score, tuple(path)


def sum_of_paths(direct, one, other, most):
    """Take the widest path away with all its links, then the widest of what is left: what they carry together (E8)."""
    left = [list(row) for row in direct]
    width, path = best_path(left, one, other, most)
    if not path:
        return 0.0
    for a, b in pairwise(path):
        left[a][b] = left[b][a] = 0.0
    return width + sum_of_paths(left, one, other, most)
