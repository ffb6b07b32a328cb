"""What is asked of a target beside its page: the section `probe` of a scrape config."""

from collections.abc import Iterator

from monitor.config.fields import PositiveDuration, UrlPath
from monitor.model.instant import HOUR, MINUTE, SECOND, format_duration
from monitor.probe.options import PATHS
from monitor.yamldoc.kinds import Boolean, Text
from monitor.yamldoc.mistake import shown
from monitor.yamldoc.section import Section


class OftenConfig(Section):
    """A question; without an interval it is asked at every scrape."""

    enabled: Boolean = True
    interval: PositiveDuration | None = None


class SeldomConfig(Section):
    """A question whose answer changes with the process only."""

    enabled: Boolean = True
    interval: PositiveDuration = 5 * MINUTE


class ExposureConfig(Section):
    """Paths that are asked for without credentials."""

    enabled: Boolean = True
    interval: PositiveDuration = HOUR
    paths: tuple[UrlPath, ...] = PATHS

    def problems(self) -> Iterator[tuple[str, str]]:
        for path in self.paths:
            if not path.isascii() or not path.isprintable() or " " in path:
                yield "paths", f"paths: {shown(path)} holds a character that no URL may have"


class CanaryConfig(Section):
    """A request of one token."""

    enabled: Boolean = False
    interval: PositiveDuration = 5 * MINUTE
    timeout: PositiveDuration = 30 * SECOND
    model: Text = ""

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.timeout > self.interval:
            timeout, interval = format_duration(self.timeout), format_duration(self.interval)
            yield "timeout", f"timeout: {timeout} is longer than the interval {interval}"


class ProbeConfig(Section):
    """All probes of a job. `timeout` is for a round of questions, and as long as the scrape's where it is not said."""

    enabled: Boolean = True
    timeout: PositiveDuration | None = None
    health: OftenConfig = OftenConfig()
    load: OftenConfig = OftenConfig()
    version: SeldomConfig = SeldomConfig()
    models: SeldomConfig = SeldomConfig()
    exposure: ExposureConfig = ExposureConfig()
    canary: CanaryConfig = CanaryConfig()
