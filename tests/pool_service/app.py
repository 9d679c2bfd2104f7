"""An application of its own process for the tests: `python -m tests.pool_service.app FOLDER CARD`, told what to do.

Each line on its standard input is `alloc BYTES`, `write REGION TEXT`, `read REGION`, `free REGION` or `open REGION`; it
answers with a line each.
"""

import sys

from workbench.errors import WorkbenchError
from workbench.pool_service import PoolClient


def main(folder, card):
    held = {}
    with PoolClient(folder, card, patience_s=300) as client:
        print("ready", flush=True)
        for line in sys.stdin:
            what, *words = line.split()
            try:
                print(answer(client, held, what, words), flush=True)
            except WorkbenchError as problem:
                print(type(problem).__name__, problem, flush=True)


def answer(client, held, what, words):
    if what in ("alloc", "open"):
        region = client.alloc(int(words[0])) if what == "alloc" else client.open(int(words[0]))
        held[region.id] = region
        return f"{region.id} {region.card}"
    region = held[int(words[0])]
    if what == "write":
        region.memory[: len(words[1])] = words[1].encode()
    elif what == "free":
        left = bytes(region.memory[:8]).rstrip(b"\0").decode()
        client.free(region)
        return left
    return bytes(region.memory[:8]).rstrip(b"\0").decode()


if __name__ == "__main__":
    main(*sys.argv[1:])
