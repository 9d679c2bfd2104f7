"""Topology files as they are really written; what an NVLink of them carries: by its generation, or assumed aloud."""

import codecs

import pytest

from workbench.errors import InputError
from workbench.machine import Board
from workbench.machine.topologies import read_topology

PAIR = "\tGPU4\tGPU5\tCPU Affinity\nGPU4\t X \tNV18\t0-71\nGPU5\tNV18\t X \t0-71\n"
SMI = "GPU {}: NVIDIA {} (UUID: GPU-1)\n"
GRACE = "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV18\tC2C\nGPU1\tNV18\t X \tSYS\nNIC0\tC2C\tSYS\t X \n"
MODULE = """<system version="1"><cpu numaid="0" arch="arm64">
<pci busid="1:0" class="0x030200" link_speed="2.5 GT/s PCIe"
link_width="16"><gpu dev="0" sm="121"><c2c bw="43125" count="8"/></gpu></pci></cpu></system>"""
G5 = """<system version="1"><cpu numaid="0"><pci busid="0000:00:16.0"/><pci busid="0000:00:17.0"/></cpu>
<cpu numaid="1"><pci busid="0000:00:1a.0"/><pci busid="0000:00:1b.0"/></cpu></system>"""


def topology(tmp_path, text):
    place = tmp_path / "topology.txt"
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_topology(place)


def wire(result, *ends):
    return next((one.kind, one.gbps, one.links) for one in result.wires if set(one.ends) == set(ends))


def test_a_table_of_some_of_the_cards(tmp_path):
    result = topology(tmp_path, PAIR)
    assert [node.id for node in result.nodes] == ["cpu0", "gpu4", "gpu5"]
    assert wire(result, "gpu4", "gpu5") == ("nvlink", 20.0, 18)


@pytest.mark.parametrize("encoded", [codecs.BOM_UTF8 + PAIR.encode(), PAIR.encode("utf-16")])
def test_a_table_that_windows_wrote(tmp_path, encoded):
    assert topology(tmp_path, encoded).wires == topology(tmp_path, PAIR).wires


def test_an_nvlink_of_an_unknown_card_is_assumed_aloud(tmp_path):
    message = topology(tmp_path, PAIR).facts()["assumed"]
    assert message == "an NVLink carries 20 GB/s per direction; a sweep's `card` or `link_gbps` tells it"


@pytest.mark.parametrize(("name", "gbps"), [("H100 80GB HBM3", 20.6), ("GB200", 40.1), ("Tesla P100-SXM2-16GB", 18.0)])
def test_the_card_that_stands_beside_the_table_tells_its_nvlinks(tmp_path, name, gbps):
    result = topology(tmp_path, SMI.format(4, name) + PAIR)
    assert wire(result, "gpu4", "gpu5") == ("nvlink", gbps, 18)
    assert "assumed" not in result.facts()
    assert result.facts()["nvlinks_of"] in name


def test_a_lever_tells_the_card(tmp_path):
    (tmp_path / "t.txt").write_text(PAIR)
    board = Board.read({"topology": str(tmp_path / "t.txt"), "card": "gb200"}, "machine")
    (link,) = (link for link in board.links if "cpu" not in link.between)
    assert link.gbps * link.count == pytest.approx(721.8)


def test_ports_follow_the_speed_of_their_links(tmp_path):
    names = [f"GPU{k}" for k in range(4)]
    rows = ["\t".join([name, *(" X " if other == name else "NV18" for other in names)]) for name in names]
    result = topology(tmp_path, "\t" + "\t".join(names) + "\n" + "\n".join(rows) + "\n")
    assert {node.port_gbps for node in result.nodes if node.kind == "gpu"} == {18 * 20.0}
    assert {node.port_gbps for node in result.with_nvlinks(40.1).nodes if node.kind == "gpu"} == {18 * 40.1}


@pytest.mark.parametrize(
    ("card", "text", "says"),
    [
        ("h1000", PAIR, "unknown card 'h1000'"),
        ("h100", SMI.format(0, "H100") + PAIR, "card must be left out, as the file tells how fast its links are"),
    ],
)
def test_a_card_that_cannot_be_taken_is_refused(tmp_path, card, text, says):
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(InputError, match=says):
        Board.read({"topology": str(tmp_path / "t.txt"), "card": card}, "machine")


def test_a_cpu_on_the_module_is_reached_by_its_own_links(tmp_path):
    assert wire(topology(tmp_path, GRACE), "gpu0", "cpu0") == ("pcie", 345.0, 1)
    assert ("nvlink", 345.0) in [(w.kind, w.gbps) for w in topology(tmp_path, MODULE).wires]


def test_devices_without_a_class_are_the_cards_where_nothing_else_is(tmp_path):
    result = topology(tmp_path, G5)
    assert [node.id for node in result.nodes if node.kind == "gpu"] == ["gpu0", "gpu1", "gpu2", "gpu3"]
    assert result.facts()["gpus_without_class"] == 4
    with pytest.raises(InputError, match="holds no GPU"):
        topology(tmp_path, G5.replace("/>", ' class="0x020000"/>'))
