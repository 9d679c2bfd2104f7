"""The topology files of NCCL and RCCL: `system` > `cpu` (a NUMA node) > nested `pci` > `gpu` > `nvlink` or `xgmi`.

Bandwidths are those that the libraries plan with (`pci`). NUMA nodes are connected pairwise, as the libraries have it.
Links to NVSwitches are links to all other cards that have such, with a limit for all of them together. A link that ends
at its own card joins nothing and is left out; cloud providers write such.

The XML text is read so that nothing in it can name a file, a host, or more text than it has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple, NoReturn
from xml.parsers import expat

from workbench.errors import InputError, nearest_name, shown
from workbench.machine.link_widths import nvlink_type, xgmi_type
from workbench.machine.topologies.pci import (
    C2C_GBPS,
    NVLINK_GBPS,
    Node,
    Topology,
    WayUp,
    Wire,
    gcn_name,
    groups,
    nvlink_gbps,
    pci_wires,
    pcie_gbps,
    socket_gbps,
    switched,
    xgmi_gbps,
)

_GPU_CLASSES = ("0x03", "0x12")
"""Display controllers and processing accelerators; the latter is what AMD's newer cards say they are."""
_LINK_KINDS = ("nvlink", "xgmi")
_WHOLE = re.compile(r"[ \t]*[-+]?[0-9]{1,9}[ \t]*")
_NVSWITCH, _CPU_LINK = "0x068000", "0x068001"


class Element(NamedTuple):
    """One element; text between elements is not kept."""

    tag: str
    attributes: dict[str, str]
    children: list[Element]
    line: int

    def all(self, tag: str) -> list[Element]:
        """Return every element of a tag below this one, in the order of the text."""
        result = []
        for child in self.children:
            result += [child, *child.all(tag)] if child.tag == tag else child.all(tag)
        return result


class _Gpu(NamedTuple):
    """A GPU of the file, with the links that it names."""

    id: str
    bus: str
    element: Element
    cpu: str
    details: Element | None

    @property
    def links(self) -> list[Element]:
        return [link for kind in _LINK_KINDS for link in self.element.all(kind)]


def is_nccl(text: bytes) -> bool:
    """Return whether a text is one of these."""
    head = text[:65536].removeprefix(b"\xef\xbb\xbf").lstrip()
    return b"<system" in head or head.startswith((b"<?xml", b"<!DOCTYPE"))


def read_nccl(text: bytes, where: str) -> Topology:
    """Read the topology of a file.

    Raises
    ------
    InputError
        It is no such XML, or a link names a bus that no card has, or links say how often they come in no number.
    """
    system = xml_tree(text, where)
    if system.tag != "system":
        raise InputError(f"{where}: must be a <system>. Got <{system.tag}>.")
    cpus = _cpus(system, where)
    gpus = _gpus(cpus, where)
    peers = _peers(gpus, where)
    ports, through_switch = _to_switches(gpus, where)
    linked = {frozenset(wire.ends) for wire in (*peers, *through_switch)}
    on_module = tuple(_to_cpus(gpus, where))
    ways = [way for name, element in cpus.items() for way in _ways_up(element, name, gpus, where)]
    alone = {way.gpu: way.gbps[0] for way in ways if not any(way.gpu in pair for pair in linked)}
    nodes = [Node(gpu.id, "gpu", ports.get(gpu.id, alone.get(gpu.id, 0.0))) for gpu in gpus]
    return Topology(
        nodes=(*(Node(name, "cpu") for name in cpus), *nodes),
        wires=(*peers, *through_switch, *on_module, *pci_wires(ways, linked), *_sockets(cpus, where)),
        links=sum(len(gpu.links) for gpu in gpus),
        noted=_facts(system, cpus, gpus, where),
        nvlink_assumed_gbps=_assumed(gpus),
    )


