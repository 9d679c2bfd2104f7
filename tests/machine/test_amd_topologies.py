"""What rocm-smi and amd-smi print of the links between GPUs, in tables and in JSON."""

import json

import pytest

from workbench.errors import InputError
from workbench.machine import Board
from workbench.machine.topologies import is_topology, read_topology

ROCM_SMI = """
============================ ROCm System Management Interface ============================
================================ Weight between two GPUs =================================
       GPU0         GPU1         GPU2         GPU3
GPU0   0            15           15           72
GPU1   15           0            30           15
GPU2   15           30           0            15
GPU3   72           15           15           0

================================= Hops between two GPUs ==================================
       GPU0         GPU1         GPU2         GPU3
GPU0   0            1            1            3
GPU1   1            0            2            1
GPU2   1            2            0            1
GPU3   3            1            1            0

=============================== Link Type between two GPUs ===============================
       GPU0         GPU1         GPU2         GPU3
GPU0   0            XGMI         XGMI         PCIE
GPU1   XGMI         0            XGMI         XGMI
GPU2   XGMI         XGMI         0            XGMI
GPU3   PCIE         XGMI         XGMI         0

======================================= Numa Nodes =======================================
GPU[0]\t\t: (Topology) Numa Node: 0
GPU[0]\t\t: (Topology) Numa Affinity: 0
GPU[1]\t\t: (Topology) Numa Node: 0
GPU[1]\t\t: (Topology) Numa Affinity: 0
GPU[2]\t\t: (Topology) Numa Node: 1
GPU[3]\t\t: (Topology) Numa Node: 1
================================== End of ROCm SMI Log ===================================
"""


