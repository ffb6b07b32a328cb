"""docs/prometheus.md: what it shows loads, and what it says of differences is what the proof lets pass."""

import re
from pathlib import Path

import pytest

from monitor.config.read import load
from monitor.upstream.emptiness import NAME as WITHOUT_SERVERS
from monitor.upstream.outage import NAME as DOWN
from monitor.upstream.recorded import NAME as RULES_MISSING
from tests.sameness.whole import OTHERWISE_IN_A_REPLAY, OTHERWISE_IN_VICTORIAMETRICS

PAGE = (Path(__file__).parents[2] / "docs" / "prometheus.md").read_text()


def test_its_configurations_load(tmp_path: Path) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        (tmp_path / "monitor.yaml").write_text(block)
        config = load(tmp_path / "monitor.yaml")
        assert config.prometheus is not None
        assert all("does not exist" in told.what for told in config.warnings)


def test_it_names_the_alerts_that_no_rule_raises() -> None:
    assert set(re.findall(r"`(VLLMMonitor\w+)`", PAGE)) == {DOWN, RULES_MISSING, WITHOUT_SERVERS}


@pytest.mark.parametrize(
    ("engine", "otherwise"),
    [("VictoriaMetrics", OTHERWISE_IN_VICTORIAMETRICS), ("vmalert's replay", OTHERWISE_IN_A_REPLAY)],
)
def test_what_differs_elsewhere_is_listed(engine: str, otherwise: frozenset[str]) -> None:
    (listed,) = re.findall(rf"^- \*\*{engine}\*\*(.*?)^- ", PAGE, flags=re.DOTALL | re.MULTILINE)
    assert set(re.findall(r"`(VLLM\w+)`", listed)) == otherwise
