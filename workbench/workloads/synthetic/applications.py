"""Generators of applications for a whole node (spec 6, R8).

`ApplicationGenerator` is what all have in common: how many applications there are, when they come, on which card they
run. There are steps of training, a served model, a stencil, a gather along a graph, and many small kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.application import Application, Applications, Touch
from workbench.workloads.application_check import check_applications
from workbench.workloads.application_plan import Plan, StreamPlan
from workbench.workloads.pool_requests import gpus_of
from workbench.workloads.synthetic.instructions import Instructions, NoInstructions
from workbench.workloads.synthetic.laws import Law, LogUniform, PowersOfTwo
from workbench.workloads.workload import Generator


class ApplicationGenerator(Generator):
    """The base: application n runs on GPU n mod GPUs, with priority 1 + n mod `priorities`, and comes at its time.

    Application n has the n-th rank of the stream `gaps`; what it does is drawn from streams with its number.
    """

    count: int = lever(2, least=1, most=1000, scale="log", unit="applications", description="how many there are")
    gap: Law = lever(
        Law.read({"exponential": {"mean": 20_000}}), unit="cycles", description="time between two arrivals"
    )
    priorities: int = lever(1, least=1, most=8, description="application n has priority 1 + n mod this")
    cycles: Law = lever(
        Law.read({"log_normal": {"median": 2_000, "sigma": 0.5}}),
        unit="cycles",
        description="how long a group computes in a phase",
    )
    waves: int = lever(4, least=1, most=64, unit="waves", description="waves of a group")
    vgpr_blocks: Law = lever(
        Law.read({"constant": 4}), unit="blocks", description="vector registers of a wave, drawn for each kernel"
    )
    shared_segments: Law = lever(
        Law.read({"constant": 8}), unit="segments", description="shared memory of a group, drawn for each kernel"
    )
    independent: bool = lever(False, description="whether the waves of a group may run apart (spec 3, R24)")
    instructions: Instructions = lever(
        NoInstructions(), description="what a group executes while it computes; all groups of a phase execute the same"
    )

    def plan(self, plan: Plan, streams: Streams) -> None:
        """Write one application down."""
        raise NotImplementedError

    def applications(self, machine: Any, streams: Streams) -> Applications:
        """Return the applications that come to a node or its board, drawn from named streams."""
        gaps = self.gap.draw(streams.uniforms("gaps", self.count)).tolist()
        cards, came, result = len(gpus_of(getattr(machine, "board", machine))), 0, list[Application]()
        for number in range(self.count):
            plan = Plan(number, streams, number % cards, 1 + number % self.priorities, came)
            self.plan(plan, streams)
            result.append(plan.application())
            came += gaps[number]
        check_applications(tuple(result))
        return tuple(result)

    def resources(self) -> Mapping[str, Any]:
        """Return the demand of each group of a kernel, and its instructions."""
        demand = {"vgpr": self.vgpr_blocks, "shared": self.shared_segments}
        return {
            "waves": self.waves,
            "demand": demand,
            "independent": self.independent,
            "instructions": self.instructions,
        }


class TrainingSteps(ApplicationGenerator):
    """Every application trains a model of its own. Forward each layer reads its weights and the output of the layer
    before it, and keeps its own output. Backward it reads both again, makes a gradient, and gives its activations back.
    The optimizer reads weights and gradients slice by slice.

    Layer l of application n has the l-th rank of the streams `weights n` and `activations n`.

    References
    ----------
    spec 6, R8: training step (forward, backward, optimizer).
    """

    iterations: int = lever(2, least=1, most=1000, scale="log", description="steps of training")
    layers: int = lever(6, least=1, most=1000, unit="layers", description="layers of the model")
    kernel_groups: int = lever(64, least=1, most=100_000, scale="log", unit="groups", description="groups of a kernel")
    weight_bytes: Law = lever(LogUniform(low=1 << 20, high=1 << 26), unit="bytes", description="a layer's weights")
    activation_bytes: Law = lever(
        LogUniform(low=1 << 20, high=1 << 26), unit="bytes", description="what a layer makes on the way forward"
    )

    def plan(self, plan: Plan, streams: Streams) -> None:
        weights = self.weight_bytes.draw(streams.uniforms(f"weights {plan.number}", self.layers)).tolist()
        made = self.activation_bytes.draw(streams.uniforms(f"activations {plan.number}", self.layers)).tolist()
        stream = plan.stream()
        kept = [stream.allocate(size) for size in weights]
        gradients = [stream.allocate(size) for size in weights]
        for _ in range(self.iterations):
            activations = self._forward(stream, kept, made)
            self._backward(stream, kept, gradients, activations)
            for weight, gradient in zip(kept, gradients, strict=True):
                self._launch(stream, [Touch(weight), Touch(gradient)])
        stream.free(*gradients, *kept)

    def _forward(self, stream: StreamPlan, kept: list[int], made: list[int]) -> list[int]:
        activations: list[int] = []
        for weight, size in zip(kept, made, strict=True):
            before = [Touch(tensor) for tensor in activations[-1:]]
            activations.append(stream.allocate(size))
            self._launch(stream, [Touch(weight, "shared"), *before, Touch(activations[-1])])
        return activations

    def _backward(self, stream: StreamPlan, kept: list[int], gradients: list[int], activations: list[int]) -> None:
        layers = list(zip(kept, gradients, activations, strict=True))
        for weight, gradient, activation in reversed(layers):
            self._launch(stream, [Touch(activation), Touch(weight, "shared"), Touch(gradient)])
            stream.free(activation)

    def _launch(self, stream: StreamPlan, touches: list[Touch]) -> None:
        stream.launch(self.kernel_groups, self.cycles, touches, **self.resources())


class ServedModel(ApplicationGenerator):
    """Every application serves a model: its slots, a stream each, take one request after another. A request allocates
    the blocks of its prompt, is prefilled by one kernel that writes them, and then decoded: for every block of tokens
    one more is allocated, and a kernel reads all of its blocks and the weights. At its end all blocks go back.

    Request r of slot s of application n has the r-th rank of the streams `prompts n/s` and `answers n/s`.

    References
    ----------
    spec 6, R8: decode and prefill of a served model (key-value blocks from the pool).
    """

    slots: int = lever(4, least=1, most=256, unit="streams", description="requests that are served at once")
    requests: int = lever(4, least=1, most=100_000, scale="log", unit="requests", description="requests of a slot")
    prompt: Law = lever(
        Law.read({"log_normal": {"median": 256, "sigma": 1.0}}), unit="tokens", description="how long a prompt is"
    )
    answer: Law = lever(Law.read({"geometric": {"mean": 64}}), unit="tokens", description="how long an answer is")
    block_tokens: int = lever(64, least=1, most=4096, unit="tokens", description="of a block of the cache")
    token_bytes: int = lever(16_384, least=1, most=1 << 24, scale="log", unit="bytes", description="of a token's cache")
    weight_bytes: int = lever(256 << 20, least=4096, most=1 << 40, scale="log", unit="bytes", description="the model's")
    prefill_groups: int = lever(16, least=1, most=10_000, unit="groups", description="groups of a prefill, a block")
    decode_groups: int = lever(8, least=1, most=10_000, unit="groups", description="groups of a decoding kernel")

    def plan(self, plan: Plan, streams: Streams) -> None:
        first = plan.stream()
        weights = first.allocate(self.weight_bytes)
        slots = [plan.stream() for _ in range(self.slots)]
        for number, slot in enumerate(slots):
            slot.wait_for(first)
            of = f"{plan.number}/{number}"
            prompts = self.prompt.draw(streams.uniforms(f"prompts {of}", self.requests)).tolist()
            answers = self.answer.draw(streams.uniforms(f"answers {of}", self.requests)).tolist()
            for prompt, answer in zip(prompts, answers, strict=True):
                self._serve(slot, weights, prompt, answer)
        for slot in slots:
            first.wait_for(slot)
        first.free(weights)

    def _serve(self, slot: StreamPlan, weights: int, prompt: int, answer: int) -> None:
        block = self.block_tokens * self.token_bytes
        blocks = [slot.allocate(block) for _ in range(-(-prompt // self.block_tokens))]
        groups = self.prefill_groups * len(blocks)
        slot.launch(groups, self.cycles, [Touch(weights), *map(Touch, blocks)], **self.resources())
        for _ in range(-(-answer // self.block_tokens)):
            blocks.append(slot.allocate(block))
            slot.launch(self.decode_groups, self.cycles, [Touch(weights), *map(Touch, blocks)], **self.resources())
        slot.free(*blocks)


class StencilSteps(ApplicationGenerator):
    """Every application sweeps a grid of its own again and again: a group reads its slab and `halo_bytes` of each
    neighbor's, and writes the same slab of the other grid.

    References
    ----------
    spec 6, R8: stencil with halo.
    """

    steps: int = lever(8, least=1, most=10_000, scale="log", description="sweeps over the grid")
    kernel_groups: int = lever(128, least=1, most=100_000, scale="log", unit="groups", description="groups of a sweep")
    grid_bytes: int = lever(64 << 20, least=4096, most=1 << 40, scale="log", unit="bytes", description="of one grid")
    halo_bytes: int = lever(
        16_384, least=0, most=1 << 30, unit="bytes", description="of each neighbor's slab: a row of 4,096 numbers"
    )

    def plan(self, plan: Plan, streams: Streams) -> None:
        stream = plan.stream()
        grids = [stream.allocate(self.grid_bytes), stream.allocate(self.grid_bytes)]
        for step in range(self.steps):
            reads, writes = grids[step % 2], grids[(step + 1) % 2]
            touches = [Touch(reads, "halo", halo=self.halo_bytes), Touch(writes, "slice")]
            stream.launch(self.kernel_groups, self.cycles, touches, **self.resources())
        stream.free(*grids)


class GraphSteps(ApplicationGenerator):
    """Every application passes over a graph of its own: a group reads its slice of the edges, gathers the vertices that
    they lead to, a few of them very often, and writes its slice of the result.

    References
    ----------
    spec 6, R8: graph gather.
    """

    steps: int = lever(4, least=1, most=10_000, scale="log", description="passes over the graph")
    kernel_groups: int = lever(128, least=1, most=100_000, scale="log", unit="groups", description="groups of a pass")
    vertex_bytes: int = lever(
        256 << 20, least=4096, most=1 << 40, scale="log", unit="bytes", description="all vertices"
    )
    edge_bytes: int = lever(64 << 20, least=4096, most=1 << 40, scale="log", unit="bytes", description="all edges")
    gathered: int = lever(16, least=1, most=4096, unit="vertices", description="draws of vertices by a group")
    element_bytes: int = lever(
        128, least=1, most=1 << 16, scale="log", unit="bytes", description="of a vertex: 32 numbers of 4 bytes"
    )
    skew: float = lever(0.8, least=0, most=4, step=0.05, description="exponent of Zipf's law over vertices")

    def plan(self, plan: Plan, streams: Streams) -> None:
        stream = plan.stream()
        edges, vertices = stream.allocate(self.edge_bytes), stream.allocate(self.vertex_bytes)
        for _ in range(self.steps):
            result = stream.allocate(self.edge_bytes)
            gather = Touch(vertices, "gather", count=self.gathered, element_bytes=self.element_bytes, skew=self.skew)
            stream.launch(self.kernel_groups, self.cycles, [Touch(edges), gather, Touch(result)], **self.resources())
            stream.free(result)
        stream.free(edges, vertices)


class SmallKernels(ApplicationGenerator):
    """Every application launches kernels of few groups in several streams at once, whose threads allocate.

    What a thread asks for is one size a kernel: kernel k of stream s of application n has the k-th rank of the stream
    `sizes n/s`.

    References
    ----------
    spec 6, R8: many small kernels.
    """

    streams_each: int = lever(4, least=1, most=64, unit="streams", description="streams of an application")
    kernels: int = lever(16, least=1, most=100_000, scale="log", unit="kernels", description="kernels of a stream")
    kernel_groups: int = lever(4, least=1, most=10_000, unit="groups", description="groups of a kernel")
    phases: int = lever(2, least=1, most=64, unit="phases", description="phases of a kernel")
    buffer_bytes: int = lever(
        4 << 20, least=4096, most=1 << 40, scale="log", unit="bytes", description="a stream's data"
    )
    lanes: int = lever(1, least=1, most=1024, unit="lanes", description="lanes of a wave that allocate, in one call")
    size: Law = lever(PowersOfTwo(low=16, high=1024), unit="bytes", description="what a thread asks the heap for")

    def plan(self, plan: Plan, streams: Streams) -> None:
        for number in range(self.streams_each):
            stream = plan.stream()
            buffer = stream.allocate(self.buffer_bytes)
            for size in self.size.draw(streams.uniforms(f"sizes {plan.number}/{number}", self.kernels)).tolist():
                stream.launch(
                    self.kernel_groups,
                    self.cycles,
                    [Touch(buffer)],
                    [size] * self.lanes,
                    phases=self.phases,
                    **self.resources(),
                )
            stream.free(buffer)
