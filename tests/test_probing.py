"""From the section `probe` of a file to how targets are probed."""

from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from monitor.build import Builder
from monitor.clock import VirtualClock
from monitor.config.config import Config
from monitor.config.read import load
from monitor.jobs import probe_options_of
from monitor.metrics import Metrics
from monitor.model.instant import MINUTE, SECOND
from monitor.probe.options import CanaryOptions, ProbeOptions
from monitor.storage.window import Window
from monitor.yamldoc.mistake import DocumentError


def read(folder: Path, probe: str, more: str = "") -> Config:
    path = folder / "monitor.yaml"
    path.write_text(
        f"""\
scrape_configs:
  - job_name: vllm
    scrape_interval: 10s
    scrape_timeout: 4s
    {more}
    probe: {probe}
    static_configs: [{{targets: ["a:1", "b:1"]}}]
rule_files: []
"""
    )
    return load(path)


def options(folder: Path, probe: str) -> ProbeOptions | None:
    (job,) = read(folder, probe).scrape_configs
    found = probe_options_of(job)
    return None if found is None else replace(found, scrape=ProbeOptions().scrape)


DEFAULT = ProbeOptions(timeout=4 * SECOND)


@pytest.mark.parametrize(
    ("probe", "expected"),
    [
        ("{}", DEFAULT),
        ("", DEFAULT),
        ("{enabled: false}", None),
        ("{timeout: 2s}", replace(DEFAULT, timeout=2 * SECOND)),
        ("{health: {enabled: false}, load: {interval: 1m}}", replace(DEFAULT, health=None, load=MINUTE)),
        ("{version: {interval: 1m}, models: {enabled: false}}", replace(DEFAULT, version=MINUTE, models=None)),
        ("{exposure: {paths: [/docs]}}", replace(DEFAULT, paths=("/docs",))),
        ("{exposure: {paths: []}}", replace(DEFAULT, exposure=None, paths=())),
        ("{canary: {model: llama}}", DEFAULT),
        ("{canary: {enabled: true}}", replace(DEFAULT, canary=CanaryOptions())),
        (
            "{canary: {enabled: true, interval: 1m, timeout: 20s, model: llama}}",
            replace(DEFAULT, canary=CanaryOptions(MINUTE, 20 * SECOND, "llama")),
        ),
    ],
)
def test_settings(tmp_path: Path, probe: str, expected: ProbeOptions | None) -> None:
    assert options(tmp_path, probe) == expected


@pytest.mark.parametrize(
    ("probe", "told"),
    [
        ("{timeout: 11s}", '6:22: scrape config "vllm": probe: timeout: 11s is longer than the scrape_interval 10s'),
        ("{canary: {timeout: 6m}}", '6:31: scrape config "vllm": timeout: 6m is longer than the interval 5m'),
        ("{canry: {}}", '6:13: scrape config "vllm": unknown field "canry" (did you mean "canary"?)'),
        (
            "{exposure: {paths: [docs]}}",
            '6:32: scrape config "vllm": probe.exposure.paths: "docs" does not begin with "/"',
        ),
        ("{exposure: {paths: [/a b]}}", 'paths: "/a b" holds a character that no URL may have'),
        ("{health: {interval: 5}}", "is not a duration"),
    ],
)
def test_mistakes(tmp_path: Path, probe: str, told: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(tmp_path, probe)
    assert told in str(caught.value)


def test_a_target_that_is_probed_as_before_goes_on_as_it_is_and_no_other(tmp_path: Path) -> None:
    builder = Builder(VirtualClock(MINUTE), Window(), Metrics(CollectorRegistry(), "test"), probes=True)
    first = builder.build(read(tmp_path, "{}"))
    assert [prober.target.labels.value("instance") for prober in first.probers.values()] == ["a:1", "b:1"]
    same = builder.build(read(tmp_path, "{}"), first)
    assert list(same.probers.values()) == list(first.probers.values())
    # One that reads another page is another one, too.
    for probe, more in (("{load: {enabled: false}}", ""), ("{}", "honor_labels: true")):
        other = builder.build(read(tmp_path, probe, more), first)
        assert not {*other.probers.values()} & {*first.probers.values()}
    assert builder.build(read(tmp_path, "{enabled: false}"), first).probers == {}


def test_nothing_is_probed_unless_the_builder_is_told(tmp_path: Path) -> None:
    builder = Builder(VirtualClock(MINUTE), Window(), Metrics(CollectorRegistry(), "test"))
    assert builder.build(read(tmp_path, "{}")).probers == {}
