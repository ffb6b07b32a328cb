"""What Grafana is given at its start: two data sources, and the folder of the dashboards."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

ROOT = Path(__file__).parents[2]
PROVISIONING = ROOT / "deploy" / "grafana" / "provisioning"


def given(kind: str) -> Any:
    (path,) = (PROVISIONING / kind).glob("*.yaml")
    document = yaml.safe_load(path.read_text())
    assert document["apiVersion"] == 1
    return document


def test_the_monitor_and_a_prometheus_are_data_sources_of_the_kind_that_the_dashboards_choose_from() -> None:
    sources = {source["uid"]: source for source in given("datasources")["datasources"]}
    assert sources.keys() == {"vllm-monitor", "prometheus"}
    assert [uid for uid, source in sources.items() if source["isDefault"]] == ["vllm-monitor"]
    for source in sources.values():
        assert (source["type"], source["access"]) == ("prometheus", "proxy")
        assert source["jsonData"]["timeInterval"] == "5s"


def test_the_monitor_listens_where_its_data_source_asks() -> None:
    (source,) = (one for one in given("datasources")["datasources"] if one["uid"] == "vllm-monitor")
    document = yaml.safe_load((ROOT / "deploy" / "compose" / "monitor.yaml").read_text())
    assert document["web"]["listen"].rpartition(":")[2] == str(urlsplit(source["url"]).port)
    services = yaml.safe_load((ROOT / "deploy" / "compose" / "compose.yaml").read_text())["services"]
    assert urlsplit(source["url"]).hostname in services


def test_one_folder_has_all_dashboards() -> None:
    (provider,) = given("dashboards")["providers"]
    assert (provider["type"], provider["folder"], provider["allowUiUpdates"]) == ("file", "vLLM", False)
    assert provider["options"]["path"].startswith("/")
