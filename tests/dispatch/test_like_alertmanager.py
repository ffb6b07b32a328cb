"""The same stories, told to the real Alertmanager in real time and to the dispatcher: who hears what, and when."""

import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from monitor.clock import SystemClock, monotonic_seconds
from monitor.config.read import load
from monitor.dispatch.dispatcher import Dispatcher, Integration
from monitor.dispatch.inhibit import Inhibitor
from monitor.dispatch.matchers import parse_matchers
from monitor.dispatch.muting import Muting
from monitor.dispatch.silence import Silence as OurSilence
from monitor.dispatch.silence import Silences
from monitor.dispatch.store import AlertStore
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, Instant, from_seconds, to_seconds
from monitor.model.labels import EMPTY, Labels
from monitor.model.matcher import equal
from tests.dispatch.alertmanager import alertmanager, webhooks
from tests.dispatch.scenarios import LENGTH_SECONDS, STORIES, Post, Silence, Step, Story

Told = tuple[tuple[int, str, str], ...]
# A machine that is busy delays steps of a story, the timers of the Alertmanager, and the webhooks that tell of them.
ATTEMPTS = 12
# What happens is at least so far from a flush.
LATE_SECONDS = 0.3
CONFIG = """\
inhibit_rules:
- source_matchers: [severity="critical"]
  target_matchers: [severity="warning"]
  equal: [instance, story]
- source_matchers: [both="x"]
  target_matchers: [both="x"]
  equal: [story]
time_intervals:
- name: always
  time_intervals: [{years: ["1999"]}, {times: [{start_time: "00:00", end_time: "24:00"}]}]
- name: never
  time_intervals: [{years: ["1999"], weekdays: ["sunday:saturday"]}]
- name: empty
route:
  receiver: nobody
  group_by: [story]
  group_wait: 1s
  group_interval: 2s
  routes:
"""


def config(receivers: Sequence[dict[str, Any]]) -> str:
    routes = [f"  - {{matchers: [story={story.name}], receiver: {story.name}, {story.route}}}" for story in STORIES]
    return CONFIG + "\n".join(routes) + "\n" + yaml.safe_dump({"receivers": [{"name": "nobody"}, *receivers]})


def labels(story: Story, name: str, more: str) -> Labels:
    given = {matcher.name: matcher.value for matcher in parse_matchers(more)}
    return Labels.of(given, alertname=name, story=story.name, severity="critical" if name.isupper() else "warning")


def steps() -> list[tuple[Story, Step]]:
    return sorted(((story, step) for story in STORIES for step in story.steps), key=lambda pair: pair[1].at)


def names(alerts: list[dict[str, Any]], status: str) -> str:
    return "".join(sorted(one["labels"]["alertname"] for one in alerts if one["status"] == status))


