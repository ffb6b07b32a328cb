"""Buttons and escalation in the daemon as its users run it: clicks over both ways, kills, a locked disk."""

import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import requests

from monitor.clock import monotonic_seconds
from tests.acceptance.daemon import PATIENCE, SOON, Daemon, daemon
from tests.engines import faketime, set_clock
from tests.slackstub.clicks import SIGNING_SECRET, button_of, clicked, signed
from tests.slackstub.judge import assert_invariants
from tests.slackstub.socket_mode import SocketMode
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import APP_TOKEN, CHANNEL, TOKEN, Channel, Posted
from tests.waiting import until

SECOND_LINE = "C0SECOND001"
GROUP = "S0ONCALL01"
ACK, SILENCE, UNSILENCE = "vllm_monitor_ack", "vllm_monitor_silence_1h", "vllm_monitor_unsilence"


@pytest.fixture
def slack() -> Iterator[SlackStub]:
    with SlackStub() as stub:
        stub.workspace.channels[SECOND_LINE] = Channel(SECOND_LINE, "second-line")
        yield stub


@pytest.fixture
def sockets(slack: SlackStub) -> Iterator[SocketMode]:
    with SocketMode(slack) as serving:
        yield serving


def configured(folder: Path, slack: SlackStub, *more: str) -> Path:
    """Write a configuration whose section `slack` has the lines `more` besides both secrets."""
    for name, secret in (("token", TOKEN), ("app", APP_TOKEN), ("signing", SIGNING_SECRET)):
        (folder / name).write_text(secret)
    path = folder / "monitor.yaml"
    lines = ["app_token_file: app", "signing_secret_file: signing", *more]
    path.write_text(
        f"""\
global: {{slack_base_url: "{slack.base_url}", scrape_interval: 1m}}
rule_files: []
route: {{receiver: oncall, group_by: [alertname], group_wait: 50ms, group_interval: 200ms}}
receivers:
  - name: oncall
    slack_configs: [{{channel: {CHANNEL}, bot_token_file: token}}]
  - name: second
    slack_configs: [{{channel: {SECOND_LINE}, bot_token_file: token}}]
slack:
  {f"{chr(10)}  ".join(lines)}
web: {{listen: 127.0.0.1:0}}
"""
    )
    return path


def post(to: Daemon, name: str = "KVCacheFull", **more: str) -> None:
    alert = {
        "labels": {"alertname": name, "severity": "critical", "instance": "a:8000"},
        "annotations": {"summary": "KV cache is full"},
    }
    assert requests.post(f"{to.url}/api/v2/alerts", json=[alert | more], timeout=PATIENCE).ok


def resolve(to: Daemon) -> None:
    post(to, startsAt="2025-01-01T00:00:00Z", endsAt="2026-01-01T00:00:00Z")


def root(slack: SlackStub, channel: str = CHANNEL) -> Posted:
    """Return the only message of a channel that is none's reply."""
    (found,) = [message for message in slack.messages if message.channel == channel and not message.thread_ts]
    return found


def replies(slack: SlackStub, word: str) -> list[Posted]:
    return [message for message in slack.messages if message.thread_ts and word in message.text]


def shows(slack: SlackStub, *actions: str) -> bool:
    """Whether the root has these buttons and no others."""
    every = (ACK, SILENCE, "vllm_monitor_silence_4h", UNSILENCE)
    return {action for action in every if button_of(root(slack), action)} == set(actions)


def incident(to: Daemon, slack: SlackStub, sockets: SocketMode) -> None:
    """Let an alert fire; returns when it can be clicked."""
    post(to)
    until(lambda: slack.messages and sockets.links, within=30)
    assert shows(slack, ACK, SILENCE, "vllm_monitor_silence_4h")


def test_one_acknowledges_and_everybody_sees_who(tmp_path: Path, slack: SlackStub, sockets: SocketMode) -> None:
    with daemon(tmp_path, "--config", str(configured(tmp_path, slack))) as running:
        incident(running, slack, sockets)
        payload = clicked(slack.workspace, ACK, user="U0ALICE001")
        other = clicked(slack.workspace, ACK, user="U0BOB00001")
        first = sockets.send(payload)
        sent = [first, sockets.send(other), sockets.send(payload, envelope_id=first), sockets.send(payload)]
        until(lambda: "acknowledged by u0alice001" in str(root(slack).payload), within=30)
        until(lambda: slack.workspace.whispers, within=20)
        assert [(told.user, "by u0alice001" in told.text) for told in slack.workspace.whispers] == [
            ("U0BOB00001", True)
        ]
        until(lambda: replies(slack, "Acknowledged"), within=30)
        assert len(replies(slack, "Acknowledged")) == 1
        assert shows(slack, SILENCE, "vllm_monitor_silence_4h")
        resolve(running)
        until(lambda: shows(slack), within=15)
        assert 'vllm_monitor_clicks_total{outcome="acked"} 1.0' in running.get("/metrics")
        (line,) = running.data("/api/v1/incidents?start=2025-01-01T00:00:00Z")
        assert (line["labels"]["alertname"], line["ackedBy"]) == ("KVCacheFull", "u0alice001")
        assert (line["startsAt"], line["endsAt"]) == ("2025-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z")
        assert line["endsAt"] < line["toldAt"] <= line["ackedAt"]
    assert [envelope for envelope in sent if envelope not in sockets.acks] == []
    assert_invariants(slack)


