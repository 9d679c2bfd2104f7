"""Who already holds this translation, what is filled, what is evicted? (spec 4)"""

from workbench.policies.translation.area import directory_bits, entry_bits, equal_area_entries, record_bits
from workbench.policies.translation.bitmap_text import degree
from workbench.policies.translation.eviction import (
    FIFO,
    LRU,
    MRU,
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
)
from workbench.policies.translation.peer import FirstBit, LeastLoaded, Nearest, Peer
from workbench.policies.translation.peer import Random as RandomPeer
from workbench.policies.translation.remote_fill import Always, Never, RemoteFill, Threshold

__all__ = [
    "FIFO",
    "LRU",
    "MRU",
    "SRRIP",
    "Always",
    "CentralDirectory",
    "Clustered",
    "DemandAlways",
    "Directory",
    "Eviction",
    "Fill",
    "FirstBit",
    "GateAny",
    "GatePair",
    "GateWhenFull",
    "Instant",
    "LeaderFollower",
    "LeastLoaded",
    "Locate",
    "Message",
    "Nearest",
    "Never",
    "NoDirectory",
    "OnResponse",
    "Oracle",
    "OwnOnly",
    "OwnPlusAffine",
    "Peer",
    "ProtectLowDegree",
    "PushNeighbours",
    "PushPair",
    "RandomEviction",
    "RandomPeer",
    "RemoteFill",
    "RingProbe",
    "SharingAwareEviction",
    "Threshold",
    "TreePLRU",
    "degree",
    "directory_bits",
    "entry_bits",
    "equal_area_entries",
    "record_bits",
]
