"""Heaps and locks: what does not go together, and what a heap gives back."""

from __future__ import annotations

from tests.junk import refusal
from workbench.policies.malloc import AtomicPointer, BitmapArena, BumpPointer, TrylockBackoff
from workbench.policies.policy import policies


def test_what_does_not_go_together_is_one_sentence():
    message = refusal(BitmapArena, placement="byte_counter")
    assert message.startswith(
        "bitmap_arena.placement must give each request one range with an address. Got byte_counter."
    )
    assert "at least first_cycles (64). Got 8. Nearest: 64." in refusal(TrylockBackoff, most_cycles=8)


def test_a_bump_pointer_keeps_what_is_freed():
    heaps = [cls() for cls in policies("heap").values() if cls.built_in]
    assert [heap.name for heap in heaps if not heap.gives_back] == [AtomicPointer.name, BumpPointer.name]
