"""The dead man's switch: `heartbeat`, a word of our own."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import PlainValidator

from monitor.config.fields import FilePath, PositiveDuration, SecretUrl, one_of
from monitor.model.instant import MINUTE
from monitor.yamldoc.section import Section


class HeartbeatConfig(Section):
    """A URL that is asked for every `interval` while all is well. Durations are milliseconds."""

    url: SecretUrl | None = None
    url_file: FilePath | None = None
    method: Annotated[str, PlainValidator(one_of("GET", "POST"))] = "GET"
    interval: PositiveDuration = MINUTE
    stuck_after: PositiveDuration = 5 * MINUTE

    def problems(self) -> Iterator[tuple[str, str]]:
        if (self.url is None) == (self.url_file is None):
            yield "url", "set one of url and url_file"
