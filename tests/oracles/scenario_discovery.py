"""The peel of scenario discovery in another form: points are mappings, boxes are lists of them, all in fractions."""

from __future__ import annotations

import math
from fractions import Fraction


def slices(points, lever, alpha):
    """Yield what stays when one slice of a lever is taken off, low before high, or value by value."""
    least = max(1, math.ceil(Fraction(str(alpha)) * len(points)))
    there = [point for point in points if point[lever] is not None]
    if isinstance(there[0][lever], str):
        for value in dict.fromkeys(point[lever] for point in sorted(points, key=lambda p: p["order"][lever])):
            yield [point for point in points if point[lever] != value]
        return
    for rising in (True, False):
        kept, lost = there, len(points) - len(there)
        for value in sorted({point[lever] for point in there}, reverse=not rising):
            if lost >= least:
                break
            kept = [point for point in kept if point[lever] != value]
            lost = len(points) - len(kept)
        yield kept


def density(points):
    return Fraction(sum(point["hit"] for point in points), len(points))


def peeled(points, levers, alpha=0.05, least_mass=0.05):
    """Return the points of every box, from all of them inwards."""
    least = max(1, math.ceil(Fraction(str(least_mass)) * len(points)))
    boxes = [points]
    while density(boxes[-1]) < 1:
        inside, best, best_score = boxes[-1], None, None
        for lever in levers:
            for kept in slices(inside, lever, alpha):
                if not least <= len(kept) < len(inside):
                    continue
                gain = (density(kept) - density(inside)) / (len(inside) - len(kept))
                if best is None or (gain, len(kept)) > best_score:
                    best, best_score = kept, (gain, len(kept))
        if best is None:
            break
        boxes.append(best)
    return boxes
