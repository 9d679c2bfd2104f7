"""Topology files: every number of the public ones, the boards that they become, and what is refused in one sentence."""

from itertools import combinations

import numpy as np
import pytest

from tests.public_traces import FACTS, files, needs_public_traces, path
from workbench.errors import InputError
from workbench.machine import Board, preset
from workbench.machine.presets import preset_names
from workbench.machine.topologies import is_topology, read_topology

FORMATS = ("nccl_topology_xml", "nvidia_smi_topo", "p2p_bandwidth_latency_text")
PUBLIC = [file for name in FORMATS for file in files(name)]

XML = """<!-- two cards behind one switch, a third at the other CPU -->
<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" modelid="85">
    <pci busid="0:1.0" class="0x060400" link_speed="8 GT/s" link_width="16">
      <pci busid="0:2.0" class="0x030200" link_speed="16 GT/s" link_width="16">
        <gpu dev="0" sm="70"><nvlink target="0:3.0" count="2" tclass="0x030200"/></gpu>
      </pci>
      <pci busid="0:3.0" class="0x030200" link_speed="16 GT/s" link_width="8">
        <gpu dev="1" sm="70"><nvlink target="0:2.0" count="2" tclass="0x030200"/></gpu>
      </pci>
      <pci busid="0:4.0" class="0x020700" link_speed="8 GT/s" link_width="16"><nic><net dev="0"/></nic></pci>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64" vendor="GenuineIntel" modelid="85">
    <pci busid="1:1.0" class="0x030200" link_speed="" link_width="0"><gpu dev="2" sm="70"/></pci>
  </cpu>
</system>
"""
SMI = """\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\x1b[0m
GPU0\t X \tPIX\tNV2\tSYS\tPIX\t0-19\t0
GPU1\tPIX\t X \tSYS\tNV2\tPIX\t0-19\t0
GPU2\tNV2\tSYS\t X \tNODE\tSYS\t20-39\t1
GPU3\tSYS\tNV2\tNODE\t X \tSYS\t20-39\t1
NIC0\tPIX\tPIX\tSYS\tSYS\t X \t\t
"""
P2P = """P2P Connectivity Matrix
     D\\D     0     1
     0\t     1     1
     1\t     1     1
Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)
   D\\D     0      1
     0 755.01  11.00
     1  11.20 782.22
Unidirectional P2P=Enabled Bandwidth and P2P Latency Matrix (GB/s)
   D\\D     0      1
     0 755.01  48.00
     1  48.40 782.22
P2P=Enabled Latency (P2P Writes) Matrix (us)
   GPU     0      1
     0   1.50   9.00
     1   2.00   1.50
"""


def _wires(text, tmp_path):
    place = tmp_path / "topology.txt"
    place.write_text(text)
    topology = read_topology(place)
    wires = {wire.ends: (wire.kind, wire.gbps, wire.links, wire.channel) for wire in topology.wires}
    assert len(wires) == len(topology.wires)
    return topology, wires


@needs_public_traces
@pytest.mark.parametrize("file", PUBLIC)
def test_every_number_of_the_facts(file):
    result = read_topology(path(file)).facts()
    assert {name: result[name] for name in FACTS[file]} == FACTS[file]
    size = next((it["size"] for it in FACTS[file].get("matrices", {}).values()), 0)
    assert result["cards"] == FACTS[file].get("gpu_pci_devices", FACTS[file].get("gpus", size))


@needs_public_traces
@pytest.mark.parametrize("file", PUBLIC)
def test_every_public_file_becomes_a_board(file):
    board = Board.read({"topology": str(path(file)), "card_bytes": 1 << 34})
    gpus = [card for card in board.cards if card.kind == "gpu"]
    assert len(gpus) == read_topology(path(file)).facts()["cards"]
    assert {card.memory_bytes for card in gpus} == {1 << 34}
    assert (board.paths().hops >= 0).all()


