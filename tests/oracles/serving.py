"""A server of language models, step by step and token by token: who has how many blocks, and who is preempted.

A prompt takes no time and a token one step, so that everything happens at whole steps. Written without a heap, without
formulas and without the package.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Request:
    number: int
    arrival: int
    prompt: int
    answer: int
    prefix: int = -1
    done: int = 0
    running: bool = False
    finished: int = -1
    preempted: int = 0
    blocks: list[Block] = field(default_factory=list)


@dataclass
class Block:
    tokens: int
    born: int
    died: int = -1
    written: int = 0
    """Tokens in it now."""
    token_steps: int = 0


def serve(requests, capacity, size=0, reserve=None, prefix_tokens=0):
    """Blocks in the order in which they were got; `capacity` in blocks, or in tokens where `reserve` says a region."""
    blocks, shared, step = [], {}, 0

    def free():
        return capacity - sum(block.tokens // (size or 1) for block in blocks if block.died < 0)

    def got(tokens):
        blocks.append(Block(tokens, step))
        return blocks[-1]

    def common(request):
        return prefix_tokens // size * size if size and request.prefix >= 0 else 0

    def needed(request):
        if not size:
            return reserve(request.prompt, request.answer)
        own = -(-(request.prompt + request.done - common(request)) // size)
        return own + (0 if shared.get(request.prefix, (0,))[0] else common(request) // size)

    def write(request):
        """Put the tokens that there are into the blocks, one after the other."""
        left = request.prompt + request.done - common(request)
        for block in request.blocks:
            block.written = min(left, block.tokens)
            left -= block.written

    def grow(request):
        """One more block if the next token has none; the last that came gives way until there is room."""
        if not size or not request.running:
            return
        while common(request) + sum(block.tokens for block in request.blocks) <= request.prompt + request.done:
            while not free():
                last = max((one for one in requests if one.running), key=lambda one: one.number)
                leave(last)
                last.done = min(last.done, last.answer - 1)
                last.preempted += 1
                if last is request:
                    return
            request.blocks.append(got(size))

    def begin(request):
        request.running = True
        if common(request):
            users, held = shared.get(request.prefix, (0, []))
            if not users:
                held = [got(size) for _ in range(common(request) // size)]
                for block in held:
                    block.written = size
            shared[request.prefix] = (users + 1, held)
        if size:
            for _ in range(-(-(request.prompt + request.done - common(request)) // size)):
                request.blocks.append(got(size))
        else:
            request.blocks.append(got(needed(request)))
        write(request)

    def leave(request):
        request.running = False
        for block in request.blocks:
            block.died = step
        request.blocks = []
        if common(request):
            users, held = shared[request.prefix]
            shared[request.prefix] = (users - 1, held)
            for block in [] if users > 1 else held:
                block.died = step

    def admit():
        while True:
            waiting = [
                r for r in requests if not r.running and r.finished < 0 and r.arrival <= step and r.number in came
            ]
            if not waiting or needed(waiting[0]) > free():
                return
            begin(waiting[0])

    came: set[int] = set()
    while any(request.finished < 0 for request in requests):
        for request in requests:
            if request.running and request.done == request.answer:
                leave(request)
                request.finished = step
                admit()
        for request in requests:
            grow(request)
        for request in requests:
            if request.arrival == step:
                came.add(request.number)
                admit()
                for started in requests:
                    grow(started)
        for block in blocks:
            block.token_steps += block.written if block.died < 0 else 0
        step += 1
        for request in requests:
            if request.running:
                request.done += 1
                write(request)
    return blocks
