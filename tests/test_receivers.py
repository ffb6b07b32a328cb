"""From a receiver of the configuration to messages at its addresses."""

from pathlib import Path

import pytest

from monitor.clock import VirtualClock
from monitor.config.read import load
from monitor.notify.slack.workspace import Workspace
from monitor.receivers import receivers_of
from monitor.yamldoc.mistake import DocumentError
from tests.notify.endpoint import endpoint
from tests.notify.pagerdutystub import ROUTING_KEY, PagerDutyStub
from tests.notify.samples import NOW, note, queue

JOB = "scrape_configs: [{job_name: vllm, static_configs: [{targets: ['a:1']}]}]\n"


def test_every_way_of_a_receiver_is_told_as_it_is_configured(tmp_path: Path) -> None:
    stub = PagerDutyStub()
    with endpoint() as hook, endpoint(stub.answer) as events:
        (tmp_path / "url").write_text(hook.url)
        (tmp_path / "token").write_text("top")
        (tmp_path / "monitor.yaml").write_text(
            f"""\
{JOB}
web: {{external_url: "https://monitor.example.com"}}
receivers:
  - name: all
    webhook_configs:
      - url_file: url
        max_alerts: 1
        send_resolved: false
        http_config: {{authorization: {{credentials_file: token}}}}
      - {{url: "{hook.url}", http_config: {{basic_auth: {{username: me, password: pass}}}}}}
    pagerduty_configs:
      - {{routing_key: {ROUTING_KEY}, url: "{events.url}", severities: {{warning: critical}}}}
"""
        )
        integrations, notifiers = receivers_of(load(tmp_path / "monitor.yaml"), None, Workspace(VirtualClock(NOW).now))
        assert [(one.name, one.send_resolved) for one in integrations["all"]] == [
            ("all/webhook[0]", False),
            ("all/webhook[1]", True),
            ("all/pagerduty[0]", True),
        ]
        for notifier in notifiers.values():
            notifier.notify(note(queue("a:1"), queue("b:1")))
        assert [request.headers["authorization"] for request in hook.requests] == ["Bearer top", "Basic bWU6cGFzcw=="]
        assert [len(request.json["alerts"]) for request in hook.requests] == [1, 2]
        assert {request.json["externalURL"] for request in hook.requests} == {"https://monitor.example.com"}
        (incident,) = stub.open.values()
        assert (incident["payload"]["severity"], incident["client_url"]) == ("critical", "https://monitor.example.com")


@pytest.mark.parametrize(
    ("receiver", "expected"),
    [
        ("webhook_configs: [{}]", 'receiver "a", webhook config 1: set one of url and url_file'),
        ("webhook_configs: [{url: geheim}]", "url: is not a URL (write https://…)"),
        (
            "pagerduty_configs: [{routing_key: geheim, routing_key_file: f}]",
            "set one of routing_key and routing_key_file",
        ),
        ("pagerduty_configs: [{routing_key: x, severities: {page: bad}}]", '"bad" is not one of critical, error'),
        ("fallback: a, console_configs: [{}]", "fallback: leads back to itself (a → a)"),
        (
            "fallback: b}, {name: b, fallback: c}, {name: c, fallback: a",
            'receiver "c": fallback: leads back to itself (c → a → b → c)',
        ),
        ("fallback: paper}, {name: pager", 'receiver "a": fallback: receiver "paper" is not defined (known: a, pager)'),
        ("webhook_configs: [{url: 'http://x', http_config: {proxy_url: x}}]", '"proxy_url" is not supported yet'),
    ],
)
def test_what_is_wrong_with_a_receiver_is_told_without_its_secrets(
    tmp_path: Path, receiver: str, expected: str
) -> None:
    (tmp_path / "monitor.yaml").write_text(f"{JOB}receivers: [{{name: a, {receiver}}}]\n")
    with pytest.raises(DocumentError) as caught:
        load(tmp_path / "monitor.yaml")
    assert expected in str(caught.value)
    assert "geheim" not in str(caught.value)