@needs_public_traces
def test_the_table_of_a_dgx_1v_is_the_preset():
    """field.md 2.4: rows sum to 6, 24 links, 8 pairs x 2, 8 x 1, 12 x 0."""
    config = {"topology": str(path("topology/text/nvsmi_topo_dgx1v.txt")), "link_gbps": 25, "pcie_gbps": 16}
    board, known = Board.read(config), preset("dgx_1v").machine()
    links = np.zeros((8, 8), int)
    for one, other in combinations(range(8), 2):
        between = [link for link in board.links if set(link.ends) == {f"gpu{one}", f"gpu{other}"}]
        links[one, other] = links[other, one] = sum(link.count for link in between)
    assert links.sum(axis=0).tolist() == [6] * 8
    assert sorted(links[np.triu_indices(8, 1)]) == [0] * 12 + [1] * 8 + [2] * 8
    assert [card.id for card in board.cards] == [card.id for card in known.cards]
    apart = board.direct_gbps() != known.direct_gbps()
    assert np.argwhere(apart).tolist() == [[0, 1], [1, 0]], "the CPUs alone: the table does not tell how fast they are"
    shared = [{link.ends for link in it.links if link.channel} for it in (board, known)]
    assert len(shared[0]) == len(shared[1]) == 8
    assert len({link.channel for link in board.links if link.channel}) == 4


def test_a_nccl_file(tmp_path):
    result, wires = _wires(XML, tmp_path)
    assert [(node.id, node.kind, node.port_gbps) for node in result.nodes] == [
        ("cpu0", "cpu", 0.0),
        ("cpu1", "cpu", 0.0),
        ("gpu0", "gpu", 0.0),
        ("gpu1", "gpu", 0.0),
        ("gpu2", "gpu", 12.0),
    ]
    assert wires == {
        ("gpu0", "gpu1"): ("nvlink", 25.0, 2, ""),
        ("gpu0", "cpu0"): ("pcie", 12.0, 1, "cpu0_switch0"),
        ("gpu1", "cpu0"): ("pcie", 12.0, 1, "cpu0_switch0"),
        ("gpu2", "cpu1"): ("pcie", 12.0, 1, ""),
        ("cpu0", "cpu1"): ("qpi", 10.0, 1, ""),
    }
    assert (result.links, result.noted["nets"]) == (2, 1)


def test_cards_behind_a_switch_reach_each_other_without_the_cpu_unless_linked_otherwise(tmp_path):
    _, wires = _wires(XML.replace("<nvlink ", "<!-- ").replace('tclass="0x030200"/>', "-->"), tmp_path)
    assert wires["gpu0", "gpu1"] == ("pcie", 12.0, 1, ""), "8 lanes of gen 4"


def test_links_to_an_nvswitch_are_ports(tmp_path):
    text = XML.replace('target="0:3.0"', 'target="9:1.0"').replace('target="0:2.0"', 'target="9:2.0"')
    result, wires = _wires(text.replace('tclass="0x030200"', 'tclass="0x068000"'), tmp_path)
    assert wires["gpu0", "gpu1"] == ("nvlink", 25.0, 2, "")
    assert [node.port_gbps for node in result.nodes if node.kind == "gpu"] == [50.0, 50.0, 0.0]


def test_a_table_of_nvidia_smi_in_tabs_or_blanks(tmp_path):
    result, wires = _wires(SMI, tmp_path)
    blanks = SMI.replace("\x1b[4m", "").replace("\x1b[0m", "").replace("\t", "   ")
    assert _wires(blanks, tmp_path)[1] == wires == {
        ("gpu0", "gpu2"): ("nvlink", 20.0, 2, ""),
        ("gpu1", "gpu3"): ("nvlink", 20.0, 2, ""),
        ("gpu0", "cpu0"): ("pcie", 12.0, 1, "cpu0_switch0"),
        ("gpu1", "cpu0"): ("pcie", 12.0, 1, "cpu0_switch0"),
        ("gpu2", "cpu1"): ("pcie", 12.0, 1, ""),
        ("gpu3", "cpu1"): ("pcie", 12.0, 1, ""),
        ("gpu0", "gpu1"): ("pcie", 12.0, 1, ""),
        ("cpu0", "cpu1"): ("qpi", 6.0, 1, ""),
    }  # fmt: skip
    assert result.noted["gpu_pair_labels"] == {"NODE": 1, "NV2": 2, "PIX": 1, "SYS": 2}
    assert result.noted["other_columns"] == ["NIC0", "CPU Affinity", "NUMA Affinity"]


