"""What the message of an incident says besides what the notification says."""

from monitor.notify.moment import lasted
from monitor.notify.readings import Facts
from monitor.notify.slack.digest import is_digest
from monitor.notify.slack.escape import date, line, link
from monitor.notify.slack.incident import Incident
from monitor.notify.summary import Summary, summarise, with_readings


def drawn(incident: Incident, facts: Facts) -> tuple[Summary, tuple[str, ...]]:
    """Return what the alerts say, with the numbers of the worst engine, and short lines about the incident itself."""
    summary = with_readings(summarise(incident.told), facts, incident.opened_at)
    return summary, tuple(_notes(incident))


def _notes(incident: Incident) -> list[str]:
    notes = []
    if is_digest(incident) and incident.is_open:
        notes.append("digest of what came at once · what still fires a minute later is told in the thread")
    if incident.resolved_at is not None:
        notes.append(f"lasted {lasted(max(incident.resolved_at - incident.opened_at, 0))}")
        if incident.peak:
            notes.append(f"peak {line(incident.peak, 80)}")
    if incident.episodes > 1:
        notes.append(f"fired {incident.episodes} times since {date(incident.opened_at)}")
    if incident.acked_by and incident.acked_at is not None:
        notes.append(f"acknowledged by {line(incident.acked_by, 80)}, {date(incident.acked_at)}")
    if incident.silenced_until is not None and incident.silenced_until > incident.told.now:
        notes.append(f"silenced by {line(incident.silenced_by, 80)} until {date(incident.silenced_until)}")
    if incident.earlier:
        notes.append(link(incident.earlier, "earlier message"))
    return [note for note in notes if note]
