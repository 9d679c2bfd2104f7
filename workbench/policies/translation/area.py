"""What a directory's bits would buy as entries of a larger private TLB: the comparison at equal area (spec 4, V16)."""

from __future__ import annotations

from workbench.errors import wrong_value
from workbench.policies.arguments import MOST_ENTRIES, whole
from workbench.policies.translation.locate.directory import Directory

FRAME_BITS = 40
"""Of a physical frame number; an assumption, with which an entry's own size is stated."""
STATE_BITS = 8
"""Valid, permissions and recency of an entry; an assumption."""


def record_bits(page_number_bits: int, cores: int) -> int:
    """Return the bits of a directory's record: the page number, a bit a core, and the bit for the shared TLB (spec 4,
    R3, V16).

    >>> [record_bits(36, cores) for cores in (4, 16, 80)]
    [41, 53, 117]
    """
    return page_number_bits + cores + 1


def entry_bits(page_number_bits: int, frame_bits: int = FRAME_BITS, state_bits: int = STATE_BITS) -> int:
    """Return the bits of an entry of a private TLB: page number, frame number, state.

    >>> entry_bits(36)
    84
    """
    return page_number_bits + frame_bits + state_bits


def directory_bits(records: int, page_number_bits: int, cores: int, in_entries: int = 0) -> int:
    """Return the bits of one core's directory with so many records.

    Parameters
    ----------
    in_entries : int
        Records that stand in the TLB's own entries, whose page number need not be stored twice.

    >>> directory_bits(64, 36, 16), directory_bits(64, 36, 16, in_entries=32)
    (3392, 2240)
    """
    return records * record_bits(page_number_bits, cores) - in_entries * page_number_bits


def equal_area_entries(
    directory: Directory, private_entries: int, private_ways: int, cores: int, page_number_bits: int = 36
) -> int:
    """Return the entries of a private TLB without a directory that takes the bits of one with this directory.

    Rounded down to whole sets; a directory without a limit counts as one with a record for each of the core's own
    entries and as many again.

    Parameters
    ----------
    private_ways : int
        Entries of a set; 0 = fully associative, where nothing is rounded.

    Raises
    ------
    InputError
        There are no entries to compare with.

    Examples
    --------
    >>> equal_area_entries(Directory(), 32, 0, cores=16)
    72
    >>> equal_area_entries(Directory(entries=32), 32, 4, cores=80)
    76
    """
    asked = {"private_ways": private_ways, "cores": cores, "page_number_bits": page_number_bits}
    private_ways, cores, page_number_bits = (whole(name, number, 0, MOST_ENTRIES) for name, number in asked.items())
    private_entries = whole("private_entries", private_entries, None, MOST_ENTRIES)
    if private_entries < 1:
        raise wrong_value("", "private_entries", "must be at least 1", private_entries, 1)
    records = directory.entries or 2 * private_entries
    more = directory_bits(records, page_number_bits, cores) // entry_bits(page_number_bits)
    return private_entries + more // max(private_ways, 1) * max(private_ways, 1)