def test_more_links_than_a_card_has_lead_to_a_switch(tmp_path):
    cards = [f"GPU{k}" for k in range(8)]
    rows = [[name, *("X" if name == other else "NV12" for other in cards)] for name in cards]
    result, wires = _wires("\n".join("\t".join(row) for row in [["", *cards], *rows]), tmp_path)
    assert result.links == 8 * 12
    assert {node.port_gbps for node in result.nodes if node.kind == "gpu"} == {240.0}
    assert {wires[f"gpu{a}", f"gpu{b}"] for a, b in combinations(range(8), 2)} == {("nvlink", 20.0, 12, "")}


def test_measured_matrices(tmp_path):
    result, wires = _wires(P2P, tmp_path)
    assert wires == {("gpu0", "gpu1"): ("nvlink", 48.2, 1, "")}
    assert list(result.noted["matrices"])[3] == "P2P=Enabled Latency (P2P Writes) Matrix (us)"
    _, both = _wires(P2P.replace("Unidirectional P2P=Enabled", "Bidirectional P2P=Enabled"), tmp_path)
    assert both["gpu0", "gpu1"] == ("nvlink", 24.1, 1, "")
    _, staged = _wires(P2P.replace("48.00", "12.00").replace("48.40", "12.00"), tmp_path)
    assert staged["gpu0", "gpu1"][:2] == ("pcie", 12.0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (XML.replace('target="0:3.0"', 'target="0:9.0"'), "line 6: <nvlink> of 0:2.0 leads to the bus '0:9.0', which"),
        (
            XML.replace('count="2"', 'count="0"', 1),
            "line 6: count must be at least 1. Got 0: a link without bandwidth.",
        ),
        (XML.replace('count="2"', 'count="two"', 1), "line 6: count must be a whole number. Got 'two'."),
        (XML.replace('numaid="1"', 'numaid="0"'), "line 14: numaid 0 comes twice."),
        (XML.replace('busid="1:1.0"', 'busid="0:2.0"'), "two cards have the bus id 0:2.0."),
        (XML.replace('busid="1:1.0"', ""), "line 15: <pci> needs a busid."),
        (XML[:400], "is no whole XML ("),
        ('<system version="1"><cpu numaid="0"/></system>', "holds no GPU (a <pci> of a class 0x03.. or 0x12..)."),
        ('<system version="1"><pci class="0x0302"/></system>', "is not connected: line 1: <pci> stands in no <cpu>."),
        (
            '<system><cpu numaid="0"/><cpu numaid="1"><box><pci class="0x0302" busid="1"/></box></cpu></system>',
            "is not connected: no links lead from cpu0 to gpu0.",
        ),
        ("<x><system/></x>", "must be a <system>. Got <x>."),
        (
            '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]>' + XML,
            "declares a document type, which a topology never",
        ),
        (SMI.replace("NV2", "NV3", 1), "is not symmetric: GPU0 to GPU2 is NV3, GPU2 to GPU0 is NV2."),
        (SMI.replace("NV2", "NV0"), "row GPU0, column GPU2: NV0 would be links without bandwidth."),
        (
            SMI.replace("NODE", "FAST"),
            "row GPU2, column GPU3 must be NVn, PIX, PXB, PHB, NODE, C2C or SYS. Got 'FAST'.",
        ),
        (SMI[: SMI.index("GPU3\tSYS")], "the row of GPU3 is missing; the table is cut off."),
        (SMI.replace("\t X ", "\tSYS", 1), "row GPU0, column GPU0 must be X. Got 'SYS'."),
        (P2P.replace("48.00", "0.00"), "the bandwidth between 0 and 1 must be above 0."),
        (P2P.replace("48.00", "30.00"), "is not symmetric: 0 to 1 is 30, 1 to 0 is 48.4."),
        (P2P.replace("48.00", "nan"), "must hold numbers of at least 0. Got 'nan'."),
        (P2P.replace("     1  11.20 782.22\n", ""), "row 1 must have its number and 2 values. Got 'Unidirectional P2P"),
        (P2P[: P2P.index("     1  11.20")], "must have 2 rows. Got 1; the output is cut off."),
        ("Matrix (us)\n D\\D 0 1\n 0 1 1\n 1 1 1\n", "holds no matrix of bandwidths (a title with P2P= and GB/s)."),
        ("hello", "is no topology that is read here; there are nccl_topology_xml ("),
        ("D\\D 0 1\n0 1 2\n1 2 1\nP2P Matrix\n", "holds no matrix below its title"),
        ("GPU0 GPU1\tx\n", "is no topology that is read here"),
        (SMI.replace("NV2", "NV²"), "row GPU0, column GPU2 must be NVn, PIX"),
        (SMI.replace("NV2", "NV" + "9" * 5000), "row GPU0, column GPU2 must be NVn, PIX"),
        (XML.replace('width="8"', f'width="{"9" * 400}"'), "link_width must be a whole number of at most nine digits"),
        ("", "is no topology that is read here"),
    ],
)
def test_what_contradicts_itself_is_refused_in_one_sentence(tmp_path, text, says):
    place = tmp_path / "topology.txt"
    place.write_text(text)
    with pytest.raises(InputError) as refused:
        read_topology(place)
    sentence = str(refused.value)
    assert sentence.startswith(f"{place}: ")
    assert says in sentence
    assert "\n" not in sentence


