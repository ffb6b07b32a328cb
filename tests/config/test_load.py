"""What a file that is right is read as: what it says, and what it leaves out."""

from pathlib import Path

import pytest

from monitor.build import rule_groups
from monitor.config.config import Config
from monitor.config.fields import Address
from monitor.config.read import load
from monitor.config.secret import Hidden
from monitor.dispatch.route import Route
from monitor.model.instant import HOUR, MINUTE, SECOND
from monitor.model.labels import Labels
from monitor.model.matcher import equal
from monitor.rules.spec import AlertingRule

JOB = "scrape_configs: [{job_name: vllm, static_configs: [{targets: ['a:1']}]}]\n"


def config(folder: Path, text: str) -> Config:
    (folder / "monitor.yaml").write_text(text)
    return load(folder / "monitor.yaml")


def test_a_file_that_says_little_gets_the_defaults(tmp_path: Path) -> None:
    found = config(tmp_path, JOB)
    job = found.scrape_configs[0]
    assert (job.scrape_interval, job.scrape_timeout, job.metrics_path, job.scheme) == (5000, 5000, "/metrics", "http")
    assert job.static_configs[0].targets == ("a:1",)
    assert found.rule_files is None
    assert found.route == Route("console", ("alertname", "model_name"), group_wait=SECOND)
    assert [len(receiver.console_configs) for receiver in found.receivers] == [1]
    assert found.web.listen == Address("127.0.0.1", 9109)
    assert found.storage.path == tmp_path / "data"
    assert found.warnings == ()


def test_an_empty_file_is_a_daemon_that_watches_nothing_and_is_told_so(tmp_path: Path) -> None:
    found = config(tmp_path, "# nothing yet\n")
    assert found.scrape_configs == ()
    assert [warning.what for warning in found.warnings] == ["there is no target: nothing is watched"]


def test_keys_without_a_value_are_left_out(tmp_path: Path) -> None:
    assert config(tmp_path, f"{JOB}global:\nroute: ~\nreceivers:\nweb: {{listen: }}\n").warnings == ()


@pytest.mark.parametrize(
    ("settings", "interval", "timeout", "evaluation"),
    [
        pytest.param("{}", 5, 5, 5, id="defaults"),
        pytest.param("{scrape_interval: 15s}", 15, 5, 15, id="rules-follow-the-scrapes"),
        pytest.param("{scrape_interval: 2s}", 2, 2, 2, id="the-timeout-fits"),
        pytest.param("{scrape_interval: 15s, scrape_timeout: 10s, evaluation_interval: 1m}", 15, 10, 60, id="given"),
    ],
)
def test_intervals_that_are_left_out_fit_those_that_are_given(
    settings: str, interval: int, timeout: int, evaluation: int, tmp_path: Path
) -> None:
    found = config(tmp_path, f"{JOB}global: {settings}\n")
    job = found.scrape_configs[0]
    assert (job.scrape_interval, job.scrape_timeout) == (interval * SECOND, timeout * SECOND)
    assert found.global_.evaluation_interval == evaluation * SECOND


def test_a_job_has_its_own_interval_and_a_timeout_that_fits_it(tmp_path: Path) -> None:
    text = "global: {scrape_timeout: 4s}\nscrape_configs: [{job_name: a, scrape_interval: 3s}, {job_name: b}]\n"
    jobs = config(tmp_path, text).scrape_configs
    assert [(job.scrape_interval, job.scrape_timeout) for job in jobs] == [(3000, 3000), (5000, 4000)]


def test_routes_have_from_their_parents_what_they_do_not_say(tmp_path: Path) -> None:
    text = """
route:
  receiver: a
  group_by: [alertname]
  group_wait: 10s
  routes:
    - matchers: ['severity="critical"', team=llm]
      repeat_interval: 1h
      continue: true
      routes:
        - {receiver: b, group_by: [...], matchers: [x=y]}
        - {group_by: []}
receivers: [{name: a}, {name: b}]
"""
    child = Route(
        "a",
        ("alertname",),
        group_wait=10 * SECOND,
        repeat_interval=HOUR,
        matchers=(equal("severity", "critical"), equal("team", "llm")),
        continue_=True,
        key='{}/{severity="critical",team="llm"}',
        routes=(
            Route(
                "b",
                (),
                group_by_all=True,
                group_wait=10 * SECOND,
                repeat_interval=HOUR,
                matchers=(equal("x", "y"),),
                key='{}/{severity="critical",team="llm"}/{x="y"}',
            ),
            Route("a", (), group_wait=10 * SECOND, repeat_interval=HOUR, key='{}/{severity="critical",team="llm"}/{}'),
        ),
    )
    assert config(tmp_path, text).route == Route("a", ("alertname",), group_wait=10 * SECOND, routes=(child,))


def test_the_top_route_may_say_that_it_takes_everything(tmp_path: Path) -> None:
    text = "route: {receiver: a, matchers: [], continue: false}\nreceivers: [{name: a}]\n"
    assert config(tmp_path, JOB + text).route == Route("a", group_wait=SECOND)


