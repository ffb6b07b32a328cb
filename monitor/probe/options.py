"""What of a target is probed, and how often."""

from dataclasses import dataclass, field
from enum import StrEnum

from monitor.model.instant import HOUR, MINUTE, SECOND, Duration
from monitor.scrape.options import ScrapeOptions

# vLLM asks for its key below /v1 only. The second path changes nothing and is there in development mode alone: whoever
# reaches it reaches those beside it, which put the server to sleep or run code in it.
PATHS = ("/v1/models", "/is_sleeping")


class Probe(StrEnum):
    """The closed set of what is asked, in the order of asking."""

    HEALTH = "health"
    LOAD = "load"
    VERSION = "version"
    MODELS = "models"
    EXPOSURE = "exposure"
    CANARY = "canary"


# What makes up a round, over one connection; the others have a connection, and time, of their own.
ROUND = (Probe.HEALTH, Probe.LOAD, Probe.VERSION, Probe.MODELS)
ERRANDS = (Probe.EXPOSURE, Probe.CANARY)


@dataclass(frozen=True, slots=True)
class CanaryOptions:
    """A request of one token every `interval`; without `model` the first one that the server lists."""

    interval: Duration = 5 * MINUTE
    timeout: Duration = 30 * SECOND
    model: str = ""


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """
    One job's settings. `scrape` says at which slots, as whom and with which certificates.

    `timeout` is for all questions of a round together, and for each path of `paths`. A probe without an interval is
    not done, one of 0 at every slot.
    """

    scrape: ScrapeOptions = field(default_factory=ScrapeOptions)
    timeout: Duration = 5 * SECOND
    health: Duration | None = 0
    load: Duration | None = 0
    version: Duration | None = 5 * MINUTE
    models: Duration | None = 5 * MINUTE
    exposure: Duration | None = HOUR
    paths: tuple[str, ...] = PATHS
    canary: CanaryOptions | None = None

    def every(self, probe: Probe) -> Duration | None:
        """Return the interval of a probe, None when it is not done."""
        if probe is Probe.CANARY:
            return self.canary.interval if self.canary is not None else None
        intervals = {
            Probe.HEALTH: self.health,
            Probe.LOAD: self.load,
            Probe.VERSION: self.version,
            Probe.MODELS: self.models,
            Probe.EXPOSURE: self.exposure,
        }
        return intervals[probe]
