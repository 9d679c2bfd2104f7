"""Training: layers forward, the same layers backward, then the optimiser over all weights."""

from __future__ import annotations

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.node import Plan, StreamPlan, Touch
from workbench.workloads.synthetic.applications.applications import ApplicationGenerator
from workbench.workloads.synthetic.laws import Law, LogUniform


class TrainingSteps(ApplicationGenerator):
    """Every application trains a model of its own: forward each layer reads its weights and what the layer before it
    made, and keeps what it makes; backward it reads both again, makes a gradient, and gives its activations back; the
    optimiser reads weights and gradients slice by slice.

    Layer l of application n has the l-th rank of the streams `weights n` and `activations n`.

    References
    ----------
    spec 6, R8: training step (forward, backward, optimiser).
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
