"""Slow, obvious twins of the module choices, written from the sentences of spec 3, Em. 9 and 10, and section 7.

What a twin is told of a module is a dictionary: `free`, `longest` and `recent` are lists, `heat` is a number. Numbers
are fractions, so nothing is rounded; nothing here comes from the workbench.
"""

from __future__ import annotations

from fractions import Fraction


def residual(module, totals, weights, normalise, of):
    """R70, R72, E19: the weighted sum of what is left."""
    left = [Fraction(amount) / (total if normalise else 1) for amount, total in zip(module[of], totals, strict=True)]
    return sum(Fraction(weight) * share for weight, share in zip(weights, left, strict=True))


def energy(module, weights):
    """R76: the weighted sum of the instructions of each class; the smallest wins, so its negative is the score."""
    return -sum(Fraction(weight) * Fraction(count) for weight, count in zip(weights, module["recent"], strict=True))


def shares_left(module, demand, totals):
    """What a group would leave of each resource, over what an empty module has."""
    return [Fraction(f - d, t) for f, d, t in zip(module["free"], demand, totals, strict=True)]


def length_squared(module, demand, totals):
    """Best and worst fit on the residual vector: the shorter, the fuller."""
    return sum(share**2 for share in shares_left(module, demand, totals))


def scarcest(module, demand, totals):
    """Dominant-resource fit: the smallest share that is left."""
    return min(shares_left(module, demand, totals))


def alignment(module, demand, totals):
    """Dot product of what is wanted and what is free, in shares."""
    return sum(Fraction(d, t) * Fraction(f, t) for f, d, t in zip(module["free"], demand, totals, strict=True))


def turn(modules, candidates, last):
    """R82: the candidate that comes first when one goes round from the module behind the last one taken."""
    for step in range(1, modules + 1):
        if (last + step) % modules in candidates:
            return (last + step) % modules
    return None


def normalised(scores):
    """E20: min-max over the candidates."""
    least, most = min(scores), max(scores)
    return [Fraction(0) if least == most else Fraction(score - least) / (most - least) for score in scores]


def flattened(tree, weight=Fraction(1)):
    """A sum of sums as a list of leaves with the products of the weights on the way to them; a tree is a leaf's name
    or a list of (weight, tree)."""
    if isinstance(tree, str):
        return [(tree, weight)]
    return [leaf for inner, below in tree for leaf in flattened(below, weight * Fraction(inner))]


def window(events, cycle, nx):
    """R75, E23: how many instructions of each class were executed in the cycles t - nx to t - 1."""
    counts = [0] * 6
    for at, kind, count in events:
        if cycle - nx <= at <= cycle - 1:
            counts[kind] += count
    return counts
