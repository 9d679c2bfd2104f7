"""The node: all parts on one calendar, and what passes between them (spec 6)."""

from __future__ import annotations

from collections.abc import Callable

from tests.oracles.node import patterns
from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.check import wrong
from tests.oracles.node.description import Node
from tests.oracles.node.dispatcher import Dispatcher
from tests.oracles.node.draws import drawn
from tests.oracles.node.groups import Group, Part
from tests.oracles.node.heap import Block as HeapBlock
from tests.oracles.node.heap import Call, Heap
from tests.oracles.node.links import Links
from tests.oracles.node.log import Log
from tests.oracles.node.pages import Page, Run, granule_of, rounded
from tests.oracles.node.policies import affinity
from tests.oracles.node.pool import Block, Pool, Region
from tests.oracles.node.streams import Failure, KernelRun, Program
from tests.oracles.node.tensors import Tensor
from tests.oracles.node.touch import Access, Walk
from tests.oracles.node.translation import Translation

BEHIND_ANSWERS = 1 << 32
"""Before K: local data come after all answers of translation at their cycle."""


class Simulation:
    """One run of a node; `run` takes it to its end."""

    def __init__(self, node: Node) -> None:
        self.node, self.couplings, self.calendar = node, node.couplings, Calendar()
        self.log = Log(self.calendar)
        self.links = Links(self.calendar, node.machine, self.log)
        self.translations = [self._translation(card) for card in range(len(node.machine.cards))]
        self.dispatchers = [self._dispatcher(card) for card in range(len(node.machine.cards))]
        self.heaps: dict[tuple[int, int], Heap] = {}
        self.pool = self._pool()
        self.programs = [Program(self, k, application) for k, application in enumerate(node.applications)]
        self._kernels: dict[tuple[int, ...], KernelRun] = {}
        self.touches = self.remote_touches = 0
        self.mapped_pages = self.unmapped_pages = self.shootdowns = self.stalled_modules = 0
        self.failure = ""

    def run(self) -> Simulation:
        """Run to the end or the horizon; a run that cannot go on says who waits for what (E7)."""
        for program in self.programs:
            key = Key(program.application.home, program.number)
            self.calendar.at(program.application.arrival, Rank.STEP, key, program.arrive)
        try:
            self.calendar.run(self.node.horizon)
        except Failure as failure:
            self.failure = str(failure)
            return self
        if self.calendar.empty and self._waits():
            self.failure = f"nothing is pending at cycle {self.calendar.now}, but {'; '.join(self._waits())}."
        return self

    def _waits(self) -> list[str]:
        of_streams = [wait for program in self.programs if program.ended_at is None for wait in program.waits]
        keys = [job.key for job in self.pool.waiting]
        return [*of_streams, *(f"{_owner(key)} waits for memory of the pool" for key in keys if of_streams)]

    # Making the parts.

    def _translation(self, card: int) -> Translation:
        machine = self.node.machine.cards[card]
        cores, reach = machine.dispatch.modules, self._reach(card)
        return Translation(self.calendar, card, cores, machine.translation, self.node.policies, self.log, reach)

    def _dispatcher(self, card: int) -> Dispatcher:
        machine, policies = self.node.machine.cards[card].dispatch, self.node.policies
        asks = policies.choice in ("affinity", affinity) or getattr(policies.choice, "asks_held", False)
        return Dispatcher(self.calendar, card, machine, policies, self.log, self._held if asks else None)

    def _pool(self) -> Pool:
        granule = granule_of(self.couplings.pages)
        return Pool(
            self.calendar, self.node.machine, granule, self.node.policies, self.log,
            self.links.bandwidth, self._copy if self.couplings.remote == "link" else None, self._moved,
        )  # fmt: skip

    # Memory: R9, R10, E2, E5.

    def ask_pool(self, program: Program, tensor: Tensor, key: Key) -> None:
        """Ask the pool; under `at_once` the tensor is there whatever the pool says."""
        if self.couplings.memory == "at_once":
            home = program.application.home
            self._map(program, tensor, [Run(home, 0, rounded(tensor.bytes, granule_of("neutral")))])
        self.pool.allocate(
            key, program.application.home, tensor.bytes, lambda region: self._answered(program, tensor, region, key)
        )

    def _answered(self, program: Program, tensor: Tensor, region: Region | None, key: Key) -> None:
        if region and (program.ended_at is not None or tensor.state == "freed"):
            self.calendar.at(self.calendar.now, Rank.FREE, key, lambda: self.pool.release(region, key, lambda: None))
            return
        tensor.region = region
        if self.couplings.memory == "at_once":
            return
        if region is None:
            program.refuse()
            return
        self._map(program, tensor, self._runs(region.block))

    def _runs(self, block: Block) -> list[Run]:
        card = block.parent.card
        if self.couplings.pages == "neutral":
            return [Run(card, 0, block.size)]
        granule = self.pool.granule
        return [Run(card, first * granule, count * granule) for first, count in self.pool.cards[card].runs_of(block)]

    def _map(self, program: Program, tensor: Tensor, runs: list[Run]) -> None:
        tensor.pages = program.space.mapped(runs, self.couplings.pages)
        self.mapped_pages += len(tensor.pages)
        tensor.state = "granted"
        key = Key(program.application.home, program.number)
        tags = tuple((page.tag, page.card) for page in tensor.pages)
        self.log("node", program.application.home, "map", key, tensor=tensor.name, pages=tags)
        tensor.changed()

    def free(self, program: Program, tensor: Tensor, key: Key, done: Callable[[], None]) -> None:
        """Unmap a tensor's pages everywhere, shoot them down, and give the memory to the pool."""
        self._unmap(tensor.pages, key)
        self.unmapped_pages += len(tensor.pages)
        tensor.state, tensor.pages = "freed", []
        region, tensor.region = tensor.region, None
        if region is None:
            done()
        else:
            self.pool.release(region, key, done)

    def _unmap(self, pages: list[Page], key: Key) -> None:
        """Drop entries of pages, and plan one shoot-down of all of them (R11)."""
        targets = [(k, core) for k, one in enumerate(self.translations) for core in self._targets(one, pages)]
        self.log("node", key.card, "unmap", key, pages=tuple(page.tag for page in pages))
        for translation in self.translations:
            translation.unmap(pages)
        self.shootdowns += 1
        self.calendar.at(self.calendar.now, Rank.SHOOTDOWN, key, lambda: self._shoot_down(targets, key))

    def _targets(self, translation: Translation, pages: list[Page]) -> list[int]:
        """Return the modules that a shoot-down goes to; a directory that is always right names the holders."""
        if self.couplings.shootdown_to == "all":
            return list(range(len(translation.cores)))
        return sorted({core for page in pages for core in translation.holders(page.tag)})

    def _shoot_down(self, targets: list[tuple[int, int]], key: Key) -> None:
        for card, core in targets:
            self.log("translation", card, "shootdown", key, core=core)
            self.stalled_modules += 1
            self.translations[card].stall(core, self.couplings.shootdown_cycles)

    def close(self, program: Program) -> None:
        """Free all that an application that has ended still has: tensors, then chunks, in order of allocation."""
        program.around.log("node", program.application.home, "end", Key(program.application.home, program.number))
        key = Key(program.application.home, program.number)
        for tensor in program.tensors.values():
            if tensor.granted:
                tensor.state = "freed"
                self._plan_free(program, tensor, key)
        for region, pages in program.chunks:
            self.calendar.at(self.calendar.now, Rank.FREE, key, self._chunk_freer(region, pages, key))

    def _plan_free(self, program: Program, tensor: Tensor, key: Key) -> None:
        now = self.calendar.now
        self.calendar.at(now, Rank.FREE, key, lambda: self.free(program, tensor, key, lambda: None))

    def _chunk_freer(self, region: Region, pages: list[Page], key: Key) -> Callable[[], None]:
        def free() -> None:
            self._unmap(pages, key)
            self.unmapped_pages += len(pages)
            pages.clear()  # a region that moves before the pool has it back is mapped no more
            self.pool.release(region, key, lambda: None)

        return free

    def _copy(self, region: Region, source: int, card: int, done: Callable[[], None]) -> None:
        self.links.send(source, card, region.size, region.key, done)

    def _moved(self, region: Region, block: Block) -> None:
        """Give the pages of a region that moved their new card; the old translations are shot down (R11)."""
        pages = next((pages for one, pages in self._mapped_regions() if one is region), [])
        if pages:
            self._unmap(pages, region.key)
        for page in pages:
            page.card = block.parent.card

    def _mapped_regions(self) -> list[tuple[Region | None, list[Page]]]:
        tensors = [tensor for program in self.programs for tensor in program.tensors.values()]
        chunks = [chunk for program in self.programs for chunk in program.chunks]
        return [*((tensor.region, tensor.pages) for tensor in tensors), *chunks]

    # Kernels and groups: R6, R7.

    def card_for(self, program: Program, tensors: list[Tensor]) -> int:
        """Return the card that a kernel runs on: home, or where most bytes of its tensors lie."""
        held = [0] * len(self.dispatchers)
        for page in (page for tensor in tensors for page in tensor.pages):
            held[page.card] += page.size
        home = program.application.home
        if self.couplings.kernel_card == "home" or not any(held):
            return home
        return held.index(max(held))

    def launch(self, program: Program, run: KernelRun) -> None:
        """Make a kernel's groups and put them into the channel of the application's priority."""
        groups = [self._group(run, number) for number in range(run.kernel.groups)]
        self._kernels[run.key[:4]] = run
        self.log("node", run.key.card, "put_forward", run.key, groups=len(groups))
        program.groups += groups
        program.running += groups
        for group in groups:
            group.parts = [Part(self, group, -1, program.application.priority)]
        tasks = [part for group in groups for part in group.parts]
        self.dispatchers[run.key.card].enter(tasks, program.application.priority)

    def _group(self, run: KernelRun, number: int) -> Group:
        key = run.key._replace(group=number)
        path = (key.application, key.stream, key.kernel, number)
        compute = [drawn(p.compute, number, self.node.seed, *path, 0, k) for k, p in enumerate(run.kernel.phases)]
        return Group(run.kernel, key, compute, run.reached_at, self.calendar.now)

    def pages_of(self, part: Part, phase: int) -> list[tuple[Page, int]]:
        """Return the simulated pages of a phase with the bytes that each stands for."""
        group, rows = part.group, []
        for number, touch in enumerate(part.kernel.phases[phase].touches):
            tensors = self.programs[part.key.application].tensors
            tensor = tensors[touch.tensor]
            path = (*group.key[1:5], 1, phase, number)
            spans = patterns.touched(
                touch, tensor.bytes, group.key.group, part.kernel.groups, self.node.seed, *path,
                tensor=list(tensors).index(touch.tensor),
            )  # fmt: skip
            sizes, limit = [page.size for page in tensor.pages], self.couplings.touches_a_phase
            moved = patterns.moved(spans, sizes, limit, self.node.machine.line_bytes, touch.bytes)
            rows += [(tensor.pages[n], size) for n, size in moved]
        return rows if part.key.wave < 0 else rows[part.key.wave :: part.kernel.waves]

    def group_ended(self, group: Group) -> None:
        """Free what a group allocated, and end its kernel if it was the last."""
        program, run = self.programs[group.key.application], self._kernels[group.key[:4]]
        self.log("node", group.key.card, "group_end", group.key)
        program.running.remove(group)
        for part in group.parts:
            self.give_blocks(part, part.blocks)
        run.open -= 1
        if not run.open:
            program.kernel_ended(run)
        program.maybe_end()

    def cancel(self, program: Program) -> list[Group]:
        """Take an application's queued groups out of all channels; a split group's begun parts go on."""
        parts = [part for one in self.dispatchers for part in one.cancel(program.number)]
        cancelled = []
        for part in parts:
            part.group.parts.remove(part)
            if not part.group.parts:
                cancelled.append(part.group)
        for group in {id(part.group): part.group for part in parts if part.group.parts}.values():
            group.maybe_end(self)
        return cancelled

    def release(self, part: Part) -> None:
        """Give a part's resources back to its module."""
        self.dispatchers[part.card].release(part.key)

    def lowest_priority(self, card: int) -> int:
        """Return the least urgent priority of a card."""
        return self.node.machine.cards[card].dispatch.priorities

    def executed(self, card: int, module: int, begin: int, end: int, kind: str, amount: int) -> None:
        """Enter instructions into the history of a module."""
        self.dispatchers[card].histories[module].enter(begin, end, kind, amount)

    # Translation: R11, R13, R15.

    def translate(self, access: Access, card: int) -> None:
        """Ask the card's translation for a page."""
        self.touches += 1
        self.remote_touches += access.page.card != card
        self.translations[card].request(access)

    def stalled_until(self, card: int, module: int) -> int:
        """Return until when a module issues nothing."""
        return self.translations[card].cores[module].stalled_until

    def fetch(self, access: Access, size: int, card: int, done: Callable[[], None]) -> None:
        """Bring a touch's data: over the links from another card, else in the time of local data."""
        if self.couplings.remote == "link" and access.page.card != card:
            access.remote = True
            self.links.send(access.page.card, card, size, access.key, done)
        elif self.node.machine.local_cycles:
            end = self.calendar.now + self.node.machine.local_cycles
            self.calendar.at(end, Rank.TRANSLATION_ANSWER, (BEHIND_ANSWERS, *access.key), done)
        else:
            done()

    def _reach(self, card: int) -> Callable[[Walk, Callable[[], None]], None]:
        def reach(walk: Walk, done: Callable[[], None]) -> None:
            if self.couplings.remote == "link" and walk.page.card != card:
                self.links.send(walk.page.card, card, self.node.machine.walk_bytes, walk.key, done)
            else:
                done()

        return reach

    def _held(self, part: Part) -> list[int]:
        """Return how many pages of a group each module holds, in its TLB or by its directory (R15)."""
        translation = self.translations[part.card]
        tags = self._known_pages(part)
        holders = [set(translation.holders(tag)) for tag in sorted(tags)]
        known = self.node.policies.locate != "no_directory"
        held = [sum(core in one or (known and bool(one)) for one in holders) for core in range(len(translation.cores))]
        self.log("translation", part.card, "held", part.key, pages=tuple(held))
        return held

    def _known_pages(self, part: Part) -> set[int]:
        number = part.key.group - (self.couplings.pages_known == "group_before")
        if number < 0:
            return set()
        key = part.key._replace(group=number, wave=-1)
        before = Part(self, Group(part.kernel, key, [], 0, 0), -1, 0)
        return {page.tag for phase in range(len(part.kernel.phases)) for page, _ in self.pages_of(before, phase)}

    # Heaps: R14, E8.

    def malloc(self, part: Part, key: Key, lanes: list[int], answered: Callable[[Call], None]) -> Call:
        """Call malloc on the application's heap of the card."""
        return self._heap(part).call(key, lanes, answered)

    def _heap(self, part: Part) -> Heap:
        place = (part.key.application, part.card)
        if place not in self.heaps:
            grows = self._grower(part.key.application, part.card) if self.couplings.malloc == "wait" else None
            machine = self.node.machine.cards[part.card].heap
            self.heaps[place] = Heap(
                self.calendar, part.card, machine, self.node.policies, self.log, grows, self.couplings.chunk_bytes
            )
        return self.heaps[place]

    def _grower(self, application: int, card: int) -> Callable[[int, Key, Callable[[bool], None]], None]:
        program = self.programs[application]

        def answered(region: Region | None, came: Callable[[bool], None]) -> None:
            if region is not None:
                pages = program.space.mapped(self._runs(region.block), self.couplings.pages)
                self.mapped_pages += len(pages)
                program.chunks.append((region, pages))
            came(region is not None)

        def ask(size: int, key: Key, came: Callable[[bool], None]) -> None:
            if self.couplings.chunks_at_once:
                came(True)
                return
            now = self.calendar.now
            self.calendar.at(
                now, Rank.POOL_REQUEST, key,
                lambda: self.pool.allocate(key, card, size, lambda region: answered(region, came)),
            )  # fmt: skip

        return ask

    def give_blocks(self, part: Part, blocks: list[HeapBlock]) -> None:
        """Free blocks of the device heap, at this cycle."""
        if blocks:
            heap = self._heap(part)
            self.calendar.at(self.calendar.now, Rank.FREE, part.key, lambda: heap.free(part.key, blocks))


def _owner(key: Key) -> str:
    owner = f"stream {key.stream} of application {key.application}"
    return owner if key.group < 0 else f"group {key.group} of kernel {key.kernel} in {owner}"


def simulate(node: Node) -> Simulation:
    """Run a node and return the run; a node that cannot run is refused with one sentence."""
    sentences = wrong(node)
    if sentences:
        raise ValueError(sentences[0])
    return Simulation(node).run()
