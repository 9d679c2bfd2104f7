"""What a link of each generation carries: as measured on cards, as a library plans with it, and on paper.

Figures are of one link, of 16 lanes for PCI, per direction, in GB/s. A public measurement counts first; where there is
none, the figure that NCCL or RCCL plans with for this generation alone; else the paper figure.

References
----------
[1] NVIDIA/nccl#1264, NVIDIA/nccl-tests#100, NVIDIA/nccl#841 and others: p2pBandwidthLatencyTest of H100 SXM, A100 SXM
and A100 PCIe; MI300X. [2] NVIDIA/nccl src/graph/topo.h @ 069a3d4f95ca. [3] ROCm/rccl src/graph/topo.h @ 08814b0a9e02.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from workbench.levers import Lever

Widths = Literal["measured", "paper"]
WIDTHS_LEVER = Lever(
    "widths",
    "choice",
    "measured",
    choices=("measured", "paper"),
    description="what a link of a known type carries: what was measured, or the figure on paper; where there is no "
    "measurement, measured is what a library plans with",
)


class LinkWidth(NamedTuple):
    """The widths of one generation of links."""

    kind: str
    """The bus, as `Link.kind` names it."""
    gbps: float
    """What one link is taken to carry."""
    paper_gbps: float
    mark: Literal["measured", "planned", "paper"]
    """Where `gbps` is from."""
    source: str
    duplex: float = 2.0
    """What both directions were measured to carry together, as a multiple of one; 2 where there is no measurement."""

    def at(self, widths: Widths) -> tuple[float, float]:
        """Return the width of one link and the duplex: as taken, or on paper."""
        return (self.gbps, self.duplex) if widths == "measured" else (self.paper_gbps, 2.0)


WIDTHS = {
    "nvlink1": LinkWidth("nvlink", 18.0, 20.0, "planned", "[2], sm_60"),
    "nvlink2": LinkWidth(
        "nvlink", 25.0, 25.0, "paper", "[2] plans with 20 for sm_70 and sm_80 alike, of which the second measures 22.75"
    ),
    "nvlink3": LinkWidth("nvlink", 22.75, 25.0, "measured", "[1], 273 GB/s of 12 links; both ways 420", 1.54),
    "nvlink3_ga102": LinkWidth("nvlink", 12.0, 14.0625, "planned", "[2], sm_86"),
    "nvlink4": LinkWidth("nvlink", 20.6, 25.0, "measured", "[1], 371 to 377 GB/s of 18 links; [2] plans with 20.6"),
    "nvlink5": LinkWidth("nvlink", 40.1, 50.0, "planned", "[2], sm_100"),
    "nvlink_c2c": LinkWidth("nvlink", 345.0, 450.0, "planned", "NCCL's topology files, NVIDIA/nccl#2202"),
    "xgmi_mi200": LinkWidth("xgmi", 36.0, 50.0, "planned", "[3], MI200_XGMI_WIDTH"),
    "xgmi_mi300": LinkWidth("xgmi", 48.4, 64.0, "measured", "[1], one link of MI300X; [3] plans with 48"),
    "pcie3": LinkWidth("pcie", 16.0, 16.0, "paper", "no public measurement is cited"),
    "pcie4": LinkWidth("pcie", 24.5, 32.0, "measured", "[1], A100 PCIe at one socket; both ways 41.1", 1.68),
    "pcie5": LinkWidth("pcie", 64.0, 64.0, "paper", "no public measurement is cited"),
}

_OF_CARDS = {
    ("nvlink5", "pcie5"): ("GB300", "B300", "GB200", "B200", "B100"),
    ("nvlink4", "pcie5"): ("GH200", "H200", "H100", "H800", "H20"),
    ("nvlink3_ga102", "pcie4"): ("A40", "A10", "A6000", "A5000", "A4000", "RTX 3090"),
    ("nvlink3", "pcie4"): ("A100", "A800", "A30"),
    ("nvlink2", "pcie3"): ("V100",),
    ("nvlink1", "pcie3"): ("P100",),
    ("xgmi_mi300", "pcie5"): ("MI300X", "MI300A", "MI325X"),
    ("xgmi_mi200", "pcie4"): ("MI250X", "MI250", "MI210"),
}
TYPES_OF_CARD = {name: types for types, names in _OF_CARDS.items() for name in names}
"""The types of a card's links to other cards and of its PCI connection, the newest cards of each maker first."""

_OF_SM = ((100, "nvlink5"), (90, "nvlink4"), (87, ""), (86, "nvlink3_ga102"), (80, "nvlink3"), (70, "nvlink2"))
_OF_GCN = (("gfx90a", "xgmi_mi200"), ("gfx942", "xgmi_mi300"))


def nvlink_type(sm: int) -> str:
    """Return the type of the NVLinks of a compute capability, written as 70 for 7.0; empty where it is not known.

    >>> nvlink_type(90), nvlink_type(70), nvlink_type(60), nvlink_type(0)
    ('nvlink4', 'nvlink2', 'nvlink1', '')
    """
    older = "nvlink1" if sm >= 60 else ""
    return next((name for least, name in _OF_SM if sm >= least), older)


def xgmi_type(gcn: str) -> str:
    """Return the type of the xGMI links of an architecture; empty where it is not known.

    >>> xgmi_type("gfx942:sramecc+"), xgmi_type("gfx908")
    ('xgmi_mi300', '')
    """
    return next((name for start, name in _OF_GCN if gcn.startswith(start)), "")
