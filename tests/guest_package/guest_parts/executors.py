"""An executor."""

from concurrent.futures import ThreadPoolExecutor


def two_threads(workers):
    """Return an executor of two threads, or of the number that is wanted."""
    return ThreadPoolExecutor(workers or 2)