def rocm_smi_json():
    """The same as JSON: a sentence a pair."""
    kinds = {(0, 1): "XGMI", (0, 2): "XGMI", (0, 3): "PCIE", (1, 2): "XGMI", (1, 3): "XGMI", (2, 3): "XGMI"}
    hops = {(0, 3): "3", (1, 2): "2"}
    system = {}
    for (one, other), kind in kinds.items():
        between = f"between DRM devices {one} and {other}"
        weight = {"3": "72", "2": "30"}.get(hops.get((one, other), "1"), "15")
        system |= {f"(Topology) Weight {between}": weight, f"(Topology) Hops {between}": hops.get((one, other), "1")}
        system[f"(Topology) Link type {between}"] = kind
    cards = {
        f"card{k}": {"(Topology) Numa Node": str(k // 2), "(Topology) Numa Affinity": str(k // 2)} for k in range(4)
    }
    return json.dumps({"system": system, **cards})


BUSES = ("0000:0c:00.0", "0000:22:00.0", "0000:38:00.0")


def amd_smi_table(title, cells):
    """A table of amd-smi."""
    lines = [f"{title}:", " " * 13 + " ".join(BUSES)]
    return "\n".join([*lines, *(f"{bus} " + " ".join(row) for bus, row in zip(BUSES, cells))]) + "\n\n"


AMD_SMI = (
    amd_smi_table("ACCESS TABLE", [["ENABLED"] * 3] * 3)
    + amd_smi_table("WEIGHT TABLE", [["0", "15", "40"], ["15", "0", "72"], ["40", "72", "0"]])
    + amd_smi_table("HOPS TABLE", [["0", "1", "2"], ["1", "0", "3"], ["2", "3", "0"]])
    + amd_smi_table("LINK TYPE TABLE", [["SELF", "XGMI", "PCIE"], ["XGMI", "SELF", "PCIE"], ["PCIE", "PCIE", "SELF"]])
    + amd_smi_table(
        "NUMA BW TABLE", [["N/A", "50000-100000", "N/A"], ["50000-100000", "N/A", "N/A"], ["N/A", "N/A", "N/A"]]
    )
    + "\nLegend:\n SELF = Current GPU\n"
)


def amd_smi_json(old):
    """The same as JSON, of ROCm 6.2 and older or of newer ones."""
    kinds = [["SELF", "XGMI", "PCIE"], ["XGMI", "SELF", "PCIE"], ["PCIE", "PCIE", "SELF"]]
    hops, speed = [[0, 1, 2], [1, 0, 3], [2, 3, 0]], {"XGMI": "50000-100000"}
    rows = []
    for k, bus in enumerate(BUSES):
        if old:
            columns = {
                "link_type": kinds[k],
                "hops": hops[k],
                "numa_bandwidth": [speed.get(kind, "N/A") for kind in kinds[k]],
            }
            rows.append(
                {"gpu": k, **{name: {f"gpu_{j}": cell for j, cell in enumerate(row)} for name, row in columns.items()}}
            )
        else:
            links = [
                {
                    "gpu": j,
                    "link_type": kind,
                    "num_hops": hops[k][j],
                    "bandwidth": speed.get(kind, "N/A"),
                    "link_status": "ENABLED",
                }
                for j, kind in enumerate(kinds[k])
            ]
            rows.append({"gpu": k, "bdf": bus, "links": links})
    return json.dumps(rows, indent=4)


SAMPLES = {
    "rocm-smi": ("rocm_smi_topo", ROCM_SMI),
    "rocm-smi as JSON": ("rocm_smi_topo", rocm_smi_json()),
    "amd-smi": ("amd_smi_topology", AMD_SMI),
    "amd-smi as old JSON": ("amd_smi_topology", amd_smi_json(old=True)),
    "amd-smi as JSON": ("amd_smi_topology", amd_smi_json(old=False)),
}


def read(tmp_path, text):
    """The topology of a text."""
    (tmp_path / "topo.txt").write_text(text)
    return read_topology(tmp_path / "topo.txt")


def links(topology):
    """What joins GPUs and CPUs: kind, ends, GB/s and links."""
    return [(wire.kind, wire.ends, wire.gbps, wire.links) for wire in topology.wires]


@pytest.mark.parametrize("text", [ROCM_SMI, rocm_smi_json()])
def test_rocm_smi(tmp_path, text):
    result = read(tmp_path, text)
    assert links(result) == [
        ("xgmi", ("gpu0", "gpu1"), 24.0, 1),
        ("xgmi", ("gpu0", "gpu2"), 24.0, 1),
        ("xgmi", ("gpu1", "gpu3"), 24.0, 1),
        ("xgmi", ("gpu2", "gpu3"), 24.0, 1),
        ("pcie", ("gpu0", "cpu0"), 12.0, 1),
        ("pcie", ("gpu1", "cpu0"), 12.0, 1),
        ("pcie", ("gpu2", "cpu1"), 12.0, 1),
        ("pcie", ("gpu3", "cpu1"), 12.0, 1),
        ("qpi", ("cpu0", "cpu1"), 16.0, 1),
    ]
    assert result.facts() == {
        "format": "rocm_smi_topo",
        "cards": 4,
        "links": 4,
        "gpus": 4,
        "gpu_pair_types": {"PCIE": 1, "XGMI": 5},
        "pairs_with_direct_link": 4,
        "hops_min_max": [1, 3],
        "weight_min_max": [15, 72],
        "numa_nodes": 2,
        "xgmi_gbps": "assumed",
    }


@pytest.mark.parametrize("text", [AMD_SMI, amd_smi_json(old=True), amd_smi_json(old=False)])
def test_amd_smi_tells_how_fast_links_are_and_hops_tell_the_cpus(tmp_path, text):
    result = read(tmp_path, text)
    assert links(result) == [
        ("xgmi", ("gpu0", "gpu1"), 50.0, 2),
        ("pcie", ("gpu0", "cpu0"), 12.0, 1),
        ("pcie", ("gpu1", "cpu1"), 12.0, 1),
        ("pcie", ("gpu2", "cpu0"), 12.0, 1),
        ("qpi", ("cpu0", "cpu1"), 16.0, 1),
    ]
    assert (result.facts()["links"], result.facts()["hops_min_max"]) == (2, [1, 3])
    assert "xgmi_gbps" not in result.facts()


def test_a_board_of_them_and_its_levers(tmp_path):
    (tmp_path / "topo.txt").write_text(AMD_SMI)
    board = Board.read({"topology": str(tmp_path / "topo.txt"), "link_gbps": 64, "card_bytes": 1 << 37}, "machine")
    assert [card.id for card in board.cards] == ["cpu0", "cpu1", "gpu0", "gpu1", "gpu2"]
    assert [link.gbps for link in board.links if link.kind == "xgmi"] == [64]


def test_gpus_without_numa_nodes_that_share_a_root_are_at_one_cpu(tmp_path):
    text = ROCM_SMI.replace("XGMI", "PCIE").split("====== Numa")[0].replace("            3", "            2")
    result = read(tmp_path, text)
    assert {wire.ends[1] for wire in result.wires} == {"cpu0"}
    assert result.links == 0


BAD = [
    (
        ROCM_SMI.replace("Link Type between", "Link Types between"),
        "has no table `Link Type between two GPUs`; take all of",
    ),
    (ROCM_SMI.replace("GPU3   PCIE", "GPU3   XGMI"), "is not symmetric: GPU0 to GPU3 is PCIE, GPU3 to GPU0 is XGMI."),
    (
        ROCM_SMI[: ROCM_SMI.index("GPU2   XGMI")],
        "Link Type between two GPUs: the row of GPU2 is missing; the output is cut",
    ),
    (
        ROCM_SMI.replace("GPU2   XGMI         XGMI         0            XGMI", "GPU2 XGMI"),
        "Link Type between two GPUs: the row of",
    ),
    (ROCM_SMI.replace("PCIE", "CXL²"), "the link type of GPU0 and GPU3 must be XGMI, PCIE or N/A. Got 'CXL²'."),
    (AMD_SMI.replace("LINK TYPE TABLE", "LINK KIND TABLE"), "has no LINK TYPE TABLE; take all of `amd-smi topology`."),
    (amd_smi_json(old=False)[:300], "is no whole JSON ("),
    (
        amd_smi_json(old=False).replace('"gpu": 2,\n        "bdf"', '"gpu": 1,\n        "bdf"'),
        "every entry must have a `gpu`, a number",
    ),
    (
        amd_smi_json(old=False).replace('"gpu": 1,\n                "link', '"gpu": 7,\n                "link'),
        "does not tell how GPU0",
    ),
    ('{"system": {"(Topology) Hops between DRM devices 0 and 1": "1"}}', "tells no link types; take all of `rocm-smi"),
    ("[" * 100_000 + '"gpu" "link_type"', "is no whole JSON ("),
]


@pytest.mark.parametrize(("text", "says"), BAD)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path, text, says):
    with pytest.raises(InputError) as refused:
        read(tmp_path, text)
    sentence = str(refused.value).removeprefix(f"{tmp_path / 'topo.txt'}: ")
    assert sentence.startswith(says)
    assert "\n" not in sentence
    assert is_topology(tmp_path / "topo.txt")


def test_numa_nodes_are_read_however_the_card_is_written(tmp_path):
    """As a user's manual of a cluster prints them: `GPU 0          : (Topology) Numa Node: 0`."""
    as_printed, as_in_manual = tmp_path / "now.txt", tmp_path / "manual.txt"
    as_printed.write_text(ROCM_SMI)
    manual = ROCM_SMI
    for card in range(4):
        manual = manual.replace(f"GPU[{card}]\t\t:", f"GPU {card}          :")
    assert "GPU[" not in manual
    as_in_manual.write_text(manual)
    assert read_topology(as_in_manual).facts() == read_topology(as_printed).facts()
    assert read_topology(as_in_manual).facts()["numa_nodes"] == 2


def test_two_cards_of_an_issue_with_single_spaces(tmp_path):
    """ROCm/ROCm#1503: the table alone, as a page without columns shows it."""
    place = tmp_path / "issue.txt"
    place.write_text(
        f"{'=' * 26} Link Type between two GPUs {'=' * 26}\nGPU0 GPU1\nGPU0 0 PCIE\nGPU1 PCIE 0\n\n{'*' * 31}\n"
    )
    facts = read_topology(place).facts()
    assert (facts["gpus"], facts["gpu_pair_types"], facts["pairs_with_direct_link"]) == (2, {"PCIE": 1}, 0)
