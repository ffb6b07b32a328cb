"""Compose: nothing is reachable from outside, no secret is in the file, and the monitor's configuration is one."""

from pathlib import Path
from typing import Any

import yaml

from monitor.config.read import load

FOLDER = Path(__file__).parents[2] / "deploy" / "compose"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text())
MONITOR: dict[str, Any] = COMPOSE["services"]["monitor"]


def test_every_published_port_is_on_the_hosts_loopback() -> None:
    published = [port for service in COMPOSE["services"].values() for port in service["ports"]]
    assert len(published) == len(COMPOSE["services"])
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_secrets_are_files_that_git_does_not_see() -> None:
    assert all("environment" not in service for service in COMPOSE["services"].values())
    assert list(COMPOSE["secrets"]) == MONITOR["secrets"]
    ignored = (FOLDER / ".gitignore").read_text().splitlines()
    assert [Path(secret["file"]).name for secret in COMPOSE["secrets"].values()] == ignored


def test_the_monitor_can_write_nothing_but_its_state() -> None:
    assert MONITOR["read_only"]
    assert MONITOR["cap_drop"] == ["ALL"]
    assert MONITOR["security_opt"] == ["no-new-privileges:true"]
    assert [volume for volume in MONITOR["volumes"] if not volume.endswith(":ro")] == [
        "state:/var/lib/vllm-monitor/data"
    ]


def test_the_monitor_does_not_wait_for_the_server_it_watches() -> None:
    assert "depends_on" not in MONITOR


def test_the_build_finds_its_dockerfile() -> None:
    context = (FOLDER / MONITOR["build"]["context"]).resolve()
    assert (context / MONITOR["build"]["dockerfile"]).is_file()
    assert (context / ".dockerignore").is_file()


def test_the_configuration_fits_the_services() -> None:
    config = load(FOLDER / "monitor.yaml")
    assert config.scrape_configs[0].static_configs[0].targets == ("vllm:8000",)
    assert f":{config.web.listen.port}" in MONITOR["ports"][0].removeprefix("127.0.0.1")
    assert str(config.storage.path) in MONITOR["volumes"][1]
    (slack,) = config.receivers[0].slack_configs
    assert str(slack.api_url_file) == f"/run/secrets/{MONITOR['secrets'][0]}"
