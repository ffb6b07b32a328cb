"""docs/slack.md: its manifest asks for what the bot needs, and its quiet hours let what is critical pass."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.commands.slack_scopes import NEEDS
from monitor.config.config import Config
from monitor.config.read import load
from monitor.dispatch.dispatcher import Integration
from monitor.dispatching import Dispatching
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, Instant, from_seconds
from monitor.model.labels import EMPTY, Labels

DOCS = Path(__file__).parents[2] / "docs" / "slack.md"
BLOCKS = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(), flags=re.DOTALL)
MANIFEST, CONFIGURATION, BUTTONS, ESCALATION, QUIET = BLOCKS


def test_the_manifest_asks_for_the_scopes_that_are_needed_and_no_others() -> None:
    manifest: Any = yaml.safe_load(MANIFEST)
    asked = manifest["oauth_config"]["scopes"]["bot"]
    needed = [scope for need in NEEDS for scope in need.scopes]
    assert asked == needed
    assert manifest["settings"]["socket_mode_enabled"] is True


def test_the_table_says_what_each_scope_is_for() -> None:
    rows = re.findall(r"^\| (`.*?`) \| (.*?) \| (.*?) \|$", DOCS.read_text(), flags=re.MULTILINE)
    told = [(tuple(re.findall("`(.*?)`", scopes)), what, otherwise) for scopes, what, otherwise in rows]
    assert [scopes for scopes, _, _ in told] == [need.scopes for need in NEEDS]
    for (_, what, otherwise), need in zip(told, NEEDS, strict=True):
        assert what.startswith(need.what)
        assert otherwise == (need.otherwise or "nothing works")


def config(folder: Path, text: str) -> Config:
    (folder / "monitor.yaml").write_text(text)
    return load(folder / "monitor.yaml")


def test_the_configuration_loads_with_its_buttons(tmp_path: Path) -> None:
    found = config(tmp_path, CONFIGURATION + BUTTONS)
    assert [receiver.fallback for receiver in found.receivers] == ["webhook", ""]
    assert found.slack.has_buttons
    assert config(tmp_path, CONFIGURATION + ESCALATION).slack.escalate is not None


def berlin(day: int, hour: int) -> Instant:
    """Return an instant of the first days of December 2026, at an hour of Berlin."""
    return from_seconds(datetime(2026, 12, day, hour - 1, tzinfo=UTC).timestamp())


@pytest.mark.parametrize(
    ("at", "told"),
    [
        pytest.param(berlin(1, 21), {"critical", "warning"}, id="tuesday evening"),
        pytest.param(berlin(1, 22), {"critical"}, id="tuesday night"),
        pytest.param(berlin(2, 6), {"critical"}, id="wednesday before seven"),
        pytest.param(berlin(2, 7), {"critical", "warning"}, id="wednesday at seven"),
        pytest.param(berlin(5, 12), {"critical"}, id="saturday noon"),
    ],
)
def test_in_quiet_hours_only_what_is_critical_is_told_and_in_the_morning_the_rest(
    tmp_path: Path, at: Instant, told: set[str]
) -> None:
    dispatcher = Dispatching(
        config(tmp_path, QUIET), {"oncall": [Integration("oncall/slack[0]", send_resolved=True)]}
    ).dispatcher
    began = min(at, berlin(1, 21)) if "warning" in told else at
    alerts = [
        Alert(Labels.of(alertname=severity, severity=severity), EMPTY, began) for severity in ("critical", "warning")
    ]
    dispatcher.insert(alerts, at)
    flushed = [dispatcher.due(at + later).deliveries for later in (0, MINUTE)]
    heard = {alert.name for deliveries in flushed for one in deliveries for alert in one.notification.alerts}
    assert heard == told


def test_what_began_at_night_is_told_in_the_morning_if_it_lasts(tmp_path: Path) -> None:
    dispatcher = Dispatching(
        config(tmp_path, QUIET), {"oncall": [Integration("oncall/slack[0]", send_resolved=True)]}
    ).dispatcher
    night, morning = berlin(1, 23), berlin(2, 7)
    lasting, over = (Alert(Labels.of(alertname=name, severity="warning"), EMPTY, night) for name in ("lasts", "over"))
    heard: list[tuple[str, Instant]] = []
    for now in range(night, morning + 10 * MINUTE, 5 * MINUTE):
        ended = Alert(over.labels, EMPTY, night, night + 10 * MINUTE) if now > night + 10 * MINUTE else over
        dispatcher.insert([lasting, ended] if now < night + 20 * MINUTE else [lasting], now)
        for one in dispatcher.due(now).deliveries:
            heard += [(alert.name, now) for alert in one.notification.alerts]
    assert [name for name, _ in heard] == ["lasts"]
    assert morning <= heard[0][1] <= morning + 5 * MINUTE
