"""
The engine: a waiting queue, a running batch, a KV pool, one step after the other.

source: vLLM V1's scheduler (first come first served, chunked prefill, recompute preemption), as its metrics show it in
recordings of 0.32.0 and 0.11.2.
"""

from collections import deque
from collections.abc import Callable
from math import inf
from random import Random

from monitor.simulator.blocks import BlockPool
from monitor.simulator.measures import EngineMeasures
from monitor.simulator.request import Outcome, Request
from monitor.simulator.script import Server


class Engine:
    """
    Runs steps on a clock of its own: `step_end` is when the step in progress completes, infinity when there is none.

    The caller calls `complete()` at that instant. `ended(request, outcome, now)` is called for each finished request.
    """

    def __init__(
        self, server: Server, measures: EngineMeasures, random: Random, ended: Callable[[Request, Outcome, float], None]
    ) -> None:
        self.step_end: float = inf
        self.slowness = 1.0
        self.error_share = 0.0
        self.admitting = True
        self.running: list[Request] = []
        self.waiting: deque[Request] = deque()
        # What arrives during a step is not seen, nor counted as waiting, before the next one.
        self._arrived: list[Request] = []
        # One block is the null block of V1; V0 has none.
        self.pool = BlockPool(server.num_gpu_blocks - 1 if server.v1 else server.num_gpu_blocks)
        self._server = server
        self.measures = measures
        self._random = random
        self._ended = ended
        self._batch: list[tuple[Request, int]] = []
        self._began = 0.0
        self._left: float | None = None
        self._aborted: list[Request] = []

    @property
    def load(self) -> int:
        return len(self.running) + len(self.waiting) + len(self._arrived)

    @property
    def frozen(self) -> bool:
        return self._left is not None

    def submit(self, request: Request, now: float) -> None:
        if not self._server.enable_prefix_caching:
            request.prefix = 0
        self._arrived.append(request)
        self.wake(now)

    def abort(self, request: Request) -> None:
        """Forget a request whose client has gone; a frozen engine does so when it thaws."""
        if self._server.counts_aborts and not request.over:
            self.measures.aborted()
        request.over = True
        if self.frozen:
            self._aborted.append(request)
        elif request in self.running:
            self.running.remove(request)
            self._free(request)
        elif request in self.waiting:
            self.waiting.remove(request)
        else:
            self._arrived.remove(request)
        if not self._batch and not self.frozen:
            self._show()

    def wake(self, now: float) -> None:
        """Begin a step unless one is in progress."""
        if self._batch or self.frozen:
            return
        self._begin(now)
        if not self._batch:
            self._show()

    def freeze(self, now: float) -> None:
        """Stop in the middle of whatever the engine does."""
        if not self.frozen:
            self._left = self.step_end - now
            self.step_end = inf

    def thaw(self, now: float) -> None:
        if self._left is None:
            return
        self.step_end = now + self._left
        self._left = None
        for request in self._aborted:
            self.abort(request)
        self._aborted.clear()
        self.wake(now)

    def sleep(self, now: float, level: int) -> None:
        self.freeze(now)
        self.measures.sleep_state("weights_offloaded" if level == 1 else "discard_all")

    def wake_up(self, now: float) -> None:
        self.thaw(now)
        self.measures.sleep_state("awake")

    def complete(self) -> None:
        """Take what the step in progress computed, then begin the next one."""
        now = self.step_end
        finished = self._collect(now)
        for request in finished:
            self._finish(request, now)
        self._show()
        self._begin(now)

    def _collect(self, now: float) -> list[Request]:
        generated = in_turn = 0
        began = self._began
        prompts, finished = 0, []
        for request, count in self._batch:
            request.computed += count
            # Neither a client that has gone nor a chunk of a prompt brings a token.
            if request.over or request.computed < request.tokens:
                continue
            generated += 1
            request.tokens += 1
            if request.last_token == began:
                in_turn += 1
            else:
                prompts += self._token_out_of_turn(request, now)
            request.last_token = now
            if request.tokens >= request.end:
                finished.append(request)
        # No outputs, no statistics: a long prefill moves nothing but the KV gauge.
        if generated:
            self.measures.step(now - began, in_turn, generated, prompts)
        return finished

    def _token_out_of_turn(self, request: Request, now: float) -> int:
        """Count a first token, or the first one after a preemption; return the prompt tokens that it ends."""
        first = request.first_token is None
        if first:
            request.first_token = now
            self._share_prefix(request)
        else:
            self.measures.resumed(now - request.last_token)
        # V0 counts a recomputed prompt once more, and its first token too.
        again = request.recomputing and not self._server.v1
        request.recomputing = False
        if not first and not again:
            return 0
        self.measures.first_token(request, now)
        return request.prompt

    def _share_prefix(self, request: Request) -> None:
        blocks = request.prefix // self._server.block_size
        if blocks and not request.shared and not self.pool.warm_blocks(request.prefix):
            self.pool.share(request.prefix, blocks)
            request.shared = blocks

    def _finish(self, request: Request, now: float) -> None:
        request.over = True
        self.running.remove(request)
        self._free(request)
        outcome = Outcome.LENGTH if request.generated >= request.max_tokens else Outcome.STOP
        if self.error_share and self._random.random() < self.error_share:
            outcome = Outcome.ERROR
        self.measures.finished(request, outcome, now)
        self._ended(request, outcome, now)

    def _begin(self, now: float) -> None:
        self._began = now
        self._batch = []
        self.waiting.extend(self._arrived)
        self._arrived.clear()
        budget, preempted = self._continue_running()
        # After a preemption nobody is let in within the same step.
        if self.waiting and self.admitting and not preempted:
            budget = self._admit(budget, now)
        self.step_end = inf
        if self._batch:
            cost, size = self._server.cost, len(self._batch)
            prefilled = self._server.max_num_batched_tokens - budget - size
            took = cost.base + cost.per_sequence * size + cost.per_prefill_token * prefilled
            self.step_end = now + took * self.slowness * (1 + cost.jitter * (2 * self._random.random() - 1))

    def _continue_running(self) -> tuple[int, bool]:
        """Give every running request its tokens, oldest first; return what is left of the budget, and who had to go."""
        budget, size = self._server.max_num_batched_tokens, self._server.block_size
        running, batch = self.running, self._batch
        before, index = len(running), 0
        while index < len(running) and budget > 0:
            request = running[index]
            count = min(request.tokens - request.computed, budget)
            missing = -(-(request.computed + count) // size) - request.blocks
            if missing > 0:
                if not self._make_room(missing, request):
                    break
                request.blocks += missing
            batch.append((request, count))
            budget -= count
            index += 1
        return budget, len(running) < before

    def _make_room(self, blocks: int, request: Request) -> bool:
        """Take blocks for `request`, preempting the latest arrivals; False when it came to itself."""
        while not self.pool.allocate(blocks):
            victim = self.running.pop()
            self._free(victim)
            victim.preemptions += 1
            victim.recomputing = True
            self.waiting.appendleft(victim)
            self.measures.preempted()
            if victim is request:
                return False
        return True

    def _admit(self, budget: int, now: float) -> int:
        """Let waiting requests in, first come first served, while there are places, tokens and blocks."""
        server = self._server
        while self.waiting and budget > 0 and len(self.running) < server.max_num_seqs:
            request = self.waiting[0]
            warm = self.pool.warm_blocks(request.prefix)
            start = warm * server.block_size
            count = min(request.tokens - start, budget)
            blocks = -(-(start + count) // server.block_size)
            if not self._take_blocks(request, warm, blocks - warm):
                break
            self.running.append(self.waiting.popleft())
            request.computed, request.blocks, request.shared = start, blocks, warm
            if request.scheduled is None:
                request.scheduled, request.cached = now, start
                self.measures.admitted(request)
            self._batch.append((request, count))
            budget -= count
        return budget

    def _take_blocks(self, request: Request, warm: int, own: int) -> bool:
        if warm:
            self.pool.join(request.prefix)
        if self.pool.allocate(own):
            return True
        if warm:
            self.pool.leave(request.prefix)
        return False

    def _free(self, request: Request) -> None:
        self.pool.release(request.blocks - request.shared)
        if request.shared:
            self.pool.leave(request.prefix)
        request.blocks = request.shared = 0

    def _show(self) -> None:
        self.measures.gauges(len(self.running), len(self.waiting), self.pool.usage)
