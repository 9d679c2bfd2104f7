"""Faults that are planted into the twin, and the test that finds each."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.oracles.node.planting import call, planted

pytestmark = pytest.mark.slow


class Fault(NamedTuple):
    """A text of a file, a wrong one in its place, and a test with its arguments that fails for it."""

    file: str
    right: str
    wrong: str
    test: str
    arguments: tuple[Any, ...] = ()


FAULTS = {
    "rounds come before releases": Fault(
        "calendar.py", "RELEASE = 1\n", "RELEASE = 16\n", "test_node_vectors.test_v1_waves_of_groups", (2, 200)
    ),
    "the last in the queue is walked first": Fault(
        "walkers.py", "self._queue.popleft()", "self._queue.pop()", "test_node_theory.test_walkers_are_a_queue"
    ),
    "a walk ends before its bytes have come": Fault(
        "walkers.py", "self._reach(walk, lambda: self._arrived(walk))", "self._arrived(walk)",
        "test_node_links.test_walks_and_data_of_a_remote_page_pass_the_link",
    ),
    "stalls add up": Fault(
        "translation.py", "now, until = self._calendar.now, self._calendar.now + cycles",
        "now, until = self._calendar.now, max(self.cores[core].stalled_until, self._calendar.now) + cycles",
        "test_node_translation.test_overlapping_stalls_end_with_the_later",
    ),
    "a walk of an unmapped page fills": Fault(
        "translation.py", "if not walk.unmapped:", "if True:",
        "test_node_translation.test_a_page_that_is_unmapped_under_way_is_answered_and_fills_nothing",
    ),
    "a copy of an unmapped page fills": Fault(
        "translation.py", "*self._copies, ", "",
        "test_node_translation.test_a_copy_of_a_page_that_is_unmapped_under_way_fills_nothing",
    ),
    "a blocked access looks at every request": Fault(
        "translation.py", "if one.queue and not one.blocked and", "if one.queue and",
        "test_node_translation.test_a_blocked_access_looks_again_when_a_register_is_freed",
    ),
    "a shoot-down goes to each page's holders once more": Fault(
        "node.py", "return sorted({core for page in pages for core in translation.holders(page.tag)})",
        "return sorted(core for page in pages for core in translation.holders(page.tag))",
        "test_node_measures.test_shootdowns_are_counted_once_a_module",
    ),
    "a neutral shoot-down takes a cycle": Fault(
        "node.py", ".stall(core, self.couplings.shootdown_cycles)", ".stall(core, self.couplings.shootdown_cycles + 1)",
        "test_node_decoupling.test_translation_alone", (20,),
    ),
    "neutral touches hold their group": Fault(
        "groups.py", 'holds = self._around.couplings.touches_hold == "group"', "holds = True",
        "test_node_decoupling.test_dispatcher_alone", (1,),
    ),
    "a link's remainder is lost": Fault(
        "links.py", "return share + (rest if sharing[0] is transfer else 0)", "return share",
        "test_node_links.test_the_remainder_goes_to_the_earliest",
    ),
    "shares are not computed anew at an end": Fault(
        "links.py", "        self._under_way.remove(transfer)\n        self._share()\n",
        "        self._under_way.remove(transfer)\n",
        "test_node_links.test_two_share_until_one_ends",
    ),
    "the lock is held during the split": Fault(
        "heap.py", "end = self._calendar.now + self._machine.hold_cycles",
        "end = self._calendar.now + self._machine.hold_cycles + self._machine.split_cycles",
        "test_node_heaps.test_waves_wait_for_the_lock_in_order",
    ),
    "a heap forgets what a group had": Fault(
        "node.py", "            self.give_blocks(part, part.blocks)\n", "            pass\n",
        "test_node_heaps.test_a_group_frees_what_it_allocated",
    ),
    "a free waits for nobody": Fault(
        "streams.py", "if tensor.users or not tensor.granted:", "if not tensor.granted:",
        "test_node_memory.test_a_free_waits_for_the_kernels_that_name_its_tensor",
    ),
    "who waits for memory is overtaken": Fault(
        "pool.py", "card = None if self._waiting else self._card_for", "card = self._card_for",
        "test_node_memory.test_nobody_is_overtaken",
    ),
    "a refused application keeps its tensors": Fault(
        "node.py", "            if tensor.granted:\n", "            if tensor.granted and not program.refused:\n",
        "test_node_memory.test_a_refused_application_ends",
    ),
    "a granule is lost at each release": Fault(
        "frames.py", "given = [], sorted([*self.free, *runs])", "given = [], sorted([*self.free, *runs])[1:]",
        "test_node_pool.test_a_card_pages_memory",
    ),
    "the wait behind a stall is all issue": Fault(
        "times.py", "    for first, until in stalls:\n", "    for first, until in stalls[:0]:\n",
        "test_node_saturation.test_one_cycle_after_the_other",
    ),
    "a joined access has the time of its miss from the beginning": Fault(
        "touch.py", "self.miss.trail.spans(self.issued_at, ", "self.miss.trail.spans(0, ",
        "test_node_conservation.test_a_coupled_node", (12,),
    ),
    "draws follow the order of events": Fault(
        "draws.py", "    state = _mixed(seed & MASK)\n",
        '    globals()["DRAWS"] = globals().get("DRAWS", 0) + 1\n    state = _mixed(seed + DRAWS & MASK)\n',
        "test_node_conservation.test_policies_do_not_move_the_workload", (0,),
    ),
    "pointers turn with refused groups too": Fault(
        "module.py", "        counts, _ = self._split(demand.waves, len(self.slots), self.pointer)\n",
        "        counts, self.pointer = self._split(demand.waves, len(self.slots), self.pointer)\n",
        "test_node_dispatch.test_pointers_turn_with_what_is_placed",
    ),
    "the order of a page's touches is forgotten": Fault(
        "patterns.py", "return list(pages)", "return sorted(pages)", "test_node_patterns.test_shared_and_stride",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str) -> None:
    fault = FAULTS[name]
    call(fault.test, *fault.arguments)
    with planted(fault.file, fault.right, fault.wrong), pytest.raises(AssertionError):
        call(fault.test, *fault.arguments)


def test_planting_leaves_the_twin_as_it_was() -> None:
    fault = FAULTS["rounds come before releases"]
    with planted(fault.file, fault.right, fault.wrong):
        pass
    call(fault.test, *fault.arguments)
