"""
The language of scenarios: what server runs, what traffic it gets, what goes wrong and when.

Every `at` and every duration is in milliseconds; `at` counts from the start of the scenario.
"""

from dataclasses import dataclass, field
from random import Random

from monitor.model.instant import MINUTE, SECOND, Duration


@dataclass(frozen=True, slots=True)
class Lengths:
    """A whole number drawn evenly between two bounds, both included: tokens, or milliseconds of thought."""

    low: int
    high: int

    def draw(self, random: Random) -> int:
        return self.low if self.low == self.high else random.randint(self.low, self.high)


def exactly(length: int) -> Lengths:
    return Lengths(length, length)


@dataclass(frozen=True, slots=True)
class Cost:
    """
    How long one engine step takes: milliseconds, with a fraction.

    `jitter` is the share by which a step may be shorter or longer. The defaults resemble a small model on a busy CPU.
    """

    base: float = 6.0
    per_sequence: float = 0.55
    per_prefill_token: float = 0.05
    jitter: float = 0.3


@dataclass(frozen=True, slots=True)
class Server:
    """
    One vLLM server: the flags that its metrics show or feel, under vLLM's own names.

    `v1` says which engine runs; 0.8 to 0.10 had both. `multiprocess` is prometheus_client's multiprocess mode, which
    several API servers need, and V0 always: no `_created`, no `process_*`, no `python_*`. `metric_prefix` is what Ray
    (`ray_vllm_`) or KServe (`kserve_vllm:`) makes of `vllm:`. Of `num_speculative_tokens` proposed tokens a step, the
    share `acceptance` is taken. With `max_loras` the page tells which adapters are in use. Most versions lose count of
    requests whose client has gone; one that `counts_aborts` has them in request_success.
    """

    version: str = "0.32.0"
    v1: bool = True
    model_name: str = "tiny-llama"
    max_model_len: int = 512
    num_gpu_blocks: int = 100
    block_size: int = 32
    max_num_seqs: int = 16
    max_num_batched_tokens: int = 2048
    max_num_queued_reqs: int | None = None
    enable_prefix_caching: bool = True
    data_parallel_size: int = 1
    multiprocess: bool = False
    disable_log_stats: bool = False
    enable_server_load_tracking: bool = False
    api_key: str = field(default="", repr=False)
    dev_mode: bool = False
    metric_prefix: str = "vllm:"
    num_speculative_tokens: int = 0
    acceptance: float = 0.7
    max_loras: int = 0
    counts_aborts: bool = False
    cost: Cost = Cost()


@dataclass(frozen=True, slots=True)
class Phase:
    """
    Traffic from `at` for `duration`; phases may overlap and then add up.

    Either `clients` that each send, wait for the answer, think and send again, or a Poisson stream of `rate` requests
    a second that ends at `rate_to` (default: the same). `output` is max_tokens; with the probability `stops` an answer
    ends before. A prompt as long as the model's context, or longer, is refused with a 4xx, as vLLM does.
    `shared_prefix` leading tokens are the same in every prompt. A client gives up after `timeout`. `lora` names the
    adapter that is asked for.
    """

    at: Duration
    duration: Duration
    clients: int = 0
    rate: float = 0.0
    rate_to: float | None = None
    prompt: Lengths = Lengths(64, 64)
    output: Lengths = Lengths(200, 200)
    think: Lengths = Lengths(0, 0)
    stops: float = 0.0
    shared_prefix: int = 0
    timeout: Duration | None = None
    lora: str = ""


@dataclass(frozen=True, slots=True)
class Hang:
    """
    The engine stops: gauges freeze, counters are flat, /metrics and /health still answer 200.

    `engine` is the data-parallel rank; None means all.
    """

    at: Duration
    duration: Duration
    engine: int | None = None


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Every engine step takes `factor` times as long."""

    at: Duration
    duration: Duration
    factor: float = 4.0


@dataclass(frozen=True, slots=True)
class Rejecting:
    """Of the tokens that the draft model proposes only the share `acceptance` is taken."""

    at: Duration
    duration: Duration
    acceptance: float = 0.1


@dataclass(frozen=True, slots=True)
class Skewed:
    """The load balancer sends every request to the data-parallel rank `engine`."""

    at: Duration
    duration: Duration
    engine: int = 0


@dataclass(frozen=True, slots=True)
class RankGone:
    """The series of the data-parallel rank `engine` are not on the page, and it is sent nothing."""

    at: Duration
    duration: Duration
    engine: int = 1


@dataclass(frozen=True, slots=True)
class NoAdmission:
    """The scheduler goes on but admits nobody: what runs ends, what waits waits."""

    at: Duration
    duration: Duration


@dataclass(frozen=True, slots=True)
class Errors:
    """A share of the requests ends with an error inside the engine."""

    at: Duration
    duration: Duration
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Killed:
    """
    The engine dies: for `stale` the old page is still served (and /health is 503), then the port is refused.

    After `duration` in all, a fresh process listens: counters start at 0.
    """

    at: Duration
    duration: Duration = 2 * MINUTE
    stale: Duration = 3 * SECOND


@dataclass(frozen=True, slots=True)
class Restart:
    """
    An orderly end, or a slow start when `at` is 0: the port is refused for `duration`, then a fresh process listens.

    `server` is what runs from then on, where that changes: another version, other flags.
    """

    at: Duration
    duration: Duration = 70 * SECOND
    server: Server | None = None


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The port is refused while the process lives on: no counter restarts."""

    at: Duration
    duration: Duration


@dataclass(frozen=True, slots=True)
class BadPage:
    """/metrics answers `status` with `body` in place of the page; without a body the page breaks off in mid-line."""

    at: Duration
    duration: Duration
    status: int = 200
    body: str | None = "<html><body>It works!</body></html>\n"


@dataclass(frozen=True, slots=True)
class SlowPage:
    """/metrics is slow, in real time: nothing for `delay`, then in pieces, with `drip` between two of them."""

    at: Duration
    duration: Duration
    delay: Duration = 0
    drip: Duration = 0


@dataclass(frozen=True, slots=True)
class BadAnswer:
    """`path`, which is not /metrics, is answered so; `delay` and `drip` are real time, as those of a slow page."""

    at: Duration
    duration: Duration
    path: str = "/health"
    status: int = 503
    body: str = ""
    content_type: str = "application/json"
    delay: Duration = 0
    drip: Duration = 0


@dataclass(frozen=True, slots=True)
class Asleep:
    """The engine sleeps, as /sleep tells it to: nothing runs, gauges stand still; level 2 drops the weights."""

    at: Duration
    duration: Duration
    level: int = 1


Fault = (
    Asleep
    | BadAnswer
    | BadPage
    | Errors
    | Hang
    | Killed
    | NoAdmission
    | RankGone
    | Rejecting
    | Restart
    | Skewed
    | Slowdown
    | SlowPage
    | Unreachable
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One life of one server. The same scenario with the same seed gives the same pages."""

    name: str
    duration: Duration
    server: Server = Server()
    phases: tuple[Phase, ...] = ()
    faults: tuple[Fault, ...] = ()
    seed: int = 1
    summary: str = field(default="", compare=False)