def test_a_silence_from_slack_is_a_silence(tmp_path: Path, slack: SlackStub, sockets: SocketMode) -> None:
    with daemon(tmp_path, "--config", str(configured(tmp_path, slack))) as running:
        incident(running, slack, sockets)
        sockets.click(SILENCE)
        until(lambda: shows(slack, ACK, UNSILENCE), within=30)
        assert "silenced by u0alice001" in str(root(slack).payload)
        (silence,) = requests.get(f"{running.url}/api/v2/silences", timeout=PATIENCE).json()
        assert (silence["createdBy"], silence["status"]["state"]) == ("u0alice001 (U0ALICE001)", "active")
        (alert,) = requests.get(f"{running.url}/api/v2/alerts", timeout=PATIENCE).json()
        assert alert["status"]["silencedBy"] == [silence["id"]]
        sockets.click(UNSILENCE)
        until(lambda: shows(slack, ACK, SILENCE, "vllm_monitor_silence_4h"), within=15)
        (silence,) = requests.get(f"{running.url}/api/v2/silences", timeout=PATIENCE).json()
        assert silence["status"]["state"] == "expired"
    assert_invariants(slack)


def test_a_silence_that_is_ended_elsewhere_leaves_the_message(
    tmp_path: Path, slack: SlackStub, sockets: SocketMode
) -> None:
    with daemon(tmp_path, "--config", str(configured(tmp_path, slack))) as running:
        incident(running, slack, sockets)
        sockets.click(SILENCE)
        until(lambda: shows(slack, ACK, UNSILENCE), within=30)
        (silence,) = requests.get(f"{running.url}/api/v2/silences", timeout=PATIENCE).json()
        assert requests.delete(f"{running.url}/api/v2/silence/{silence['id']}", timeout=PATIENCE).ok
        until(lambda: shows(slack, ACK, SILENCE, "vllm_monitor_silence_4h"), within=15)


def test_clicks_over_http_are_taken_when_they_are_signed(tmp_path: Path, slack: SlackStub, sockets: SocketMode) -> None:
    def send(payload: Any, at: float, secret: str = SIGNING_SECRET) -> int:
        body, head = signed(payload, at, secret)
        return requests.post(f"{running.url}/slack/actions", data=body, headers=head, timeout=PATIENCE).status_code

    with daemon(tmp_path, "--config", str(configured(tmp_path, slack))) as running:
        incident(running, slack, sockets)
        payload = clicked(slack.workspace, ACK)
        assert [send(payload, time.time() - 400), send(payload, time.time(), "guessed")] == [401, 401]
        at = time.time()
        assert [send(payload, at), send(payload, at)] == [200, 200]
        until(lambda: replies(slack, "Acknowledged"), within=30)
        assert 'vllm_monitor_clicks_total{outcome="acked"} 1.0' in running.get("/metrics")
    assert_invariants(slack)


def test_who_is_not_allowed_hears_so(tmp_path: Path, slack: SlackStub, sockets: SocketMode) -> None:
    config = configured(tmp_path, slack, "allowed_users: [U0BOB00001]")
    with daemon(tmp_path, "--config", str(config)) as running:
        incident(running, slack, sockets)
        sockets.click(ACK, user="U0ALICE001")
        until(lambda: slack.workspace.whispers, within=20)
        assert "not among those" in slack.workspace.whispers[0].text
        config.write_text(config.read_text().replace("U0BOB00001", "U0ALICE001"))
        assert running.post("/-/reload") == (200, "")
        sockets.click(ACK, user="U0ALICE001")
        until(lambda: replies(slack, "Acknowledged"), within=30)
        # The link outlives a reload that changes nothing about it.
        assert sockets.opened == 1