def test_what_is_no_file_is_no_topology(tmp_path):
    assert not is_topology(tmp_path)
    assert not is_topology(tmp_path / "absent.xml")
    with pytest.raises(InputError, match="is a folder; name one topology file in it"):
        read_topology(tmp_path)


def test_a_sweep_says_what_the_file_cannot_tell(tmp_path):
    (tmp_path / "t.xml").write_text(XML)
    config = {"topology": str(tmp_path / "t.xml"), "card_bytes": 100, "cpu_bytes": 0, "link_gbps": 25, "port_gbps": 50}
    board = Board.read(config)
    assert {card.id: (card.memory_bytes, card.port_gbps) for card in board.cards} == {
        "cpu0": (0, 0),
        "cpu1": (0, 0),
        "gpu0": (100, 50),
        "gpu1": (100, 50),
        "gpu2": (100, 50),
    }
    assert board.direct_gbps()[2, 3] == 50
    with pytest.raises(InputError, match=r"^a.yaml: machine: unknown key 'card_byte'.*Did you mean card_bytes\?$"):
        Board.read({**config, "card_byte": 1}, where="a.yaml")
    with pytest.raises(InputError, match=r"^a.yaml: machine.topology: .*absent.xml: there is no such file.$"):
        Board.read({"topology": str(tmp_path / "absent.xml")}, where="a.yaml")


def test_boards_of_switches_let_every_pair_have_what_a_port_has():
    for name, port in (("dgx_a100", 273.0), ("dgx_h100", 370.8)):
        board = preset(name).machine()
        gpus = [k for k, card in enumerate(board.cards) if card.kind == "gpu"]
        assert {board.cards[k].port_gbps for k in gpus} == {port}
        assert {float(board.direct_gbps()[pair]) for pair in combinations(gpus, 2)} == {port}


def test_amd_boards_have_the_links_that_their_files_count():
    links = {name: preset(name).machine().row() for name in ("mi250x_board", "mi300x_board")}
    assert [row["gpus"] for row in links.values()] == [8, 8]
    xgmi = {
        name: sum(link.count for link in preset(name).machine().links if "cpu" not in link.between) for name in links
    }
    assert xgmi == {"mi250x_board": 26, "mi300x_board": 28}


def test_generations_of_pci_differ_in_nothing_but_their_links():
    boards = [Board.read({"preset": f"pcie{generation}_x8", "widths": "paper"}) for generation in (3, 4, 5)]
    assert {tuple((card.id, card.memory_bytes) for card in board.cards) for board in boards} == {
        tuple((card.id, card.memory_bytes) for card in boards[0].cards)
    }
    narrow = [board.paths("bottleneck").gbps[2, 9] for board in boards]
    assert narrow == [16.0, 32.0, 38.4], "at gen 5 the sockets are the narrowest"
    assert all(len([link for link in board.links if "cpu" not in link.between]) == 4 for board in boards)


@pytest.mark.parametrize("name", preset_names(Board))
def test_every_board_is_connected_and_names_where_its_links_are_from(name):
    assert (preset(name).machine().paths().hops >= 0).all()
    assert len(preset(name).figures["links"].source) > 20
