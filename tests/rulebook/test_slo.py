"""Objectives: what can never be seen is refused when the rules are built, not silent for ever."""

from pathlib import Path

import pytest

from monitor.rulebook.build import build
from monitor.rulebook.values import read_values
from monitor.yamldoc.mistake import DocumentError


def mistakes(folder: Path, text: str) -> list[str]:
    path = folder / "values.yaml"
    path.write_text(text)
    with pytest.raises(DocumentError) as raised:
        read_values(path)
    return [str(mistake).removeprefix(f"{folder}/") for mistake in raised.value.mistakes]


TTFT, ITL = "is no bucket of vllm:time_to_first_token_seconds", "is no bucket of vllm:inter_token_latency_seconds"
OWN = "buckets of your own (--custom-histogram-buckets) want custom_edge: true"
TOO_MUCH = "more than everything would have to fail"
QUANTITIES = "ttft, inter_token, time_per_output_token, e2e, availability"


@pytest.mark.parametrize(
    ("objective", "complaint"),
    [
        ("of: ttft, edge: 2", f"2 s {TTFT}: those beside it are 1 and 2.5; {OWN}"),
        ("of: ttft, edge: 3000", f"3000 s {TTFT}: 2560 is the largest; {OWN}"),
        ("of: inter_token, edge: 0.12", f"0.12 s {ITL}: those beside it are 0.1 and 0.15; {OWN}"),
        ("of: inter_token, edge: 0.005", f"0.005 s {ITL}: the smallest is 0.01"),
        (
            "of: e2e, edge: 3",
            f"3 s is no bucket of vllm:e2e_request_latency_seconds: those beside it are 2.5 and 5; {OWN}",
        ),
        ("of: latency", f'"latency" is no quantity that can have an objective (write {QUANTITIES})'),
        ('of: ttft, name: ""', "an objective needs a name"),
        ('of: ttft, name: "*a"', 'name: "*a" is not a name (write letters, digits, _, . and -)'),
    ],
)
def test_an_objective_that_no_bucket_can_show_is_refused(tmp_path: Path, objective: str, complaint: str) -> None:
    (found,) = mistakes(tmp_path, f"slos:\n  - {{{objective}}}\n")
    place, _, what = found.partition(": ")
    assert place.startswith("values.yaml:2:")
    assert what == complaint


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "slos: [{name: a}, {name: a}]",
            "there are two objectives a",
        ),
        (
            "slos: [{name: lax, of: availability, objective_ratio: 0.9}]",
            f"a burn rate of 14.4 can never be seen with lax, whose objective is 0.9: {TOO_MUCH}",
        ),
        (
            "slo_windows: [{long: 5m, short: 5m, burn: 2}]",
            "the short window 5m is not shorter than the long one 5m",
        ),
        (
            "slo_windows: [{long: 1h, short: 5m, burn: 2}, {long: 60m, short: 300s, burn: 6}]",
            "there are two pairs of the windows 1h and 5m",
        ),
        (
            "slo_windows: [{long: 4m, short: 1m, burn: 2}]",
            "the long window 4m is shorter than 5m, over which requests are counted",
        ),
        (
            "slo_windows: [{long: 1h, short: 0s, burn: 2}]",
            "the short window 0s is shorter than 1m, in which nothing may be recorded",
        ),
        (
            "slo_windows: [{long: 1h, short: 5m, burn: 0.0}]",
            "a burn rate of 0 is that of a server without errors (write more than 0)",
        ),
    ],
)
def test_objectives_and_windows_that_contradict_each_other_are_refused(
    tmp_path: Path, text: str, complaint: str
) -> None:
    assert [line.split(": ", 1)[1] for line in mistakes(tmp_path, text)] == [complaint]


def test_objectives_of_a_file_and_windows_of_a_setting_are_looked_at_together(tmp_path: Path) -> None:
    path = tmp_path / "values.yaml"
    path.write_text("slos: [{name: lax, of: availability, objective_ratio: 0.95}]\n")
    assert read_values(path)
    windows = "slo_windows=[{long: 1h, short: 5m, burn: 30}]"
    assert read_values(None, [windows])
    never = f"a burn rate of 30 can never be seen with lax, whose objective is 0.95: {TOO_MUCH}"
    with pytest.raises(DocumentError, match=f"^all together: slo_windows: {never}$"):
        read_values(path, [windows])


def test_an_edge_of_ones_own_and_one_model_go_into_the_rules(tmp_path: Path) -> None:
    path = tmp_path / "values.yaml"
    path.write_text('slos: [{name: chat, of: ttft, edge: 3, custom_edge: true, model_name: "chat-.+"}]\n')
    text = build(read_values(path, ["alerts.VLLMTTFTBudgetBurn.enabled=true"]))["slo.rules.yaml"]
    assert 'vllm:time_to_first_token_seconds_bucket{le=~"3|3.0",model_name=~"chat-.+"}' in text
    assert text.count("- alert: VLLMTTFTBudgetBurn") == 4
    assert "VLLMAvailabilityBudgetBurn" not in text
