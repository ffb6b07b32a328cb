"""What all bots of a workspace share, and what outlives a reload."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from monitor.model.instant import Duration, Instant
from monitor.notify.readings import Changes, Facts, NoChanges, NoFacts
from monitor.notify.slack.graph import Graphs
from monitor.notify.slack.incident import Incident
from monitor.notify.slack.incidents import IncidentKeeper, Incidents
from monitor.notify.slack.pace import Pace


@dataclass(frozen=True)
class Workspace:
    """`now` reads the clock; without `graphs` there are none. `refused` hears of a message whose form was refused."""

    now: Callable[[], Instant]
    incidents: Incidents = field(default_factory=Incidents)
    pace: Pace = field(default_factory=Pace)
    facts: Facts = field(default_factory=NoFacts)
    changes: Changes = field(default_factory=NoChanges)
    graphs: Graphs | None = None
    refused: Callable[[str], None] = lambda _: None

    def begin(self, incidents: Iterable[Incident], keeper: IncidentKeeper) -> None:
        """Go on with the incidents of an earlier life, and keep all from here on."""
        kept = list(incidents)
        self.incidents.begin(kept, keeper)
        if any(incident.doubtful for incident in kept):
            # It may have been killed a moment ago.
            self.pace.doubt(self.now())

    def stop(self) -> None:
        """Make no graph any more; everything else has no thread."""
        if self.graphs is not None:
            self.graphs.stop()

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: everything moves along."""
        self.incidents.shift(by)
        self.pace.shift(by)
