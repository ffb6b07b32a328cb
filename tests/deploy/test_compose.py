"""Compose: the real `config` takes both files, nothing is reachable from outside, and the services know each other."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.config.read import load
from tests.deploy.tools import DEPLOY, ROOT, run

FOLDER = DEPLOY / "compose"
FILES = ("compose.yaml", "minimal.yaml")


def composed(name: str, *profiles: str, folder: Path = FOLDER) -> Any:
    """Return the services and all else as Compose understands them; an AssertionError with what it says is wrong."""
    chosen = [word for profile in profiles for word in ("--profile", profile)]
    done = run("docker-compose", "-f", folder / name, *chosen, "config", "--format", "json")
    # It ends with 0 whatever it found.
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def stack() -> Any:
    return composed("compose.yaml", "gpu", "simulator")


@pytest.fixture(scope="module")
def minimal() -> Any:
    return composed("minimal.yaml")


def test_one_profile_has_vllm_and_the_other_a_simulator() -> None:
    rest = {"monitor", "prometheus", "alertmanager", "grafana"}
    assert set(composed("compose.yaml", "gpu")["services"]) == rest | {"vllm"}
    without = composed("compose.yaml", "simulator")["services"]
    assert set(without) == rest | {"simulator"}
    assert without["simulator"]["networks"]["default"]["aliases"] == ["vllm"]


def test_the_small_file_has_vllm_and_the_monitor(minimal: Any) -> None:
    assert set(minimal["services"]) == {"vllm", "monitor"}


@pytest.mark.parametrize(
    ("good", "broken", "told"),
    [
        pytest.param("restart: unless-stopped", "restarts: unless-stopped", "restarts", id="misspelt"),
        pytest.param("mem_limit: 256m", "mem_limit: much", "much", id="no-number"),
        pytest.param("secrets: [slack-webhook]", "secrets: [slack]", "undefined secret slack", id="no-such-secret"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(tmp_path: Path, good: str, broken: str, told: str) -> None:
    text = (FOLDER / "minimal.yaml").read_text()
    (tmp_path / "minimal.yaml").write_text(text.replace(good, broken, 1))
    with pytest.raises(AssertionError, match=told):
        composed("minimal.yaml", folder=tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_the_schema_of_compose_says_the_same(name: str, tmp_path: Path) -> None:
    check = ("--builtin-schema", "vendor.compose-spec")
    assert run("check-jsonschema", *check, FOLDER / name).returncode == 0
    broken = tmp_path / name
    broken.write_text((FOLDER / name).read_text().replace("security_opt:", "security_opts:", 1))
    assert run("check-jsonschema", *check, broken).returncode == 1


def services(*composed: Any) -> dict[str, Any]:
    return {f"{number} {name}": one for number, each in enumerate(composed) for name, one in each["services"].items()}


def test_every_published_port_is_on_the_hosts_loopback(stack: Any, minimal: Any) -> None:
    found = services(stack, minimal)
    assert all(one["ports"] for one in found.values())
    assert {port["host_ip"] for one in found.values() for port in one["ports"]} == {"127.0.0.1"}


def test_every_service_says_whether_it_is_well(stack: Any, minimal: Any) -> None:
    assert [name for name, one in services(stack, minimal).items() if "healthcheck" not in one] == []


def test_secrets_are_files_that_git_does_not_see(stack: Any) -> None:
    ignored = (FOLDER / ".gitignore").read_text().splitlines()
    assert sorted(Path(secret["file"]).name for secret in stack["secrets"].values()) == ignored
    variables = [
        (name, value) for one in stack["services"].values() for name, value in (one.get("environment") or {}).items()
    ]
    assert [value for name, value in variables if "PASSWORD" in name] == ["/run/secrets/grafana-password"]


def test_the_monitor_can_write_nothing_but_its_state(stack: Any, minimal: Any) -> None:
    for one in (stack["services"]["monitor"], minimal["services"]["monitor"]):
        assert one["read_only"]
        assert one["cap_drop"] == ["ALL"]
        assert one["security_opt"] == ["no-new-privileges:true"]
        writable = [volume["target"] for volume in one["volumes"] if not volume.get("read_only")]
        assert writable == ["/var/lib/vllm-monitor/data"]
        assert one["tmpfs"] == ["/tmp"]  # noqa: S108 - the container's own


def test_the_monitor_is_asked_by_its_own_configuration_and_has_time_to_end(stack: Any, minimal: Any) -> None:
    for one in (stack["services"]["monitor"], minimal["services"]["monitor"]):
        file = one["command"][-1]
        assert one["command"] == ["run", "--config", file]
        assert one["healthcheck"]["test"] == ["CMD", "vllm-monitor", "healthcheck", "--config", file]
        assert file in {volume["target"] for volume in one["volumes"]}
        # Within five seconds what waits is told.
        assert one["stop_grace_period"] == "10s"


def test_the_monitor_does_not_wait_for_the_server_it_watches(stack: Any, minimal: Any) -> None:
    assert [name for name, one in services(stack, minimal).items() if "depends_on" in one] == []


def test_the_build_finds_its_dockerfile(minimal: Any) -> None:
    build = minimal["services"]["monitor"]["build"]
    assert Path(build["context"]) == ROOT
    assert (ROOT / build["dockerfile"]).is_file()
    assert (ROOT / ".dockerignore").is_file()


def secrets_of(one: Any) -> set[str]:
    """Return where a service finds its secrets; Compose leaves out the folder where it is the usual one."""
    return {str(Path("/run/secrets") / secret.get("target", secret["source"])) for secret in one["secrets"]}


def mounted(one: Any, target: str) -> Path:
    (source,) = [volume["source"] for volume in one["volumes"] if volume["target"] == target]
    return Path(source)


def test_the_monitors_configuration_fits_its_service(stack: Any, minimal: Any) -> None:
    for one in (stack["services"]["monitor"], minimal["services"]["monitor"]):
        config = load(mounted(one, "/etc/vllm-monitor/monitor.yaml"))
        assert config.scrape_configs[0].static_configs[0].targets == ("vllm:8000",)
        assert config.web.listen.port == one["ports"][0]["target"]
        assert str(config.storage.path) in {volume["target"] for volume in one["volumes"]}
        (slack,) = [slack for receiver in config.receivers for slack in receiver.slack_configs]
        assert str(slack.api_url_file) in secrets_of(one)


def test_behind_alertmanager_the_monitor_tells_nothing_of_its_own_accord(stack: Any) -> None:
    config = load(mounted(stack["services"]["monitor"], "/etc/vllm-monitor/monitor.yaml"))
    silent = {receiver.name for receiver in config.receivers if not receiver.slack_configs}
    assert config.route.receiver in silent
    routed = yaml.safe_load(
        mounted(stack["services"]["alertmanager"], "/etc/alertmanager/alertmanager.yml").read_text()
    )
    (hook,) = [hook for one in routed["receivers"] for hook in one.get("webhook_configs", ())]
    (told,) = {receiver.name for receiver in config.receivers} - silent
    assert hook["url"] == f"http://monitor:9109/alertmanager/{told}"
    # Both have the token that it shows.
    asked = config.alerting.webhook.authorization
    assert asked is not None
    assert hook["http_config"]["authorization"] == {"credentials_file": str(asked.credentials_file)}
    assert all(
        str(asked.credentials_file) in secrets_of(stack["services"][name]) for name in ("monitor", "alertmanager")
    )


def test_prometheus_and_grafana_find_the_others_by_their_names(stack: Any) -> None:
    prometheus = yaml.safe_load(mounted(stack["services"]["prometheus"], "/etc/prometheus/prometheus.yml").read_text())
    static = [
        target
        for each in (*prometheus["scrape_configs"], *prometheus["alerting"]["alertmanagers"])
        for target in each["static_configs"][0]["targets"]
    ]
    ports = {f"{name}:{port['target']}" for name, one in stack["services"].items() for port in one["ports"]}
    assert set(static) == {"vllm:8000", "monitor:9109", "alertmanager:9093"}
    assert set(static) <= ports
    grafana = stack["services"]["grafana"]
    sources = yaml.safe_load((mounted(grafana, "/etc/grafana/provisioning") / "datasources" / "vllm.yaml").read_text())
    assert {one["url"].removeprefix("http://") for one in sources["datasources"]} <= ports


def test_grafana_has_every_dashboard_where_its_provider_looks(stack: Any) -> None:
    grafana = stack["services"]["grafana"]
    provided = yaml.safe_load((mounted(grafana, "/etc/grafana/provisioning") / "dashboards" / "vllm.yaml").read_text())
    path = provided["providers"][0]["options"]["path"]
    found = {Path(one["source"]) for one in grafana["volumes"] if one["target"].startswith(f"{path}/")}
    assert found == set((ROOT / "dashboards").glob("*.json"))
