"""The bases of policies as type checkers and editors see them; the package imports each when it is first used."""

from workbench.policies.dispatch.admission import Admission as Admission
from workbench.policies.dispatch.choice.question import Choice as Choice
from workbench.policies.dispatch.die import Die as Die
from workbench.policies.dispatch.priority import Priority as Priority
from workbench.policies.dispatch.selection.question import Selection as Selection
from workbench.policies.dispatch.stuck import Stuck as Stuck
from workbench.policies.dispatch.units import Units as Units
from workbench.policies.malloc.arenas import Arenas as Arenas
from workbench.policies.malloc.heap import HeapPolicy as HeapPolicy
from workbench.policies.malloc.lock import HeapLock as HeapLock
from workbench.policies.malloc.serve import Serve as Serve
from workbench.policies.placement.question import Placement as Placement
from workbench.policies.placement.queueing import QueuePolicy as QueuePolicy
from workbench.policies.placement.queueing import RetryPolicy as RetryPolicy
from workbench.policies.pool.cache import Cache as Cache
from workbench.policies.pool.fit import CacheFit as CacheFit
from workbench.policies.pool.frames import Frames as Frames
from workbench.policies.pool.idle import IdleRelease as IdleRelease
from workbench.policies.pool.residency import Residency as Residency
from workbench.policies.pool.target.question import Target as Target
from workbench.policies.probes.question import Probe as Probe
from workbench.policies.translation.eviction.question import Eviction as Eviction
from workbench.policies.translation.fill import Fill as Fill
from workbench.policies.translation.locate import Locate as Locate
from workbench.policies.translation.peer import Peer as Peer
from workbench.policies.translation.remote_fill import RemoteFill as RemoteFill
