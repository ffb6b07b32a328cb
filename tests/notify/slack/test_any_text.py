"""No label, annotation or value, in whatever form it reaches Slack, breaks a limit of Slack's or rings anybody."""

from collections.abc import Sequence
from dataclasses import asdict, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.dispatch.dispatcher import Delivery, Integration
from monitor.dispatch.notification import Notification
from monitor.graphs import chart_of, picture_of
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, Instant
from monitor.model.labels import Labels
from monitor.notify.failure import Reason, failure
from monitor.notify.fallback import copies
from monitor.notify.interactive.buttons import buttons, with_buttons
from monitor.notify.readings import Change
from monitor.notify.slack.degrade import post
from monitor.notify.slack.digest import assembled
from monitor.notify.slack.drawing import changed_before, drawn, whole_list
from monitor.notify.slack.incident import Incident, Policy, advance
from monitor.notify.slack.payload import Message, message
from monitor.notify.summary import summarise
from monitor.promql.result import Series
from tests.notify.samples import NOW
from tests.notify.slack.test_payload import NOTIFICATIONS, TEXTS, Known, assert_sound
from tests.slackstub import limits

LINK = "https://prometheus.example/graph?g0.expr=a%20%3E%201"


def incident(told: Notification) -> Incident:
    return advance("slack", None, replace(told, id="1"), Policy())[0]


def every_form(told: Notification) -> list[Message]:
    """Return what is tried where Slack likes no form at all."""
    tried: list[Message] = []

    def refuse(form: Message) -> None:
        tried.append(form)
        if form.blocks:
            raise failure(Reason.MESSAGE, "refused")

    post(summarise(told), (), refuse)
    return tried


@settings(max_examples=30)
@given(told=NOTIFICATIONS)
def test_every_form_of_a_message(told: Notification) -> None:
    forms = every_form(told)
    assert not forms[-1].blocks
    for form in forms:
        assert_sound(asdict(form))
    assert len(forms[-1].text) <= limits.SECTION_TEXT


@settings(max_examples=30)
@given(told=NOTIFICATIONS, why=TEXTS, name=TEXTS)
def test_what_a_fallback_is_told(told: Notification, why: str, name: str) -> None:
    """A webhook posts this as it is."""
    for copy in copies(Delivery(name, told), [Integration("w/slack[0]", send_resolved=True)], why):
        assert_sound(asdict(message(summarise(copy.notification))))


@settings(max_examples=15)
@given(members=st.lists(NOTIFICATIONS, min_size=1, max_size=4))
def test_a_digest_and_its_list(members: Sequence[Notification]) -> None:
    told = [incident(one) for one in members]
    digest = assembled(replace(told[0], group_key="digest/1"), told)
    assert_sound(asdict(with_buttons(message(*drawn(digest, Known())), buttons("1", acked=False, silenced=False))))
    for one in (digest, *told):
        text = whole_list(one)
        assert not text or len(text) <= limits.UPDATE_TEXT
        assert_sound({"text": text or "-"})


@settings(max_examples=30)
@given(told=NOTIFICATIONS, what=TEXTS)
def test_a_change_before_it(told: Notification, what: str) -> None:
    class Changed:
        def before(self, labels: Labels, at: Instant) -> Sequence[Change]:
            del labels
            return [Change(at - MINUTE, what)] * 3

    opened = incident(told)
    note = changed_before(opened.told, opened.opened_at, Changed())
    summary, notes = drawn(opened, Known())
    assert_sound(asdict(message(summary, (*notes, *filter(None, (note,))))))


@settings(max_examples=30)
@given(told=NOTIFICATIONS)
def test_the_title_of_a_graph_and_what_is_read_aloud(told: Notification) -> None:
    def series(expr: str, start: Instant, end: Instant, step: int) -> Sequence[Series]:
        del expr, step
        return [Series(alert.labels, (start, end), (1.0, 2.0)) for alert in linked.alerts]

    linked = replace(told, alerts=tuple(map(with_link, told.alerts)))
    chart = chart_of(linked, NOW, series)
    if chart is not None:
        picture = picture_of(chart, b"png")
        assert len(picture.alt) <= limits.FILE_ALT
        assert_sound({"text": picture.title or "-", "alt_text": picture.alt})


def with_link(alert: Alert) -> Alert:
    return replace(alert, generator_url=LINK)
