"""A journal that tells what cannot be is refused in a sentence, at once, before any of it is taken up."""

import signal

import pytest

from tests.pool_service.test_ledger import BOARD, KINDS, over
from tests.pool_service.test_restart import SlowService
from workbench.errors import InputError
from workbench.pool_service.arenas import Slots
from workbench.pool_service.holdings import CLIENT, HOLD, SEGMENT, packed
from workbench.pool_service.protocol import region_id

BYTES = BOARD.cards[1].memory_bytes
AT = Slots(BYTES).take(64)
REGION = region_id(1, AT)
SOUND_CLIENT = packed(CLIENT, 1, 1, 1, 1)
SOUND_SEGMENT = packed(SEGMENT, 1, 0, AT, 64)
SOUND = SOUND_CLIENT + SOUND_SEGMENT
DAMAGED = {
    "a holder that is no client": SOUND_SEGMENT + packed(HOLD, 1, REGION, 64, 1),
    "a region in no driver allocation": SOUND_CLIENT + packed(HOLD, 1, REGION, 64, 1),
    "a card that is not there": packed(SEGMENT, 99, 0, AT, 64),
    "a card below nought": packed(SEGMENT, -1, 0, AT, 64),
    "a pool that is not there": packed(SEGMENT, 1, 2, AT, 64),
    "more bytes than a card": packed(SEGMENT, 1, 0, 0, 1 << 60),
    "more bytes than a card together": b"".join(packed(SEGMENT, 1, 0, AT + 64 * k, 64) for k in range(BYTES // 64 + 1)),
    "a place beyond the arena": packed(SEGMENT, 1, 0, 1 << 60, 64),
    "a place between two slots": packed(SEGMENT, 1, 0, AT + 1, 64),
    "two regions with bytes in common": SOUND + packed(HOLD, 1, REGION, 32, 1) + packed(HOLD, 1, REGION + 31, 33, 2),
    "a region beyond its allocation": SOUND + packed(HOLD, 1, REGION, 65, 1),
    "a region without bytes": SOUND + packed(HOLD, 1, REGION, 0, 1),
    "a client on no card": packed(CLIENT, 1, 1, 1, 9),
    "the last number of a client": packed(CLIENT, (1 << 63) - 1, 1, 1, 1),
    "no process": packed(CLIENT, 1, -1, 1, 1),
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_what_cannot_be_is_refused(tmp_path, text):
    (tmp_path / "journal").write_bytes(text)
    with pytest.raises(InputError, match="journal: contradicts itself; clear the folder with --clear"):
        over(tmp_path / "journal")


def test_with_buddies_a_region_is_a_half_of_a_half(tmp_path):
    (tmp_path / "journal").write_bytes(SOUND + packed(HOLD, 1, REGION + 3, 7, 1))
    with pytest.raises(InputError, match="contradicts itself"):
        over(tmp_path / "journal", **KINDS["buddies"])


def test_what_can_be_is_taken_up(tmp_path):
    (tmp_path / "journal").write_bytes(SOUND + packed(HOLD, 1, REGION, 32, 1) + packed(HOLD, 1, REGION + 32, 32, 2))
    _, result = over(tmp_path / "journal")
    assert result.state(1) == (64, 0)


def test_an_interrupt_while_it_loads_gives_the_folder_up_without_a_word(folder):
    service = SlowService(folder)
    service.process.send_signal(signal.SIGINT)
    assert service.process.communicate(timeout=120)[0] == ""
    assert service.process.returncode == 130
    assert not folder.exists()
