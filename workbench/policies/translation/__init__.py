"""Who already holds this translation, what is filled, what is evicted? (spec 4)"""

from workbench.policies.policy import exported
from workbench.policies.translation.cores import degree
from workbench.policies.translation.eviction.recency import Random as RandomEviction
from workbench.policies.translation.locate import directory_bits, entry_bits, equal_area_entries, record_bits
from workbench.policies.translation.peer import Random as RandomPeer

globals().update(exported(__name__))
