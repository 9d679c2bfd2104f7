"""The key-value cache of a server of language models as requests for memory.

While a model answers, it keeps two vectors a layer of every token so far: the key-value cache, which grows by a token a
step until the answer ends, nobody knows when. How that memory is laid out decides how many requests run at once.

References
----------
Kwon et al., Efficient Memory Management for Large Language Model Serving with PagedAttention, SOSP 2023
(arXiv 2309.06180): section 3 (800 KB a token of OPT-13B, regions of the longest length), 4.3 and 4.5 (blocks on demand;
first come, first served; the latest is preempted, all of its blocks at once, and computed anew), 4.4 (shared prefixes),
6.1 (the three ways to reserve that it compares with).
"""

from workbench.workloads.serving.layouts import CacheLayout, Paged, ReserveExact, ReserveLongest, ReservePowerOfTwo
from workbench.workloads.serving.server import Served
from workbench.workloads.serving.serving import Serving
from workbench.workloads.serving.traffic import Traffic

__all__ = [
    "CacheLayout",
    "Paged",
    "ReserveExact",
    "ReserveLongest",
    "ReservePowerOfTwo",
    "Served",
    "Serving",
    "Traffic",
]
