"""The key-value cache of servers of language models whose requests are drawn."""

from __future__ import annotations

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.serving.serving import Serving
from workbench.workloads.serving.traffic import Traffic, prefixes
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.laws import Law, LogNormal
from workbench.workloads.synthetic.logarithm import waiting

_SECOND = 1_000_000_000


class ServingCache(Serving, Generator):
    """Prompts come as a Poisson process, lengths of prompt and answer are drawn apart; see `workloads/serving/`.

    Request n has the n-th rank of the streams `arrivals`, `prompts` and `answers`, whatever the layout: layouts meet
    the same requests.

    References
    ----------
    arXiv 2309.06180, section 6.1: Poisson arrivals, as data sets without times have them; mean prompts and answers of
    ShareGPT are 161 and 338 tokens (figure 11).

    Examples
    --------
    >>> from workbench.machine import Board
    >>> asked = ServingCache(count=3, token_bytes=1 << 16).pool_requests(Board(), Streams(1))
    >>> set(asked.bytes.tolist()), int(np.where(asked.action == 0, 1, -1).sum())
    ({1048576}, 0)
    """

    count: int = lever(300, least=1, most=1_000_000, scale="log", unit="requests", description="how many there are")
    per_second: float = lever(
        4.0, least=0.0001, most=1e6, scale="log", unit="requests", description="how many come a second, on average"
    )
    prompt: Law = lever(
        LogNormal(median=100, sigma=1.0, least=1, most=100_000), unit="tokens", description="how long prompts are"
    )
    answer: Law = lever(
        LogNormal(median=250, sigma=0.8, least=1, most=100_000), unit="tokens", description="how long answers are"
    )

    def check(self) -> None:
        for needed in ("prompt", "answer"):
            getattr(self, needed).check_least(f"{self.name}.{needed}")

    def traffic(self, streams: Streams) -> Traffic:
        gaps = _SECOND / self.per_second * waiting(streams.uniforms("arrivals", self.count))
        prompt = self.prompt.draw(streams.uniforms("prompts", self.count))
        return Traffic(
            arrival=np.cumsum(gaps).astype(np.int64),
            prompt=prompt,
            answer=self.answer.draw(streams.uniforms("answers", self.count)),
            prefix=prefixes(prompt, self.prefix_tokens, self.prefix_kinds, self.prefix_share, streams),
        )
