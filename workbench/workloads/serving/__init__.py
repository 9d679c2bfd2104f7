"""The key-value cache of servers of language models as requests for memory, from drawn or recorded traffic."""

from workbench.workloads.serving.cache_layout import Paged, ReserveExact, ReserveLongest, ReservePowerOfTwo
from workbench.workloads.serving.key_value_cache import Serving, ServingCache
from workbench.workloads.serving.serving_file import ServingFile
from workbench.workloads.serving.traffic import Traffic