def test_slack_hears_of_a_click_in_time_while_the_disk_is_locked(
    tmp_path: Path, slack: SlackStub, sockets: SocketMode
) -> None:
    with daemon(tmp_path, "--config", str(configured(tmp_path, slack))) as running:
        incident(running, slack, sockets)
        with closing(sqlite3.connect(tmp_path / "data" / "monitor.db", isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            envelope = sockets.click(ACK)
            until(lambda: sockets.acks.get(envelope), within=5)
            other.execute("ROLLBACK")
        until(lambda: replies(slack, "Acknowledged"), within=30)
    # Whoever waited for the disk would have given up after five seconds.
    assert sockets.acks[envelope][0] < 4.0


def test_a_click_outlives_a_kill(tmp_path: Path, slack: SlackStub, sockets: SocketMode) -> None:
    config = str(configured(tmp_path, slack))
    with daemon(tmp_path, "--config", config) as first:
        incident(first, slack, sockets)
        envelope = sockets.click(ACK)
        until(lambda: sockets.acks.get(envelope), within=20)
        # Slack is not kept waiting for a disk that is slow; what is written down by now outlives the kill.
        until(lambda: first.data("/api/v1/incidents?start=2025-01-01T00:00:00Z")[0].get("ackedBy"), within=20)
        first.end(signal.SIGKILL)
    with daemon(tmp_path, "--config", config) as again:
        until(lambda: "acknowledged by u0alice001" in str(root(slack).payload), within=15)
        until(lambda: replies(slack, "Acknowledged"), within=30)
        post(again)
        until(lambda: sockets.links, within=30)
        sockets.send(clicked(slack.workspace, SILENCE, user="U0BOB00001"))
        until(lambda: shows(slack, UNSILENCE), within=15)
    assert len(replies(slack, "Acknowledged")) == 1
    assert_invariants(slack)


def test_nobody_answers_and_somebody_is_rung_for_and_then_the_next_receiver_told_over_a_kill(
    tmp_path: Path, slack: SlackStub, sockets: SocketMode
) -> None:
    config = str(configured(tmp_path, slack, f"escalate: {{after: 3s, mention: {GROUP}, receiver: second}}"))
    with daemon(tmp_path, "--config", config) as first:
        began = monotonic_seconds()
        incident(first, slack, sockets)
        (rang,) = until(lambda: replies(slack, f"<!subteam^{GROUP}>"), within=30)
        assert rang.at - began > 2.9
        first.end(signal.SIGKILL)
    with daemon(tmp_path, "--config", config) as again:
        post(again)
        until(lambda: [one for one in slack.messages if one.channel == SECOND_LINE], within=15)
        (mention,) = [one for one in replies(slack, f"<!subteam^{GROUP}>") if one.channel == CHANNEL]
        assert (mention.thread_ts, mention.payload["reply_broadcast"]) == (root(slack).ts, True)
        assert "KV cache is full" in str(root(slack, SECOND_LINE).payload)
        resolve(again)
        until(lambda: "esolved" in str(root(slack, SECOND_LINE).payload), within=15)
    assert_invariants(slack, allowed_mentions=(f"!subteam^{GROUP}",))


def test_whoever_acknowledges_stops_the_escalation(tmp_path: Path, slack: SlackStub, sockets: SocketMode) -> None:
    config = str(configured(tmp_path, slack, f"escalate: {{after: 30s, mention: {GROUP}, receiver: second}}"))
    with daemon(tmp_path, "--config", config) as first:
        incident(first, slack, sockets)
        acked = root(slack).ts
        sockets.click(ACK)
        until(lambda: replies(slack, "Acknowledged"), within=30)
        # Nobody acknowledges the other one: when that has been passed on, it was the first one's turn as well.
        post(first, "Other")
        until(lambda: "Other" in str(slack.messages), within=30)
        first.end()
    offset = tmp_path / "offset"
    set_clock(offset, "+120")
    with daemon(tmp_path, "--config", config, **faketime(offset)):
        until(lambda: [one for one in slack.messages if one.channel == SECOND_LINE], within=30)
        until(lambda: replies(slack, f"<!subteam^{GROUP}>"), within=30)
    assert "Other" in str(root(slack, SECOND_LINE).payload)
    (mention,) = replies(slack, f"<!subteam^{GROUP}>")
    assert mention.thread_ts != acked
    assert "other incident" not in mention.text
    assert_invariants(slack, allowed_mentions=(f"!subteam^{GROUP}",))


def test_a_wrong_app_token_disturbs_nothing_and_no_secret_is_seen(
    tmp_path: Path, slack: SlackStub, sockets: SocketMode
) -> None:
    config = configured(tmp_path, slack)
    (tmp_path / "app").write_text("xapp-wrong-one")
    with daemon(tmp_path, "--config", str(config)) as running:
        post(running)
        until(lambda: slack.messages, within=30)
        until(lambda: 'socket_mode_failures_total{reason="credential"} 1.0' in running.get("/metrics"), within=20)
        assert "vllm_monitor_socket_mode_connected 0.0" in running.get("/metrics")
        (tmp_path / "app").write_text(APP_TOKEN)
        until(lambda: "vllm_monitor_socket_mode_connected 1.0" in running.get("/metrics"), within=30)
        sockets.click(ACK)
        until(lambda: replies(slack, "Acknowledged"), within=30)
        seen = running.log + running.get("/metrics") + running.get("/api/v2/status") + str(slack.messages)
        assert [
            secret for secret in ("xapp-wrong-one", APP_TOKEN, TOKEN, SIGNING_SECRET, "ticket-") if secret in seen
        ] == []
        assert running.end()[1] < SOON
