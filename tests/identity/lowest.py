"""What every policy of the table does with its aim; compiled once for all of them."""

from numba import njit

from workbench import is_free


@njit
def from_aim(free, segments, length, aim):
    """Return the lowest feasible start from the aim on, -1 where there is none."""
    for start in range(aim, segments - length + 1):
        if is_free(free, start, length):
            return start
    return -1
