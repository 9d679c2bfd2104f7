"""Who already holds this translation, what is filled, what is evicted? (spec 4)"""

from workbench.policies.translation.cores import degree
from workbench.policies.translation.eviction import (
    ARC,
    DRRIP,
    FIFO,
    LFU,
    LRU,
    MRU,
    S3FIFO,
    SRRIP,
    Eviction,
    ProtectLowDegree,
    SharingAwareEviction,
    TreePLRU,
)
from workbench.policies.translation.eviction import Random as RandomEviction
from workbench.policies.translation.fill import (
    DemandAlways,
    Fill,
    GateAny,
    GatePair,
    GateWhenFull,
    LeaderFollower,
    PushNeighbours,
    PushPair,
)
from workbench.policies.translation.locate import (
    CentralDirectory,
    Clustered,
    Directory,
    Instant,
    Locate,
    Message,
    NoDirectory,
    OnResponse,
    Oracle,
    OwnOnly,
    OwnPlusAffine,
    RingProbe,
    directory_bits,
    entry_bits,
    equal_area_entries,
    record_bits,
)
from workbench.policies.translation.peer import FirstBit, LeastLoaded, Nearest, Peer
from workbench.policies.translation.peer import Random as RandomPeer
from workbench.policies.translation.remote_fill import Always, Never, RemoteFill, Threshold
