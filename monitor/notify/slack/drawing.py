"""What the message of an incident says besides what the notification says."""

from dataclasses import replace

from monitor.dispatch.notification import Notification
from monitor.model.instant import Instant
from monitor.notify.moment import lasted
from monitor.notify.readings import Change, Changes, Facts
from monitor.notify.silencing import command
from monitor.notify.slack.digest import is_digest
from monitor.notify.slack.escape import date, link, literal
from monitor.notify.slack.incident import Incident
from monitor.notify.slack.overview import everything
from monitor.notify.slack.payload import hides_some
from monitor.notify.summary import Summary, summarise, with_readings


def drawn(incident: Incident, facts: Facts, external_url: str | None = None) -> tuple[Summary, tuple[str, ...]]:
    """
    Return what the alerts say, with the numbers of the worst engine, and short lines about the incident itself.

    Where there are no buttons, `external_url` is where commands reach the daemon ("": nobody said).
    """
    summary = replace(summarise(incident.told), is_digest=is_digest(incident), has_moved=incident.moved)
    if incident.moved:
        headline = replace(summary.headline, status="moved", number="", brief_number="")
        return replace(summary, headline=headline), tuple(_notes(incident))
    summary = with_readings(summary, facts, incident.opened_at)
    if summary.kinds and summary.is_resolved and incident.resolved_at is not None:
        length = f"lasted {lasted(max(incident.resolved_at - incident.opened_at, 0))}"
        number = f"{length}, peak {incident.peak}" if incident.peak else length
        summary = replace(summary, headline=replace(summary.headline, number=number, brief_number=length))
    elif external_url is not None:
        summary = replace(summary, silence=command(incident.told, external_url))
    return summary, tuple(_notes(incident))


def whole_list(incident: Incident) -> str:
    """Return all alerts of an incident for its thread, "" where its message shows them all."""
    summary = summarise(incident.told)
    return everything(summary) if incident.is_open and hides_some(summary) else ""


def changed_before(told: Notification, since: Instant, changes: Changes) -> str:
    """Return a line on what changed at the server of the worst alert shortly before it all began; "": nothing."""
    kinds = summarise(told).kinds
    found = changes.before(kinds[0].cases[0].labels, since) if kinds else ()
    return " · ".join(_change(one, since) for one in found)


def _change(change: Change, until: Instant) -> str:
    return f"changed {lasted(max(until - change.at, 0))} before: {literal(change.what, 200)}"


def _notes(incident: Incident) -> list[str]:
    notes = []
    if incident.moved:
        notes.append("the routes have changed: what still fires is told in another message")
    if incident.episodes > 1:
        notes.append(f"flapping: fired {incident.episodes} times since {date(incident.opened_at)}")
    if incident.acked_by and incident.acked_at is not None:
        notes.append(f"acknowledged by {literal(incident.acked_by, 80)}, {date(incident.acked_at)}")
    if incident.silenced_until is not None and incident.silenced_until > incident.told.now:
        notes.append(f"silenced by {literal(incident.silenced_by, 80)} until {date(incident.silenced_until)}")
    if incident.earlier:
        notes.append(link(incident.earlier, "earlier message"))
    return [note for note in notes if note]
