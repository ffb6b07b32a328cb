"""An alert that an incident told of, and who took care of it when."""

from dataclasses import dataclass

from monitor.model.instant import Instant
from monitor.model.labels import Labels


@dataclass(frozen=True, slots=True)
class Handled:
    """
    An alert with its incident, which has an id for ever and an episode for each time that it began to fire.

    `told_at` is when the channel was told that it began; `ends_at` is None while it fires, `acked_at` until somebody
    acknowledges it, `acked_by` is the name that Slack gave.
    """

    integration: str
    incident: str
    episode: int
    labels: Labels
    starts_at: Instant
    ends_at: Instant | None
    told_at: Instant
    acked_at: Instant | None
    acked_by: str