def _cpus(system: Element, where: str) -> dict[str, Element]:
    """Return the NUMA nodes by the name of their card; one number may come once."""
    cpus: dict[str, Element] = {}
    for child in system.children:
        if child.tag == "cpu":
            name = f"cpu{_whole(child, 'numaid', where, len(cpus))}"
            if name in cpus:
                raise InputError(f"{where}: line {child.line}: numaid {name.removeprefix('cpu')} comes twice.")
            cpus[name] = child
        elif child.tag in ("pci", "gpu"):
            raise InputError(f"{where}: is not connected: line {child.line}: <{child.tag}> stands in no <cpu>.")
    return dict(sorted(cpus.items(), key=lambda item: int(item[0].removeprefix("cpu"))))


def _gpus(cpus: dict[str, Element], where: str) -> list[_Gpu]:
    """Return the GPUs, numbered by their `dev` where all have one, else in the order of the file."""
    found = [
        (cpu, device, next((child for child in device.children if child.tag == "gpu"), None))
        for cpu, element in cpus.items()
        for device in element.all("pci")
        if _is_gpu(device)
    ] or [(cpu, device, None) for cpu, element in cpus.items() for device in _unclassed(element)]
    if not found:
        raise InputError(f"{where}: holds no GPU (a <pci> of a class 0x03.. or 0x12..).")
    numbers = [-1 if own is None else _whole(own, "dev", where, -1) for _, _, own in found]
    if min(numbers) < 0 or len(set(numbers)) < len(numbers):
        numbers = list(range(len(found)))
    gpus = [
        _Gpu(f"gpu{number}", _bus(device, where), device, cpu, own)
        for number, (cpu, device, own) in zip(numbers, found, strict=True)
    ]
    buses = Counter(gpu.bus for gpu in gpus)
    twice = next((bus for bus, count in buses.items() if count > 1), None)
    if twice is not None:
        raise InputError(f"{where}: two cards have the bus id {twice}.")
    return sorted(gpus, key=lambda gpu: int(gpu.id.removeprefix("gpu")))


def _is_gpu(device: Element) -> bool:
    """Return whether a device says that it is a GPU."""
    message = device.attributes.get("class", "").startswith(_GPU_CLASSES)
    return message or any(child.tag == "gpu" for child in device.children)


def _unclassed(element: Element) -> list[Element]:
    """Return the devices that say nothing of what they are and hold none: the GPUs of AWS's files, whose classes NCCL
    reads off the machine."""
    return [device for device in element.all("pci") if not device.children and "class" not in device.attributes]


def _bus(device: Element, where: str) -> str:
    bus = device.attributes.get("busid", "")
    if not bus:
        raise InputError(f"{where}: line {device.line}: <pci> needs a busid.")
    return bus.lower()


def _whole(element: Element, name: str, where: str, otherwise: int) -> int:
    text = element.attributes.get(name, "")
    if not text:
        return otherwise
    if not _WHOLE.fullmatch(text):
        expected = "must be a whole number" + (" of at most nine digits" if text.strip("+-").isdigit() else "")
        raise InputError(f"{where}: line {element.line}: {name} {expected}. Got {shown(text)}.")
    return int(text)


def _peers(gpus: list[_Gpu], where: str) -> list[Wire]:
    """Return one wire a pair; each end names it, and where the two ends differ, the larger count is taken."""
    of_bus = {gpu.bus: gpu.id for gpu in gpus}
    counts: dict[tuple[tuple[str, str], str, float, str], int] = {}
    for gpu in gpus:
        to = Counter[tuple[str, str, float, str]]()
        for link in gpu.links:
            end = _end(link, gpu, of_bus, where)
            if end not in ("", gpu.id):
                to[end, link.tag, _gbps(link, gpu, where), _type(link, gpu, where)] += _count(link, where)
        for (end, kind, gbps, type_), count in to.items():
            first, second = sorted((gpu.id, end), key=lambda name: (len(name), name))
            key = ((first, second), kind, gbps, type_)
            counts[key] = max(counts.get(key, 0), count)
    return [Wire(ends, kind, gbps, count, type=type_) for (ends, kind, gbps, type_), count in counts.items()]


