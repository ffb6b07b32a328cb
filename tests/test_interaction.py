"""What the next receiver is told of an incident that nobody answered."""

from dataclasses import replace
from pathlib import Path

from prometheus_client import CollectorRegistry

from monitor.clock import VirtualClock
from monitor.config.read import load
from monitor.dispatch.dispatcher import Integration
from monitor.dispatch.inhibit import Inhibitor
from monitor.dispatch.muting import Muting
from monitor.dispatch.notification import Notification, Reason
from monitor.dispatch.silence import Silences
from monitor.dispatch.store import AlertStore
from monitor.interaction import Interaction, Ways, passed_on, told_with
from monitor.journal import Journal
from monitor.model.instant import MINUTE
from monitor.notify.interactive.escalation import Stage
from monitor.notify.outbox import Outbox
from monitor.notify.slack.incidents import Incidents
from monitor.storage.db import Database
from tests.notify.interactive.given import incident, resolved
from tests.notify.samples import NOW

TO = [Integration("second/slack[0]", send_resolved=True), Integration("second/webhook[0]", send_resolved=False)]
LATER = NOW + 30 * MINUTE


def test_every_integration_is_told_how_it_stands_under_an_id_of_its_own() -> None:
    first, second = passed_on(incident(), TO, "second", LATER)
    assert [first.integration, second.integration] == [integration.name for integration in TO]
    told = first.notification
    assert (told.receiver, told.reason, told.now, told.alerts) == (
        "second",
        Reason.ESCALATED,
        LATER,
        incident().told.alerts,
    )
    ids = {incident().told.id, told.id, second.notification.id}
    assert len(ids) == 3
    assert [one.notification.id for one in passed_on(incident(), TO, "second", LATER + MINUTE)] == [
        told.id,
        second.notification.id,
    ]


def test_its_end_is_told_to_those_who_want_to_hear_of_ends() -> None:
    (end,) = passed_on(resolved(), TO, "second", LATER)
    assert (end.integration, end.notification.reason) == ("second/slack[0]", Reason.ALL_RESOLVED)
    assert end.notification.is_resolved
    (begun, _) = passed_on(incident(), TO, "second", LATER)
    assert end.notification.id != begun.notification.id


def test_a_receiver_that_was_told_first_is_not_told_again() -> None:
    assert list(passed_on(incident(), TO, "oncall", LATER)) == []
    again = replace(incident(), alarmed_at=LATER)
    ids = [next(passed_on(one, TO, "second", LATER)).notification.id for one in (incident(), again)]
    assert ids[0] != ids[1]


def test_whoever_stands_in_for_a_receiver_is_told_with_it(tmp_path: Path) -> None:
    (tmp_path / "monitor.yaml").write_text(
        """\
scrape_configs: [{job_name: vllm, static_configs: [{targets: ['a:1']}]}]
route: {receiver: oncall}
slack: {app_token: xapp-1-A-1-a, escalate: {after: 5m, receiver: boss}}
receivers:
  - {name: oncall, slack_configs: [{channel: C1, bot_token: xoxb-1}], fallback: spare}
  - {name: spare, slack_configs: [{channel: C2, bot_token: xoxb-1}], fallback: last}
  - {name: last, slack_configs: [{channel: C5, bot_token: xoxb-1}]}
  - {name: boss, slack_configs: [{channel: C3, bot_token: xoxb-1}]}
  - {name: other, slack_configs: [{channel: C4, bot_token: xoxb-1}]}
"""
    )
    names = ("oncall", "spare", "last", "boss", "other")
    integrations = {name: [Integration(f"{name}/slack[0]", send_resolved=True)] for name in names}
    told = told_with(load(tmp_path / "monitor.yaml"), integrations)
    assert {name: [one.name.partition("/")[0] for one in every] for name, every in told.items()} == {
        "oncall": ["boss", "last", "oncall", "spare"],
        "spare": ["boss", "last", "spare"],
        "last": ["boss", "last"],
        "boss": ["boss"],
        "other": ["boss", "other"],
    }


def test_who_was_told_next_hears_of_the_end_whatever_is_configured_by_then(tmp_path: Path) -> None:
    class Told(list[Notification]):
        def notify(self, notification: Notification) -> None:
            self.append(notification)

    (tmp_path / "monitor.yaml").write_text(
        """\
scrape_configs: [{job_name: vllm, static_configs: [{targets: ['a:1']}]}]
route: {receiver: oncall}
receivers:
  - {name: oncall, slack_configs: [{channel: C1, bot_token: xoxb-1}]}
  - {name: second, webhook_configs: [{url: 'http://b:1'}]}
"""
    )
    told = Told()
    outbox = Outbox({TO[0].name: told}, lambda _: None)
    incidents = Incidents([resolved(escalated=Stage.PASSED_ON, passed_to="second")])
    journal = Journal(Database(tmp_path), lambda: None)
    interaction = Interaction(incidents, Silences(), journal, VirtualClock(LATER), CollectorRegistry())
    interaction.begin(
        load(tmp_path / "monitor.yaml"),
        Ways(outbox, {"second": TO}, Muting(Inhibitor((), AlertStore()), {}, Silences())),
    )
    for _ in range(2):
        interaction.tick(LATER)
    outbox.deliver_due(LATER)
    journal.close()
    assert [(one.receiver, one.reason, one.is_resolved) for one in told] == [("second", Reason.ALL_RESOLVED, True)]
