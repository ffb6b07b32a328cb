"""What the probes have found, on /metrics: with odd names, readable by others."""

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from monitor.model.labels import Labels
from monitor.model.target import Target
from monitor.probe.collector import ProbeCollector
from monitor.probe.loop import ProbeLoop
from monitor.probe.options import ProbeOptions
from monitor.probe.questions import Round
from monitor.probe.readings import Health, Model, Readings
from monitor.storage.window import Window

ODD = 'a "quoted"\nname \\ of 模型'


def shown(*loops: ProbeLoop) -> str:
    registry = CollectorRegistry()
    registry.register(ProbeCollector(lambda: loops, lambda: 5000))
    return generate_latest(registry).decode()


def probed(instance: str, readings: Readings) -> ProbeLoop:
    target = Target("vllm", f"http://{instance}/metrics", Labels.of(job="vllm", instance=instance), Labels.of())
    loop = ProbeLoop(target, ProbeOptions(), Window(), lambda *_: Round(readings))
    loop.probe(5000)
    return loop


def test_all_targets_stand_in_one_family_with_their_own_labels() -> None:
    text = shown(
        probed("a:1", Readings(Health.OK, models=(Model(ODD, 512),))), probed("b:1", Readings(version="0.9.0"))
    )
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert families["vllm_monitor_target_health_up"].type == "gauge"
    assert [(sample.labels, sample.value) for sample in families["vllm_monitor_target_max_model_len"].samples] == [
        ({"job": "vllm", "instance": "a:1", "model_name": ODD}, 512)
    ]
    assert [sample.labels["instance"] for sample in families["vllm_monitor_target_version_info"].samples] == ["b:1"]
    assert text.count("# TYPE vllm_monitor_target_health ") == 1


def test_of_targets_with_the_same_labels_the_first_is_shown() -> None:
    text = shown(probed("pod", Readings(Health.OK)), probed("pod", Readings(Health.REFUSED, version="0.9.0")))
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    assert len({(sample.name, *sample.labels.items()) for sample in samples}) == len(samples)
    assert [sample.value for sample in samples if sample.name == "vllm_monitor_target_health_up"] == [1]
    assert [sample.labels.get("result") for sample in samples if sample.value and "result" in sample.labels] == ["ok"]
    assert "vllm_monitor_target_version_info{" in text


def test_nothing_known_is_nothing_shown() -> None:
    assert shown() == ""