def _to_switches(gpus: list[_Gpu], where: str) -> tuple[dict[str, float], list[Wire]]:
    """Return the ways to NVSwitches: the ports of cards, and the wires between them."""
    ports = {
        gpu.id: sum(
            _count(link, where) for link in gpu.links if link.attributes.get("tclass", "").startswith(_NVSWITCH)
        )
        for gpu in gpus
    }
    if not any(ports.values()):
        return {}, []
    speeds = [(_gbps(gpu.links[0], gpu, where), _type(gpu.links[0], gpu, where)) for gpu in gpus if gpu.links]
    return switched(ports, *min(speeds))


def _to_cpus(gpus: list[_Gpu], where: str) -> Iterator[Wire]:
    """Yield the links between a GPU and the CPU on its module (`c2c`): so many, each of `bw` MB/s."""
    for gpu in gpus:
        for link in gpu.element.all("c2c"):
            megabytes = _whole(link, "bw", where, 0)
            gbps = megabytes * _count(link, where) / 1000 if megabytes > 0 else C2C_GBPS
            yield Wire((gpu.cpu, gpu.id), "nvlink", gbps, type="nvlink_c2c" if gbps == C2C_GBPS else "")


def _assumed(gpus: list[_Gpu]) -> float:
    """Return the assumed bandwidth of an NVLink where no card says which generation it is."""
    linked = any(link.tag == "nvlink" for gpu in gpus for link in gpu.links)
    reply = any(gpu.details is not None and gpu.details.attributes.get("sm") for gpu in gpus)
    return NVLINK_GBPS if linked and not reply else 0.0


def _end(link: Element, gpu: _Gpu, of_bus: dict[str, str], where: str) -> str:
    """Return the card to which a link leads; empty for a switch."""
    bus, target_class = link.attributes.get("target", "").lower(), link.attributes.get("tclass", "")
    if target_class.startswith(_NVSWITCH):
        return ""
    if target_class.startswith(_CPU_LINK):
        return gpu.cpu
    if bus not in of_bus:
        near = nearest_name(bus, of_bus)
        cure = f" Did you mean {near}?" if near else ""
        named = f"line {link.line}: <{link.tag}> of {gpu.bus} leads to the bus {shown(bus)}"
        raise InputError(f"{where}: {named}, which no card has.{cure}")
    return of_bus[bus]


def _count(link: Element, where: str) -> int:
    count = _whole(link, "count", where, 1)
    if count < 1:
        raise InputError(f"{where}: line {link.line}: count must be at least 1. Got {count}: a link without bandwidth.")
    return count


def _gbps(link: Element, gpu: _Gpu, where: str) -> float:
    if gpu.details is None:
        return nvlink_gbps(0)
    if link.tag == "xgmi":
        return xgmi_gbps(gpu.details.attributes.get("gcn", ""))
    return nvlink_gbps(_whole(gpu.details, "sm", where, 0))


def _type(link: Element, gpu: _Gpu, where: str) -> str:
    if gpu.details is None:
        return "assumed"
    if link.tag == "xgmi":
        return xgmi_type(gcn_name(gpu.details.attributes.get("gcn", ""))) or "assumed"
    return nvlink_type(_whole(gpu.details, "sm", where, 0)) or "assumed"


def _sockets(cpus: dict[str, Element], where: str) -> Iterator[Wire]:
    for (one, element), (other, _) in combinations(cpus.items(), 2):
        message = element.attributes
        gbps = socket_gbps(message.get("arch", ""), message.get("vendor", ""), _whole(element, "modelid", where, 0))
        yield Wire((one, other), "qpi", gbps)


