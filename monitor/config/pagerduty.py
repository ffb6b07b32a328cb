"""Services of PagerDuty: `pagerduty_configs`, in Alertmanager's words where it has one."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field, PlainValidator

from monitor.config import not_yet
from monitor.config.fields import FilePath, SecretText, Url, one_of
from monitor.notify.pagerduty import EVENTS, SEVERITIES
from monitor.yamldoc.kinds import Boolean, Text
from monitor.yamldoc.section import Section

Severity = Annotated[str, PlainValidator(one_of(*SEVERITIES))]


class PagerDutyConfig(Section):
    """One service, by its integration key; `severities` from our words to PagerDuty's."""

    not_yet: ClassVar[dict[str, str]] = not_yet.PAGERDUTY_CONFIG

    routing_key: SecretText | None = None
    routing_key_file: FilePath | None = None
    severities: dict[Text, Severity] = Field(default_factory=dict)
    url: Url = EVENTS
    send_resolved: Boolean = True

    def problems(self) -> Iterator[tuple[str, str]]:
        if (self.routing_key is None) == (self.routing_key_file is None):
            yield "routing_key", "set one of routing_key and routing_key_file"
