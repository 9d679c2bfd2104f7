"""A policy with its circuit."""

from workbench.circuits import Circuit, Maker, Step
from workbench.circuits.netlist import binary, first_one, one_hot
from workbench.policies.translation.peer import Peer
from workbench.streams import Streams
from workbench.structures.bitmaps import next_core


class LastBit(Peer):
    """Ask the holder with the highest number."""

    @staticmethod
    def answer(see):
        last = core = next_core(see.others, 0, see.others.size, 0)
        while core >= 0:
            last, core = core, next_core(see.others, 0, see.others.size, core + 1)
        return last


def build(policy, cores):
    """Return the circuit."""
    net = Circuit(policy.name, source="the tests", parameters={"CORES": cores})
    holders, asker = net.input("holders", cores), net.input("asker", max((cores - 1).bit_length(), 1))
    others = net.signal("others", net.and_(holders, net.not_(one_hot(net, asker, cores))))
    net.output("asks", net.any_of(others))
    net.output("peer", binary(net, first_one(net, others[::-1])[::-1]))
    return net


def cases(policy, cores, count, seed=0):
    """Yield golden vectors."""
    draw = Streams(seed)["holders"]
    for _ in range(count):
        bitmap, asker = "".join(draw.choice(["0", "1"], cores)), int(draw.integers(cores))
        peer = policy.ask(bitmap, asker)
        yield [
            Step({"holders": int(bitmap[::-1], 2), "asker": asker}, {"asks": int(peer is not None), "peer": peer or 0})
        ]


LAST_BIT = Maker("peer.last_bit", build, cases, size="cores")
