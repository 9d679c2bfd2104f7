"""Every file is recognised by the reader of its format and by no other, whatever it is called."""

import json
from pathlib import Path

import pytest

from tests import public_traces
from tests.machine.test_amd_topologies import SAMPLES as AMD_TOPOLOGIES
from tests.machine.test_topologies import P2P, SMI, XML
from tests.slow import thinned
from tests.workloads.importers.profiles import TRACEZ, samples
from workbench.machine.topologies.registry import _FORMATS, is_topology
from workbench.workloads.catalogue import catalogue
from workbench.workloads.importers import importers, read_trace
from workbench.workloads.importers.source import Source

DATA = Path(__file__).parents[2] / "data" / "traces"
SMALL = sorted(path.name for path in DATA.iterdir() if path.suffix != ".md")
SAMPLES = samples()
TOPOLOGIES = {
    **AMD_TOPOLOGIES,
    "xml": ("nccl_topology_xml", XML),
    "smi": ("nvidia_smi_topo", SMI),
    "p2p": ("p2p_bandwidth_latency_text", P2P),
}

OF_FILE = {entry.file: entry.format for entry in catalogue().values()}


def recognised(path):
    """The formats of all importers that recognise a file."""
    source = Source(path)
    return [name for name, importer in importers().items() if importer.recognises_source(source)]


def topology_formats(text):
    """The formats of all readers of topologies that recognise a text."""
    return [it.name for it in _FORMATS if it.recognises(text)]


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_profile_is_recognised_by_its_reader_alone(tmp_path, sample):
    format_name, write = SAMPLES[sample]
    path = write(tmp_path / "any_name.bin")
    assert recognised(path) == [format_name]
    trace = read_trace(path)
    assert json.loads(json.dumps(trace.facts()))["format"] == trace.format == format_name
    assert not is_topology(path)


def test_a_compressed_trace_of_accel_sim_is_recognised_by_none(tmp_path):
    (tmp_path / "t").write_bytes(TRACEZ)
    assert recognised(tmp_path / "t") == []


@pytest.mark.parametrize("name", SMALL)
def test_so_are_the_small_traces(name):
    assert recognised(DATA / name) == [read_trace(DATA / name).format]
    assert topology_formats((DATA / name).read_bytes()) == []


def test_every_format_of_the_workbench_has_such_a_file():
    formats = {format_name for format_name, _ in SAMPLES.values()} | {read_trace(DATA / name).format for name in SMALL}
    assert formats == {name for name, importer in importers().items() if importer.built_in}


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_so_are_topologies(tmp_path, name):
    format_name, text = TOPOLOGIES[name]
    (tmp_path / "t").write_text(text)
    assert topology_formats(text.encode()) == [format_name]
    assert recognised(tmp_path / "t") == []


@pytest.mark.slow
@public_traces.needs_public_traces
@pytest.mark.parametrize("file", thinned(sorted(public_traces.FACTS), 20))
def test_so_are_the_public_files(file):
    path, format_name = public_traces.path(file), OF_FILE[file]
    here = recognised(path) + topology_formats(path.read_bytes()[: 1 << 22])
    assert here == ([format_name] if format_name in known() else [])


def known():
    """The formats of both kinds of readers."""
    return {*importers(), *(it.name for it in _FORMATS)}
