"""Later: once, after the last word, or not at all."""

from __future__ import annotations

import asyncio

from workbench.dashboards._background import Later


def test_without_an_event_loop_it_is_done_at_once():
    done = []
    Later(lambda: done.append(1)).start(60)
    assert done == [1]


def test_in_an_event_loop_it_waits_and_the_last_start_counts():
    done = []

    async def three_starts() -> None:
        later = Later(lambda: done.append(1))
        for _ in range(3):
            later.start(0.02)
        assert done == []
        await asyncio.sleep(0.1)  # stands for a lever at rest: in a loop what is due earlier comes first

    asyncio.run(three_starts())
    assert done == [1]


def test_what_was_called_off_is_not_done():
    done = []

    async def start_and_cancel() -> None:
        later = Later(lambda: done.append(1))
        later.start(0.01)
        later.cancel()
        await asyncio.sleep(0.05)  # stands for a lever at rest

    asyncio.run(start_and_cancel())
    assert done == []
