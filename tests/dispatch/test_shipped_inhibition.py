"""The inhibition that ships: what an on-call person is told of one trouble, and of two."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from monitor.config.inhibition import SHIPPED, shipped_inhibit_rules
from monitor.dispatch.inhibit import Inhibitor
from monitor.dispatch.store import AlertStore
from monitor.model.alert import Alert
from monitor.model.labels import ALERT_NAME, EMPTY, Labels
from monitor.rulebook.build import build
from monitor.rulebook.values import defaults
from monitor.shipped import rules_folder
from monitor.upstream.outage import NAME as DOWN
from tests.engines import engine

SERVER = {"job": "vllm", "instance": "a:8000", "model_name": "m"}


def alert(name: str, **labels: str) -> Labels:
    """Return an alert of the server; that a target is down is said of no model."""
    model = {"model_name": ""} if name == "TargetDown" else {}
    return Labels.of({**SERVER, **model, ALERT_NAME: f"VLLM{name}", **labels})


def told(*firing: Labels) -> set[str]:
    """Return the names of the alerts that are not inhibited when all of `firing` fire."""
    store = AlertStore()
    for labels in firing:
        store.put(Alert(labels, EMPTY, 0), 0)
    inhibitor = Inhibitor(shipped_inhibit_rules(), store)
    return {labels.value(ALERT_NAME).removeprefix("VLLM") for labels in firing if not inhibitor.inhibiting(labels, 0)}


@pytest.mark.parametrize(
    ("firing", "expected"),
    [
        pytest.param("TargetDown EngineStuck Overloaded KVCacheFull", "TargetDown", id="down-is-all-there-is-to-say"),
        pytest.param("EngineStuck Overloaded RequestsWaiting KVCacheFull PreemptionsHigh", "EngineStuck", id="stuck"),
        pytest.param("AdmissionStalled RequestsWaiting", "AdmissionStalled", id="stalled"),
        pytest.param("Overloaded RequestsWaiting", "Overloaded", id="one-queue-is-told-once"),
        pytest.param("Overloaded KVCacheFull", "Overloaded KVCacheFull", id="the-cause-of-an-overload-is-told"),
        pytest.param("PreemptionStorm PreemptionsHigh KVCacheFull", "PreemptionStorm", id="storm"),
        pytest.param("Overloaded PreemptionStorm", "Overloaded PreemptionStorm", id="two-criticals-are-told"),
        pytest.param("RequestsWaiting KVCacheFull", "RequestsWaiting KVCacheFull", id="warnings-alone-are-told"),
        pytest.param("TargetDown RestartLoop", "TargetDown RestartLoop", id="why-it-is-down-is-told"),
        pytest.param("EngineDead EngineStuck ErrorRateCritical NotReady", "EngineDead", id="dead-is-not-stuck"),
        pytest.param("StatsHidden SeriesVanished", "StatsHidden", id="hidden-is-told-once"),
        pytest.param("PartialStall RequestsWaiting TimeInQueueHigh", "PartialStall", id="not-admitted-is-no-queue"),
        pytest.param("Overloaded RequestsWaiting TimeInQueueCritical TTFTCritical", "Overloaded", id="queue-is-late"),
        pytest.param("RequestsWaiting TimeInQueueHigh TTFTHigh", "RequestsWaiting", id="a-ticket-for-a-queue"),
        pytest.param("RequestsWaiting TTFTCritical", "RequestsWaiting TTFTCritical", id="no-ticket-mutes-a-page"),
        pytest.param("TTFTHigh InterTokenLatencyHigh", "TTFTHigh InterTokenLatencyHigh", id="two-kinds-of-slow"),
        pytest.param("EngineStuck AdmissionStalled", "EngineStuck AdmissionStalled", id="neither-explains-the-other"),
        pytest.param("EngineStuck ThroughputCollapsed EngineRankSkewed", "EngineStuck", id="nothing-is-no-throughput"),
        pytest.param("ErrorRateCritical AvailabilityBudgetBurn", "ErrorRateCritical", id="failing-is-told-once"),
        pytest.param(
            "ErrorRateHigh AvailabilityBudgetBurn", "ErrorRateHigh AvailabilityBudgetBurn", id="a-page-is-told"
        ),
        pytest.param("KVPoolBelowOneRequest MaxConcurrencyBelowFloor", "KVPoolBelowOneRequest", id="small-cache"),
    ],
)
def test_one_trouble_is_told_once(firing: str, expected: str) -> None:
    assert told(*map(alert, firing.split())) == set(expected.split())


@pytest.mark.parametrize(("name", "label"), [("TTFTBudgetBurn", "slo"), ("GPUTemperatureHigh", "gpu")])
def test_the_same_said_less_urgently_is_not_told(name: str, label: str) -> None:
    page, ticket = (alert(name, severity=severity, **{label: "1"}) for severity in ("critical", "warning"))
    other = alert(name, severity="warning", **{label: "2"})
    store = AlertStore()
    store.put(Alert(page, EMPTY, 0), 0)
    inhibitor = Inhibitor(shipped_inhibit_rules(), store)
    assert [bool(inhibitor.inhibiting(labels, 0)) for labels in (page, ticket, other)] == [False, True, False]


def test_another_server_and_another_model_are_told() -> None:
    assert told(alert("TargetDown"), alert("Overloaded", instance="b:8000")) == {"TargetDown", "Overloaded"}
    assert told(alert("EngineStuck"), alert("Overloaded", model_name="n")) == {"EngineStuck", "Overloaded"}


def test_every_name_is_that_of_an_alert_that_can_be_built() -> None:
    rules = map(yaml.safe_load, build(defaults(), everything=True).values())
    groups = [group for file in rules for group in file["groups"]]
    alerts = {rule["alert"].removeprefix("VLLM") for group in groups for rule in group["rules"] if "alert" in rule}
    matchers = re.findall(r"alertname.*", (rules_folder() / SHIPPED).read_text())
    # Of these one is raised by no rule.
    named = {name.removeprefix("VLLM") for line in matchers for name in re.findall(r"[A-Z]\w+", line)} - {
        "",
        DOWN.removeprefix("VLLM"),
    }
    # In a regular expression a name may be the beginning of several, or in parentheses the end.
    assert {name for name in named if not any(one.startswith(name) or one.endswith(name) for one in alerts)} == set()


@pytest.mark.parametrize("suite", ["", "newer"])
def test_an_alertmanager_takes_it_over(suite: str, tmp_path: Path) -> None:
    document = yaml.safe_load((rules_folder() / SHIPPED).read_text())
    path = tmp_path / "alertmanager.yml"
    path.write_text(yaml.safe_dump({"route": {"receiver": "a"}, "receivers": [{"name": "a"}], **document}))
    checked = subprocess.run(
        [engine("amtool", suite), "check-config", path], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
