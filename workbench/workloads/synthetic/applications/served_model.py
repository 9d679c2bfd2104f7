"""A served model: requests are prefilled and decoded, and their key-value cache grows block by block."""

from __future__ import annotations

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.node import Plan, StreamPlan, Touch
from workbench.workloads.synthetic.applications.applications import ApplicationGenerator
from workbench.workloads.synthetic.laws import Law


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