def test_a_slack_receiver_without_a_way_of_its_own_has_the_webhook_of_all(tmp_path: Path) -> None:
    text = """
global: {slack_api_url: "https://hooks.slack.com/services/geheim"}
route: {receiver: a}
receivers:
  - name: a
    slack_configs: [{}, {channel: C1, bot_token: xoxb-geheim}]
"""
    webhook, bot = config(tmp_path, text).receivers[0].slack_configs
    assert webhook.api_url == Hidden("https://hooks.slack.com/services/geheim")
    assert (bot.api_url, bot.bot_token) == (None, Hidden("xoxb-geheim"))


def test_paths_are_meant_from_the_folder_of_the_file(tmp_path: Path) -> None:
    text = f"""
{JOB}
storage: {{path: state}}
route: {{receiver: a}}
receivers: [{{name: a, slack_configs: [{{channel: C1, bot_token_file: tokens/slack}}, {{api_url_file: /etc/hook}}]}}]
"""
    found = config(tmp_path, text)
    bot, webhook = found.receivers[0].slack_configs
    assert found.storage.path == tmp_path / "state"
    assert (bot.bot_token_file, webhook.api_url_file) == (tmp_path / "tokens" / "slack", Path("/etc/hook"))


def test_a_file_that_is_read_later_and_is_not_there_is_a_warning(tmp_path: Path) -> None:
    text = "scrape_configs: [{job_name: a, basic_auth: {password_file: p}, static_configs: [{targets: ['a:1']}]}]\n"
    assert [warning.what for warning in config(tmp_path, text).warnings] == ['password_file: "p" does not exist']
    (tmp_path / "p").touch()
    assert config(tmp_path, text).warnings == ()


def test_rule_files_are_patterns_and_each_file_counts_once(tmp_path: Path) -> None:
    for name in ("a.rules.yaml", "b.rules.yaml", "[x].yaml"):
        (tmp_path / name).touch()
    (tmp_path / "folder.rules.yaml").mkdir()
    found = config(tmp_path, f"{JOB}rule_files: [b.rules.yaml, '*.rules.yaml', {tmp_path}/a.*, '[[]x].yaml']\n")
    names = ["b.rules.yaml", "a.rules.yaml", "[x].yaml"]
    assert found.rule_files == tuple(tmp_path / name for name in names)


def test_the_shipped_rules_are_built_with_the_values_that_are_named(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("alerts: {VLLMTargetDown: {for: 3m}}\n")
    found = config(tmp_path, f"{JOB}rule_values_file: values.yaml\n")
    down = [rule for group in rule_groups(found) for rule in group.rules if rule.name == "VLLMTargetDown"]
    assert [rule.for_ for rule in down if isinstance(rule, AlertingRule)] == [180_000]


def test_no_rule_files_are_not_the_shipped_ones(tmp_path: Path) -> None:
    assert config(tmp_path, f"{JOB}rule_files: []\n").rule_files == ()


def test_scalars_are_read_by_what_the_setting_is(tmp_path: Path) -> None:
    text = """
global: {external_labels: {on: yes, day: 2020-01-01, ratio: 1:30, octal: 010, nothing: }, resolve_timeout: 1h5m}
scrape_configs:
  - {job_name: on, body_size_limit: 1KB, params: {module: [1, true]}, static_configs: [{targets: ["[::1]:8000"]}]}
web: {listen: ":9109"}
"""
    found = config(tmp_path, text)
    job = found.scrape_configs[0]
    assert found.global_.external_labels == Labels.of(on="yes", day="2020-01-01", ratio="1:30", octal="010")
    assert found.global_.resolve_timeout == HOUR + 5 * MINUTE
    assert (job.job_name, job.body_size_limit, job.params) == ("on", 1024, {"module": ("1", "true")})
    assert found.web.listen == Address("0.0.0.0", 9109)


def test_no_secret_is_shown(tmp_path: Path) -> None:
    text = """
global: {slack_api_url: "https://hooks.slack.com/services/geheim"}
scrape_configs:
  - {job_name: a, basic_auth: {username: u, password: geheim}}
  - {job_name: b, authorization: {credentials: geheim}}
route: {receiver: a}
receivers: [{name: a, slack_configs: [{channel: C1, bot_token: xoxb-geheim}]}]
"""
    found = config(tmp_path, text)
    assert "geheim" not in f"{found} {found!r} {found.global_!s} {found.receivers[0].model_dump()}"
    password = found.scrape_configs[0].basic_auth
    assert password is not None
    assert password.password == Hidden("geheim")


def test_a_target_without_a_port_is_a_warning(tmp_path: Path) -> None:
    text = "scrape_configs: [{job_name: a, static_configs: [{targets: [gpu1]}]}]\n"
    assert [str(warning.place) for warning in config(tmp_path, text).warnings] == ["Place(line=1, column=60)"]
