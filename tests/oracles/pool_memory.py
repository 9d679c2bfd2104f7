"""Memory of a pool's record, event by event: what is in use, got from drivers, lent, and where regions lie."""

from __future__ import annotations

GRANTED = {"cached", "physical", "stitched"}
OUTCOMES = ["cached", "physical", "stitched", "refused", "misjudged", "released", *["nothing"] * 4]
"""By the numbers of the record."""


def events(record):
    """One dictionary a request: what it changed."""
    for row in range(len(record.time)):
        outcome = OUTCOMES[record.outcome[row]]
        origin = int(record.allocation[row])
        yield {
            "row": row,
            "outcome": outcome,
            "card": int(record.card[row]),
            "origin": origin,
            "borrower": int(record.borrower[origin]),
            "taken": int(record.taken[origin]),
            "asked": int(record.asked[origin]),
        }


def changes(record):
    """One by one, what comes to a card and what leaves it: of a request its release, its moves, its grant."""
    moves = record.moves.tolist()
    for event in events(record):
        row, region = event["row"], event["origin"]
        if event["outcome"] == "released":
            yield row, "leaves", region, event["card"], None, int(record.taken[row])
        while moves and moves[0][0] == row:
            _, moved, left, to, address, before, after, _ = moves.pop(0)
            yield row, "leaves", moved, left, None, before
            yield row, "comes", moved, to, address, after
        if event["outcome"] in GRANTED:
            yield row, "comes", region, event["card"], int(record.identifier[row]), event["taken"]
    assert not moves


def stays(record):
    """Where regions lay: [region, card, address, bytes, first request, last, first nanosecond, last], as they began."""
    result, here, begun = [], {}, {(row, region): begin for row, region, *_, begin in record.moves.tolist()}
    for row, what, region, card, address, size in changes(record):
        moment = begun.get((row, region))
        if what == "leaves":
            assert here[region][1] == card and here[region][3] == size
            end = int(record.done[row]) if moment is None else moment
            here[region][6] = min(here[region][6], end)
            here.pop(region)[5::2] = row, end
        else:
            moment = int(record.answered[row]) if moment is None else moment
            here[region] = [region, card, address, size, row, len(record.time), moment, max(record.answered.tolist())]
            result.append(here[region])
    return result


def used(record, what="taken"):
    """After every request: bytes in use by card, of the regions or as they were asked for."""
    now, after, coming = [0] * len(record.cards), [], list(changes(record))
    for row in range(len(record.time)):
        while coming and coming[0][0] == row:
            _, way, region, card, _, size = coming.pop(0)
            size = size if what == "taken" else int(record.asked[region])
            now[card] += size if way == "comes" else -size
        after.append(list(now))
    return after


def got(record):
    """After every request: bytes got from each card's driver and not given back."""
    now, after, calls = [0] * len(record.cards), [], record.calls.tolist()
    for row in range(len(record.time)):
        while calls and calls[0][0] == row:
            _, card, _, size = calls.pop(0)
            now[card] += size
        after.append(list(now))
    assert not calls
    return after


def lent(record):
    """Bytes by lender and borrower, over the whole run."""
    table = {}
    for region, card, _, size, *_ in stays(record):
        own = int(record.borrower[region])
        if card != own:
            pair = record.cards[card], record.cards[own]
            table[pair] = table.get(pair, 0) + size
    return table


def regions(record, card):
    """Of a card: from which request to which, where, how long, whether another card's application has it."""
    result = []
    for region, lies, address, size, first, last, *_ in sorted(stays(record), key=lambda stay: stay[0]):
        as_granted = OUTCOMES[record.outcome[region]] == "stitched" and first == region
        if lies == card and not as_granted:
            result.append((first, last, address, size, int(record.borrower[region]) != card))
    return result