def _ways_up(element: Element, cpu: str, gpus: list[_Gpu], where: str) -> list[WayUp]:
    """Yield the way from each GPU below an element to the CPU."""
    of_bus = {gpu.bus: gpu.id for gpu in gpus}

    def below(above: Element, bridges: tuple[str, ...], gbps: tuple[float, ...]) -> Iterator[WayUp]:
        for device in above.children:
            if device.tag != "pci":
                continue
            bus, part = device.attributes.get("busid", "").lower(), (_pci_gbps(device, where), *gbps)
            if bus in of_bus:
                yield WayUp(of_bus[bus], cpu, bridges, part)
            else:
                yield from below(device, (f"line {device.line}", *bridges), part)

    return sorted(below(element, (), ()), key=lambda way: (len(way.gpu), way.gpu))


def _pci_gbps(device: Element, where: str) -> float:
    lanes = _whole(device, "link_width", where, 0)
    if lanes < 0:
        raise InputError(f"{where}: line {device.line}: link_width must be at least 0. Got {lanes}.")
    return pcie_gbps(device.attributes.get("link_speed", ""), lanes)


def _facts(system: Element, cpus: dict[str, Element], gpus: list[_Gpu], where: str) -> dict[str, Any]:
    of_bus = {gpu.bus: gpu.id for gpu in gpus}
    links = [(gpu, link, link.attributes.get("target", "").lower()) for gpu in gpus for link in gpu.links]
    toward = Counter[tuple[str, str]]()
    for gpu, link, bus in links:
        toward[gpu.bus, bus] += _count(link, where)
    a_gpu = [sum(count for (bus, _), count in toward.items() if bus == gpu.bus) for gpu in gpus]
    joined = [(gpu.id, of_bus[bus]) for gpu, _, bus in links if bus in of_bus]
    own = [gpu.details.attributes for gpu in gpus if gpu.details is not None]
    return {
        "system_version": system.attributes.get("version", ""),
        "numa_nodes": len(cpus),
        "gpu_pci_devices": len(gpus),
        "gpu_elements": len(own),
        "gpu_kinds": sorted({f"{said.get('gcn', said.get('sm', ''))}/{said.get('sm', '')}" for said in own}),
        "link_elements": dict(Counter(link.tag for _, link, _ in links)),
        "link_counts": dict(sorted(Counter(link.attributes.get("count") or "1" for _, link, _ in links).items())),
        "links_per_gpu_min_max": [min(a_gpu), max(a_gpu)],
        "links_one_way_or_unequal": sum(
            count != toward.get((to, bus), 0) for (bus, to), count in toward.items() if to in of_bus and to != bus
        ),
        "links_to_self_or_unknown": sum(bus not in of_bus or bus == gpu.bus for gpu, _, bus in links),
        "groups_joined_by_links": len(groups([gpu.id for gpu in gpus], joined)),
        "nets": len(system.all("net")),
        **({} if any(_is_gpu(gpu.element) for gpu in gpus) else {"gpus_without_class": len(gpus)}),
        "gpu_pci_link_speeds": dict(Counter(gpu.element.attributes.get("link_speed", "") for gpu in gpus)),
    }


def xml_tree(text: bytes, where: str) -> Element:
    """Return the root of an XML text.

    >>> root = xml_tree(b'<system version="1"><cpu/></system>', "t.xml")
    >>> root.attributes, [child.tag for child in root.children]
    ({'version': '1'}, ['cpu'])
    >>> xml_tree(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "t.xml")  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    workbench.errors.InputError: t.xml: declares a document type, which a topology never needs and which could make it
    expand without end; take the declaration out.

    Raises
    ------
    InputError
        It is no XML, or it declares a document type, without which there are no entities of its own.
    """
    top = Element("", {}, [], 0)
    open_elements = [top]
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        found = Element(tag, attributes, [], parser.CurrentLineNumber)
        open_elements[-1].children.append(found)
        open_elements.append(found)

    def refuse(*_: Any) -> NoReturn:
        raise InputError(
            f"{where}: declares a document type, which a topology never needs and which could make it expand without "
            "end; take the declaration out."
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: open_elements.pop()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as problem:
        raise InputError(f"{where}: is no whole XML ({problem}).") from None
    return top.children[0]
