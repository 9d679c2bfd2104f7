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


def used(record, what="taken"):
    """After every request: bytes in use by card, of the regions or as they were asked for."""
    now, after = [0] * len(record.cards), []
    for event in events(record):
        if event["outcome"] in GRANTED:
            now[event["card"]] += event[what]
        elif event["outcome"] == "released":
            now[event["card"]] -= event[what]
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
    for event in events(record):
        if event["outcome"] in GRANTED and event["card"] != event["borrower"]:
            pair = record.cards[event["card"]], record.cards[event["borrower"]]
            table[pair] = table.get(pair, 0) + event["taken"]
    return table


def regions(record, card):
    """Of a card: from which request to which, where, how long, whether another card's application has it."""
    found, open_ = [], {}
    for event in events(record):
        if event["card"] != card or event["outcome"] == "stitched":
            continue
        if event["outcome"] in GRANTED:
            where = int(record.identifier[event["row"]])
            open_[event["row"]] = [event["row"], len(record.time), where, event["taken"], event["borrower"] != card]
            found.append(open_[event["row"]])
        elif event["outcome"] == "released" and event["origin"] in open_:
            open_.pop(event["origin"])[1] = event["row"]
    return [tuple(one) for one in found]
