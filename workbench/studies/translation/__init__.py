"""What can be said of translation without a simulation: the break-even of a directory, the bound of eviction."""

from workbench.studies.translation.belady import belady_misses
from workbench.studies.translation.break_even import BreakEven, break_even, break_even_table, pays
from workbench.studies.translation.eviction_bound import PrivateMisses, eviction_misses

__all__ = ["BreakEven", "PrivateMisses", "belady_misses", "break_even", "break_even_table", "eviction_misses", "pays"]
