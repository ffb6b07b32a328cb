"""Tokens, keys and URLs that are secrets: nothing that others can read of a daemon holds them, whatever goes wrong."""

from pathlib import Path

import requests

from monitor.simulator.server import SimulatedServer
from tests.acceptance.daemon import PATIENCE, Daemon, daemon
from tests.notify.endpoint import PATH, endpoint
from tests.notify.pagerdutystub import ROUTING_KEY
from tests.slackstub.faults import Answer
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import APP_TOKEN, CHANNEL, TOKEN
from tests.waiting import until

RULES = "groups: [{name: g, rules: [{alert: Always, expr: 'vector(1)'}]}]\n"
BEARER, PASSWORD = "bearerNotToBeShown", "passwordNotToBeShown"
PAGES = (
    *("/metrics", "/-/ready", "/api/v1/outbox", "/api/v1/alerts", "/api/v1/rules", "/api/v1/targets"),
    *("/api/v1/status/flags", "/api/v1/status/runtimeinfo", "/api/v2/status", "/api/v2/receivers", "/api/v2/alerts"),
)


def write(folder: Path, vllm: SimulatedServer, slack: SlackStub, hook: str) -> str:
    (folder / "g.rules.yaml").write_text(RULES)
    path = folder / "monitor.yaml"
    path.write_text(
        f"""\
global: {{scrape_interval: 1s, slack_base_url: "{slack.base_url}"}}
scrape_configs: [{{job_name: vllm, static_configs: [{{targets: ["{vllm.url.removeprefix("http://")}"]}}]}}]
rule_files: ["*.rules.yaml"]
route: {{receiver: all, group_wait: 0s, group_interval: 1s}}
receivers:
  - name: all
    fallback: other
    slack_configs:
      - {{channel: {CHANNEL}, bot_token: {TOKEN}}}
      - {{api_url: "{slack.webhook_url}gone"}}
    webhook_configs:
      - {{url: "{hook}", http_config: {{authorization: {{credentials: {BEARER}}}}}}}
      - {{url: "{hook}", http_config: {{basic_auth: {{username: me, password: {PASSWORD}}}}}}}
      - {{url: "http://127.0.0.1:1{PATH}"}}
    pagerduty_configs: [{{routing_key: {ROUTING_KEY}, url: "{hook}"}}]
  - name: other
    webhook_configs: [{{url: "{hook}"}}]
heartbeat: {{url: "{hook}", interval: 1s}}
slack: {{app_token: {APP_TOKEN}, signing_secret: signingNotToBeShown}}
alerting:
  alertmanagers:
    - static_configs: [{{targets: ["{hook.removeprefix("http://").removesuffix(PATH)}"]}}]
      authorization: {{credentials: forwardedNotToBeShown}}
  webhook: {{basic_auth: {{username: am, password: postedNotToBeShown}}}}
web: {{listen: "127.0.0.1:0"}}
"""
    )
    return str(path)


def name_of(thread: Path) -> str:
    """Return the name of a thread, which may have ended since it was found."""
    try:
        return thread.read_text()
    except OSError:
        return ""


def readable(ours: Daemon) -> str:
    """Return everything that others can read of a daemon."""
    process = Path(f"/proc/{ours.process.pid}")
    return "\n".join(
        [
            ours.log,
            (process / "cmdline").read_text(),
            *map(name_of, process.glob("task/*/comm")),
            *(ours.get(page) for page in PAGES),
        ]
    )


def test_nothing_that_can_be_read_holds_a_secret(tmp_path: Path, vllm: SimulatedServer) -> None:
    with SlackStub() as slack, endpoint(lambda _: Answer(403, f"{PATH} {BEARER}")) as hook:
        slack.workspace.revoked.add(TOKEN)
        config = write(tmp_path, vllm, slack, hook.url)
        with daemon(tmp_path, "--config", config, "--log-level", "debug") as ours:
            # Six integrations, the fallback's, and the heartbeat.
            until(lambda: ours.log.count("not notified") >= 7, within=20)
            until(lambda: "heartbeat not sent" in ours.log, within=30)
            until(lambda: "alerts not sent" in ours.log, within=30)
            assert (
                requests.post(f"{ours.url}/alertmanager", json={}, auth=("am", "other"), timeout=PATIENCE).status_code
                == 401
            )
            text = readable(ours)
            assert len(ours.data("/api/v1/outbox")["waiting"]) >= 7
            ours.end()
            text += ours.log
    secrets = (
        *(TOKEN, APP_TOKEN, ROUTING_KEY, BEARER, PASSWORD, "NotToBeShown", PATH, "notARealSecret"),
        *(slack.webhook_url, hook.url),
    )
    assert [secret for secret in secrets if secret in text] == []