@pytest.fixture(scope="module")
def told_by_alertmanager(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    """
    Tell the real one all stories at once; again when the machine was too busy for them to come out right.

    What it does otherwise than is written here, it does every time.
    """
    tellings = []
    for _ in range(ATTEMPTS):
        told, late = attempt(tmp_path_factory.mktemp("alertmanager"))
        if late < LATE_SECONDS:
            tellings.append(told)
            if all(by_flush(told[story.name]) == by_flush(expected(story)) for story in STORIES):
                break
    assert tellings, f"{ATTEMPTS} times a step of a story was later than {LATE_SECONDS} s"
    return tellings[-1]


def expected(story: Story) -> Told:
    """Return what the real one tells."""
    return story.told if story.alertmanager is None else story.alertmanager


def attempt(folder: Path) -> tuple[dict[str, Told], float]:
    """Return what was told, and by how many seconds the latest step was late."""
    with webhooks() as received:
        receivers = [
            {
                "name": story.name,
                "webhook_configs": [{"url": f"{received.url}/{story.name}", "send_resolved": story.send_resolved}],
            }
            for story in STORIES
        ]
        with alertmanager(folder, config(receivers)) as url, requests.Session() as session:
            start, wall, late = monotonic_seconds() + 0.2, SystemClock().now() + 200, 0.0
            pause = threading.Event()
            for at, together in groupby(steps(), key=lambda pair: pair[1].at):
                pause.wait(max(0.0, start + at - monotonic_seconds()))
                refused = send(session, f"{url}/api/v2", list(together), wall)
                late = max(late, monotonic_seconds() - start - at)
                if late >= LATE_SECONDS:
                    return {}, late
                assert refused == []
            pause.wait(max(0.0, start + LENGTH_SECONDS - monotonic_seconds()))
    told: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for at, receiver, body in received.posted:
        told[receiver].append((int(at - start), names(body["alerts"], "firing"), names(body["alerts"], "resolved")))
    return {story.name: tuple(told[story.name]) for story in STORIES}, late


def send(session: requests.Session, url: str, together: Sequence[tuple[Story, Step]], start: Instant) -> list[str]:
    """Post steps of one instant, all alerts in one request; returns why silences were refused: they may be over."""
    refused = []
    alerts = [alert for story, step in together if isinstance(step, Post) for alert in bodies(story, step, start)]
    assert session.post(f"{url}/alerts", json=alerts, timeout=60).ok
    for story, step in together:
        if isinstance(step, Silence):
            answer = session.post(f"{url}/silences", json=silence_body(story, step, start), timeout=60)
            refused += [] if answer.ok else [answer.text]
    return refused


def bodies(story: Story, post: Post, start: Instant) -> Iterator[dict[str, Any]]:
    for name in post.names:
        body: dict[str, Any] = {"labels": labels(story, name, post.labels).as_dict()}
        if post.ends is None:
            yield body | {"startsAt": rfc3339(start + from_seconds(post.at))}
        else:
            yield body | {"startsAt": rfc3339(start), "endsAt": rfc3339(start + from_seconds(post.ends))}


def silence_body(story: Story, silence: Silence, start: Instant) -> dict[str, Any]:
    matchers = [
        {"name": one.name, "value": one.value, "isRegex": one.type.is_regex, "isEqual": not one.type.is_negative}
        for one in (*parse_matchers(silence.matcher), equal("story", story.name))
    ]
    dates = {"startsAt": rfc3339(start), "endsAt": rfc3339(start + from_seconds(silence.until))}
    return {"matchers": matchers, "createdBy": "me", "comment": story.name, **dates}


def rfc3339(at: Instant) -> str:
    return datetime.fromtimestamp(to_seconds(at), UTC).isoformat()


@pytest.fixture(scope="module")
def told_by_us(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    """Tell the dispatcher the same on a clock of its own."""
    path = tmp_path_factory.mktemp("ours") / "monitor.yaml"
    path.write_text(config([{"name": story.name} for story in STORIES]))
    read = load(path)
    store, silences = AlertStore(), Silences()
    muting = Muting(Inhibitor(read.inhibit_rules, store), read.time_intervals, silences)
    receivers = {story.name: [Integration(story.name, story.send_resolved)] for story in STORIES}
    dispatcher = Dispatcher(read.route, receivers, muting.stages, store=store)
    told: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    waiting = steps()
    for tick in range(0, from_seconds(LENGTH_SECONDS), 50):
        while waiting and from_seconds(waiting[0][1].at) <= tick:
            take(dispatcher, silences, *waiting.pop(0), tick)
        for delivery in dispatcher.due(tick).deliveries:
            firing, resolved = (
                "".join(sorted(one.name for one in alerts))
                for alerts in (delivery.notification.firing, delivery.notification.resolved)
            )
            told[delivery.integration].append((int(to_seconds(tick)), firing, resolved))
    return {story.name: tuple(told[story.name]) for story in STORIES}


def take(dispatcher: Dispatcher, silences: Silences, story: Story, step: Step, now: Instant) -> None:
    if isinstance(step, Silence):
        matchers = (*parse_matchers(step.matcher), equal("story", story.name))
        silences.set(OurSilence("", matchers, now, from_seconds(step.until), "me", ""), now)
        return
    given = step.ends is not None
    starts_at = 0 if given else now
    ends_at = from_seconds(step.ends) if step.ends is not None else now + 5 * MINUTE
    alerts = [Alert(labels(story, name, step.labels), EMPTY, starts_at, ends_at) for name in step.names]
    dispatcher.insert(alerts, now, timeout=not given)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_the_dispatcher_tells(story: Story, told_by_us: dict[str, Told]) -> None:
    assert told_by_us[story.name] == story.told


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_alertmanager_tells_the_same(story: Story, told_by_alertmanager: dict[str, Told]) -> None:
    assert by_flush(told_by_alertmanager[story.name]) == by_flush(expected(story))


def by_flush(told: Told) -> Told:
    """Return what was told with the number of the flush for the second: a webhook may come a moment later."""
    return tuple(((second - 1) // 2, firing, resolved) for second, firing, resolved in told)
