"""The real amtool, old and new, against the daemon's API."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from monitor.clock import SystemClock
from tests.engines import engine
from tests.web.alerting import FakeDaemon, served

CONFIG = """\
route:
  receiver: oncall
  group_by: [alertname]
  routes:
    - {matchers: [team="llm", 'model=~"a|b"'], receiver: llm, mute_time_intervals: [nights], group_wait: 0s}
    - {matchers: [team="x"], group_by: [...], active_time_intervals: [nights, hours], continue: true}
receivers: [{name: oncall}, {name: llm}]
time_intervals:
  - name: nights
    time_intervals:
      - times: [{start_time: "00:00", end_time: "06:30"}, {start_time: "22:00", end_time: "24:00"}]
        weekdays: [sunday, monday:friday]
        days_of_month: ["1:5", "-3:-1"]
        months: [may:june]
        years: ["2026"]
        location: Europe/Berlin
  - name: hours
    time_intervals: [{location: Local}]
"""


@dataclass(frozen=True)
class Amtool:
    program: str
    url: str
    folder: Path

    def __call__(self, *arguments: str, fails: bool = False) -> str:
        """Return what it prints, or with `fails` what it complains of."""
        command = [self.program, f"--alertmanager.url={self.url}", "--no-version-check", *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, "HOME": str(self.folder)}
        )
        assert (done.returncode != 0) is fails, done.stderr
        return done.stderr if fails else done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "-o", "json"))


@pytest.fixture(params=["", "newer"])
def amtool(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Amtool]:
    (tmp_path / "monitor.yaml").write_text(CONFIG)
    with served(FakeDaemon(tmp_path / "monitor.yaml", SystemClock())) as url:
        yield Amtool(engine("amtool", request.param), url, tmp_path)


def test_amtool_adds_and_finds_alerts(amtool: Amtool) -> None:
    amtool("alert", "add", "alertname=Down", "team=x", "--annotation=summary=it is down", "--generator-url=http://g/")
    amtool("alert", "add", "alertname=Slow", "severity=warning")
    assert [alert["labels"]["alertname"] for alert in amtool.json("alert", "query")] == ["Slow", "Down"]
    assert "it is down" in amtool("alert", "query", "Down", "team=x")
    assert amtool.json("alert", "query", "alertname=~D.*", "team!=x") == []
    assert amtool.json("alert", "query", "--receiver=llm") == []
    assert "http://g/" in amtool("-o", "extended", "alert", "query")


def test_a_silence_lives_from_add_to_expire(amtool: Amtool) -> None:
    amtool("alert", "add", "alertname=Down", "instance=1")
    added = amtool(
        "silence", "add", "Down", "instance=~1|2", "--duration=2h", "--comment=disk swap", "--author=me"
    ).strip()
    (silence,) = amtool.json("silence", "query")
    assert (silence["id"], silence["comment"], silence["createdBy"]) == (added, "disk swap", "me")
    assert added in amtool("silence", "query", "--quiet")
    assert amtool.json("silence", "query", "instance=~1|2") == [silence]
    assert amtool.json("silence", "query", "instance=3") == []
    assert amtool.json("alert", "query") == []
    (alert,) = amtool.json("alert", "query", "--silenced")
    assert alert["status"]["silencedBy"] == [added]
    amtool("silence", "update", "--duration=3h", "--comment=later", added)
    assert [(one["id"], one["comment"]) for one in amtool.json("silence", "query")] == [(added, "later")]
    amtool("silence", "expire", added)
    assert amtool.json("silence", "query") == []
    assert [one["id"] for one in amtool.json("silence", "query", "--expired")] == [added]
    assert [one["labels"]["alertname"] for one in amtool.json("alert", "query")] == ["Down"]


def test_a_silence_without_a_matcher_that_says_anything_is_refused(amtool: Amtool) -> None:
    complaint = amtool("silence", "add", "alertname=~.*", "--comment=all", fails=True)
    assert "at least one matcher must not match the empty string" in complaint
    assert "match every alert" in amtool("silence", "add", "alertname=~.+", "--comment=all", fails=True)


def test_the_configuration_is_shown_in_a_form_that_amtool_reads(amtool: Amtool) -> None:
    shown = amtool("config", "show")
    (amtool.folder / "shown.yml").write_text(shown)
    assert "SUCCESS" in amtool("check-config", str(amtool.folder / "shown.yml"))
    assert "llm" in amtool("config", "routes", "show")
    assert amtool("config", "routes", "test", "team=llm", "model=b").strip() == "llm"
    assert amtool("config", "routes", "test", "team=llm", "model=c").strip() == "oncall"


def test_amtool_sees_an_alertmanager_that_is_alone(amtool: Amtool) -> None:
    assert "disabled" in amtool("cluster", "show")
