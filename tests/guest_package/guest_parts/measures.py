"""A measure of shared memory."""

import workbench as wb


@wb.measure(unit="cycles", better="lower", description="how long the longest request waits")
def longest_wait(record):
    """Return the longest wait."""
    return (record.grant - record.arrival).max()
