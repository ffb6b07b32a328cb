"""One vLLM process: the API server in front of its engines, from its start to its end."""

from collections.abc import Callable
from random import Random

from monitor.model.instant import Duration
from monitor.simulator.agenda import Agenda
from monitor.simulator.engine import Engine
from monitor.simulator.families import families, histogram_bounds, parse_version
from monitor.simulator.measures import EngineMeasures
from monitor.simulator.meter import Meter
from monitor.simulator.page import Page, adapters_text
from monitor.simulator.request import Outcome, Request
from monitor.simulator.script import Server

# Called once with the instant and the HTTP status when a request is answered; 0 is a broken connection.
Reply = Callable[[float, int], None]

OK, BAD_REQUEST, FAILED, BUSY, BROKEN = 200, 400, 500, 503, 0
# Ours, for a client that stopped waiting: the server counts a success.
GIVEN_UP = 499

# source: vLLM 0.32.0 clamps max_tokens to what fits, 0.11.2 and 0.9.0.1 refuse; the release between is not known.
_CLAMPS_SINCE = (0, 12)


class Process:
    """
    Takes requests and answers them; everything it counts dies with it.

    It was launched at `started`, and listens since `born`, when it made its metrics.
    """

    def __init__(self, server: Server, agenda: Agenda, random: Random, *, started: float, born: float) -> None:
        shown = families(server)
        bounds = histogram_bounds(shown)
        self.server = server
        self.dead = False
        # Where the load balancer sends everything, and which rank is not seen any more.
        self.only: int | None = None
        self.gone: int | None = None
        self._adapters: dict[str, float] = {}
        self._agenda = agenda
        self._started = started
        self._born = born
        self._in_flight: dict[Request, tuple[Reply, Engine]] = {}
        self._front = Meter.with_histograms(bounds)
        meters = [Meter.with_histograms(bounds) for _ in range(server.data_parallel_size)]
        for meter in meters:
            if not server.v1:
                # source: V0's warm-up leaves one empty step in the histogram.
                meter.observe("iteration", 0)
        self._rejected = meters[0]
        self.engines = [Engine(server, EngineMeasures(meter, server), random, self._ended) for meter in meters]
        self._page = Page(
            shown, meters, self._front, _settings(server), created=born / 1000, with_created=not server.multiprocess
        )

    @property
    def in_flight(self) -> int:
        return len(self._in_flight)

    @property
    def next_step(self) -> float:
        """When the next engine step completes."""
        return min(engine.step_end for engine in self.engines)

    def complete_step(self) -> None:
        min(self.engines, key=lambda engine: engine.step_end).complete()

    def accept(self, request: Request, reply: Reply, now: float, timeout: Duration | None = None) -> None:
        """Take a request; `reply` is called when it is answered, at once if it is refused."""
        status = self._admission(request)
        if status != OK:
            self._count(status, request, now)
            reply(now, status)
            return
        engine = self._chosen()
        self._in_flight[request] = (reply, engine)
        self._use(request.lora, now)
        if timeout is not None:
            self._agenda.at(now + timeout, lambda at: self._give_up(request, at))
        engine.submit(request, now)

    def engine_died(self, now: float) -> None:
        self.dead = True
        for engine in self.engines:
            engine.freeze(now)
        self.break_connections(now)

    def break_connections(self, now: float) -> None:
        """Drop everything in flight: the process, or its engine, has ended."""
        dropped, self._in_flight = self._in_flight, {}
        for reply, _ in dropped.values():
            reply(now, BROKEN)

    def render(self, now: float) -> str:
        """Return the page."""
        self._vitals((now - self._born) / 1000, now)
        page = self._page.render()
        if self.server.max_loras:
            page += adapters_text(self._adapters, self.server.max_loras)
        if self.gone is not None:
            rank = f'engine="{self.gone}"'
            page = "".join(line for line in page.splitlines(keepends=True) if rank not in line)
        return page if self.server.metric_prefix == "vllm:" else page.replace("vllm:", self.server.metric_prefix)

    def _chosen(self) -> Engine:
        """Return the engine that a request goes to: the one with the least to do."""
        if self.only is not None:
            return self.engines[self.only]
        return min((one for rank, one in enumerate(self.engines) if rank != self.gone), key=lambda one: one.load)

    def _use(self, lora: str, now: float) -> None:
        """Note which adapters are in use, when that changes. What was shown once stays on the page, as of then."""
        if lora:
            in_use = sorted({request.lora for request in self._in_flight if request.lora})
            self._adapters[",".join(in_use)] = now / 1000

    def _admission(self, request: Request) -> int:
        server = self.server
        if self.dead:
            return FAILED
        room = server.max_model_len - request.prompt
        if room <= 0 or (request.max_tokens > room and parse_version(server.version) < _CLAMPS_SINCE):
            return BAD_REQUEST
        if server.max_num_queued_reqs is not None and self.in_flight >= server.max_num_queued_reqs:
            self._rejected.add("rejected:max_num_queued_reqs")
            return BUSY
        request.max_tokens = min(request.max_tokens, room)
        request.end = min(request.end, request.prompt + request.max_tokens)
        return OK

    def _ended(self, request: Request, outcome: Outcome, now: float) -> None:
        # A client that gave up while the engine hung is not there any more.
        waiting = self._in_flight.pop(request, None)
        if waiting:
            status = FAILED if outcome is Outcome.ERROR else OK
            self._count(status, request, now)
            self._use(request.lora, now)
            waiting[0](now, status)

    def _give_up(self, request: Request, now: float) -> None:
        waiting = self._in_flight.pop(request, None)
        if waiting:
            reply, engine = waiting
            engine.abort(request)
            self._count(OK, request, now)
            reply(now, GIVEN_UP)

    def _count(self, status: int, request: Request, now: float) -> None:
        """Count an HTTP answer as the API server's middleware does: only the class of the status."""
        front, seconds = self._front, (now - request.arrived) / 1000
        key = f"http_requests:{status // 100}xx"
        front.add(key)
        for born in (key, "http_request_size", "http_response_size", "http_duration"):
            front.born.setdefault(born, now / 1000)
        front.observe("http_duration", seconds)
        front.observe("http_highr", seconds)
        front.observe("http_request_size", 120 + 4 * request.prompt)
        front.observe("http_response_size", 450 + 2 * request.generated)

    def _vitals(self, uptime: float, now: float) -> None:
        """Set what python_* and process_* would say: plausible numbers, no more."""
        values = self._front.values
        values["now"] = now / 1000
        self._rejected.values["now"] = now / 1000
        values["started"] = round(self._started / 1000, 2)
        values["cpu"] = round(20.0 + 0.05 * uptime + 0.003 * values.get("http_requests:2xx", 0), 2)
        values["fds"] = 34 + self.in_flight
        values["vms"] = 1.917394944e09
        values["rss"] = 6.98e08 + 4096 * min(int(uptime), 10_000)
        for generation, (collections, objects) in enumerate(((1568, 15169), (143, 2529), (10, 608))):
            values[f"gc_collections:{generation}"] = collections + int(uptime / 10 ** (generation + 1))
            values[f"gc_collected:{generation}"] = objects + int(uptime)


def _settings(server: Server) -> dict[str, str]:
    """Return what the table's `$name` labels say of this server."""
    concurrency = server.num_gpu_blocks * server.block_size / server.max_model_len
    return {
        "model_name": server.model_name,
        "block_size": str(server.block_size),
        # The sum over the engines, on every engine; the next two are of one engine.
        "num_gpu_blocks": str(server.num_gpu_blocks * server.data_parallel_size),
        "num_gpu_blocks_override": str(server.num_gpu_blocks),
        "kv_cache_size_tokens": str(int(concurrency * server.max_model_len)),
        "kv_cache_max_concurrency": repr(concurrency),
        "enable_prefix_caching": str(server.enable_prefix_caching),
    }
