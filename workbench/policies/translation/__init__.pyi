"""The policies as type checkers and editors see them; the package itself finds them in its modules."""

from workbench.policies.translation import peer
from workbench.policies.translation.cores import degree as degree
from workbench.policies.translation.eviction import recency
from workbench.policies.translation.eviction.frequency import LFU as LFU
from workbench.policies.translation.eviction.ghost_lists import ARC as ARC
from workbench.policies.translation.eviction.ghost_lists import S3FIFO as S3FIFO
from workbench.policies.translation.eviction.question import Eviction as Eviction
from workbench.policies.translation.eviction.recency import FIFO as FIFO
from workbench.policies.translation.eviction.recency import LRU as LRU
from workbench.policies.translation.eviction.recency import MRU as MRU
from workbench.policies.translation.eviction.recency import TreePLRU as TreePLRU
from workbench.policies.translation.eviction.rereference import DRRIP as DRRIP
from workbench.policies.translation.eviction.rereference import SRRIP as SRRIP
from workbench.policies.translation.eviction.sharing import ProtectLowDegree as ProtectLowDegree
from workbench.policies.translation.eviction.sharing import SharingAwareEviction as SharingAwareEviction
from workbench.policies.translation.fill import ByThreshold as ByThreshold
from workbench.policies.translation.fill import DemandAlways as DemandAlways
from workbench.policies.translation.fill import Fill as Fill
from workbench.policies.translation.fill import GateAny as GateAny
from workbench.policies.translation.fill import GatePair as GatePair
from workbench.policies.translation.fill import GateWhenFull as GateWhenFull
from workbench.policies.translation.fill import LeaderFollower as LeaderFollower
from workbench.policies.translation.fill import PushNeighbours as PushNeighbours
from workbench.policies.translation.fill import PushPair as PushPair
from workbench.policies.translation.locate import CentralDirectory as CentralDirectory
from workbench.policies.translation.locate import Clustered as Clustered
from workbench.policies.translation.locate import Directory as Directory
from workbench.policies.translation.locate import Instant as Instant
from workbench.policies.translation.locate import Locate as Locate
from workbench.policies.translation.locate import Message as Message
from workbench.policies.translation.locate import NoDirectory as NoDirectory
from workbench.policies.translation.locate import OnResponse as OnResponse
from workbench.policies.translation.locate import Oracle as Oracle
from workbench.policies.translation.locate import OwnOnly as OwnOnly
from workbench.policies.translation.locate import OwnPlusAffine as OwnPlusAffine
from workbench.policies.translation.locate import RingProbe as RingProbe
from workbench.policies.translation.locate import Scope as Scope
from workbench.policies.translation.locate import Update as Update
from workbench.policies.translation.locate import directory_bits as directory_bits
from workbench.policies.translation.locate import entry_bits as entry_bits
from workbench.policies.translation.locate import equal_area_entries as equal_area_entries
from workbench.policies.translation.locate import record_bits as record_bits
from workbench.policies.translation.peer import FirstBit as FirstBit
from workbench.policies.translation.peer import LeastLoaded as LeastLoaded
from workbench.policies.translation.peer import Nearest as Nearest
from workbench.policies.translation.peer import Peer as Peer
from workbench.policies.translation.remote_fill import Always as Always
from workbench.policies.translation.remote_fill import Never as Never
from workbench.policies.translation.remote_fill import RemoteFill as RemoteFill
from workbench.policies.translation.remote_fill import Threshold as Threshold

RandomEviction = recency.Random
RandomPeer = peer.Random
