"""One container, told everything by flags and variables."""

from pathlib import Path

import pytest

from monitor.build import rule_groups
from monitor.config.availability import HaConfig
from monitor.config.fields import Address
from monitor.config.flags import Flags, from_flags
from monitor.config.receiving import SlackConfig
from monitor.config.secret import Hidden
from monitor.dispatch.route import Route
from monitor.model.instant import MINUTE, SECOND
from monitor.rules.spec import AlertingRule
from monitor.yamldoc.mistake import DocumentError

TARGET = Flags(targets=("http://127.0.0.1:8000",))


def mistakes(flags: Flags, environment: dict[str, str]) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        from_flags(flags, environment)
    return [str(mistake) for mistake in caught.value.mistakes]


def test_a_target_is_enough_and_alerts_are_printed() -> None:
    config = from_flags(TARGET, {})
    (job,) = config.scrape_configs
    assert (job.job_name, job.scheme, job.metrics_path) == ("vllm", "http", "/metrics")
    assert job.static_configs[0].targets == ("127.0.0.1:8000",)
    assert config.rule_files is None
    assert [len(receiver.console_configs) for receiver in config.receivers] == [1]
    assert config.route == Route("console", ("alertname", "model_name"), group_wait=SECOND)


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        pytest.param(
            ["gpu1:8000", "http://gpu2:8000/"], [("vllm", "http", "/metrics", ("gpu1:8000", "gpu2:8000"))], id="one"
        ),
        pytest.param(["gpu1:8000/x", "[::1]:8000/x"], [("vllm", "http", "/x", ("gpu1:8000", "[::1]:8000"))], id="path"),
        pytest.param(["gpu1:8000", "gpu1:8000"], [("vllm", "http", "/metrics", ("gpu1:8000",))], id="twice"),
        pytest.param(
            ["http://gpu1:8000", "https://gpu2:8443/m"],
            [("vllm", "http", "/metrics", ("gpu1:8000",)), ("vllm-2", "https", "/m", ("gpu2:8443",))],
            id="different-pages-are-different-jobs",
        ),
    ],
)
def test_targets_share_a_job_when_their_pages_are_alike(
    targets: list[str], expected: list[tuple[str, str, str, tuple[str, ...]]]
) -> None:
    found = [
        [(job.job_name, job.scheme, job.metrics_path, job.static_configs[0].targets) for job in config.scrape_configs]
        for config in (
            from_flags(Flags(targets=tuple(targets)), {}),
            from_flags(Flags(), {"VLLM_MONITOR_TARGETS": ", ".join(targets)}),
        )
    ]
    assert found == [expected, expected]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        pytest.param(
            {"SLACK_BOT_TOKEN": " xoxb-1\n", "SLACK_CHANNEL": "C1"},
            SlackConfig(channel="C1", bot_token=Hidden("xoxb-1")),
            id="bot",
        ),
        pytest.param(
            {"SLACK_WEBHOOK_URL": "https://hooks.slack.com/x"},
            SlackConfig(api_url=Hidden("https://hooks.slack.com/x")),
            id="webhook",
        ),
    ],
)
def test_slack_is_one_receiver_that_gets_everything(environment: dict[str, str], expected: SlackConfig) -> None:
    config = from_flags(TARGET, environment)
    assert [receiver.slack_configs for receiver in config.receivers] == [(expected,)]
    assert config.route.receiver == config.receivers[0].name


def test_secrets_can_be_in_files() -> None:
    bot = from_flags(TARGET, {"SLACK_BOT_TOKEN_FILE": "/run/t", "SLACK_CHANNEL": "C1"}).receivers[0].slack_configs[0]
    webhook = from_flags(TARGET, {"SLACK_WEBHOOK_URL_FILE": "/run/w"}).receivers[0].slack_configs[0]
    assert (str(bot.bot_token_file), str(webhook.api_url_file)) == ("/run/t", "/run/w")


def test_a_flag_goes_before_its_variable() -> None:
    environment = {"VLLM_MONITOR_LISTEN": ":1", "VLLM_MONITOR_STORAGE": "/a", "VLLM_MONITOR_TARGETS": "x:1"}
    assert from_flags(Flags(), environment).web.listen == Address("0.0.0.0", 1)
    config = from_flags(Flags(targets=("y:1",), storage="/b", listen="127.0.0.1:2"), environment)
    assert (str(config.storage.path), str(config.web.listen)) == ("/b", "127.0.0.1:2")
    assert config.scrape_configs[0].static_configs[0].targets == ("y:1",)


def test_a_target_that_is_empty_is_not_given() -> None:
    """As of `--target "$UNSET"`."""
    with pytest.raises(DocumentError, match="nothing to watch"):
        from_flags(Flags(targets=("", " ")), {})
    assert from_flags(Flags(targets=("",)), {"VLLM_MONITOR_TARGETS": "x:1"}).scrape_configs


def test_a_prometheus_is_enough_and_then_no_target_is_needed() -> None:
    for flags, environment in (
        (Flags(prometheus="http://127.0.0.1:9090"), {}),
        (Flags(), {"VLLM_MONITOR_PROMETHEUS": "http://127.0.0.1:9090"}),
    ):
        config = from_flags(flags, environment)
        assert config.prometheus is not None
        assert (config.prometheus.url, config.scrape_configs) == ("http://127.0.0.1:9090", ())
        assert config.global_.evaluation_interval == 15 * SECOND


@pytest.mark.parametrize(
    ("flags", "environment"),
    [
        pytest.param(Flags(("x:1",), rule_settings=("alerts.VLLMTargetDown.for=2m", "job_regex=vllm")), {}, id="flags"),
        pytest.param(TARGET, {"VLLM_MONITOR_SET": "alerts.VLLMTargetDown.for=2m  job_regex=vllm\n"}, id="variable"),
    ],
)
def test_values_of_the_rules_need_no_file(flags: Flags, environment: dict[str, str]) -> None:
    config = from_flags(flags, environment)
    (down,) = [
        rule
        for group in rule_groups(config)
        for rule in group.rules
        if isinstance(rule, AlertingRule) and rule.name == "VLLMTargetDown"
    ]
    assert (down.for_, 'job=~"vllm"' in str(down.expr)) == (2 * MINUTE, True)


def test_a_value_that_is_none_is_named_with_its_setting() -> None:
    with pytest.raises(DocumentError, match=r"--set alerts\.VLLMTargetDwn\.for=2m: .*VLLMTargetDwn"):
        from_flags(TARGET, {"VLLM_MONITOR_SET": "alerts.VLLMTargetDwn.for=2m"})


def test_a_variable_that_is_empty_is_not_set() -> None:
    config = from_flags(TARGET, {"SLACK_BOT_TOKEN": "", "SLACK_CHANNEL": "", "VLLM_MONITOR_STORAGE": " "})
    assert [len(receiver.console_configs) for receiver in config.receivers] == [1]


@pytest.mark.parametrize(
    ("flags", "environment", "expected"),
    [
        pytest.param(
            Flags(),
            {},
            "--target: nothing to watch: give --target http://host:8000, or set VLLM_MONITOR_TARGETS",
            id="no-target",
        ),
        pytest.param(
            Flags(targets=("ftp://a:1",)),
            {},
            '--target: "ftp://a:1" begins with neither http:// nor https://',
            id="ftp",
        ),
        pytest.param(
            Flags(prometheus="http://me:hidden@x"),
            {},
            "--prometheus: url: a user name and password in a URL are not supported: use basic_auth",
            id="prometheus-password",
        ),
        pytest.param(
            Flags(prometheus="x:9090"),
            {},
            '--prometheus: "x:9090" is not a URL (write http://… or https://…)',
            id="prometheus-no-url",
        ),
        pytest.param(Flags(targets=("http://",)), {}, '--target: "" is not host:port', id="no-host"),
        pytest.param(
            Flags(), {"VLLM_MONITOR_TARGETS": "a:b"}, 'VLLM_MONITOR_TARGETS: "a:b" is not host:port', id="port"
        ),
        pytest.param(
            Flags(targets=("http://u:geheim@a:1",)),
            {},
            "--target: a user name and password in a URL are not supported: use basic_auth in a configuration file",
            id="password",
        ),
        pytest.param(
            Flags(targets=("a:1/m?x=y",)),
            {},
            '--target: "a:1/m?x=y" has a query: use params in a configuration file',
            id="query",
        ),
        pytest.param(
            TARGET,
            {"SLACK_BOT_TOKEN": "x"},
            "SLACK_BOT_TOKEN: a bot needs a channel: set --slack-channel or SLACK_CHANNEL",
            id="no-channel",
        ),
        pytest.param(
            Flags(targets=TARGET.targets, slack_channel="C1"),
            {},
            "--slack-channel: a channel needs SLACK_BOT_TOKEN, SLACK_BOT_TOKEN_FILE or SLACK_WEBHOOK_URL as well",
            id="only-a-channel",
        ),
        pytest.param(
            TARGET,
            {"SLACK_BOT_TOKEN": "x", "SLACK_CHANNEL": "C1", "SLACK_WEBHOOK_URL": "https://a/b"},
            "SLACK_WEBHOOK_URL: at most one of SLACK_BOT_TOKEN, SLACK_WEBHOOK_URL can be set",
            id="two-ways",
        ),
        pytest.param(
            TARGET, {"SLACK_WEBHOOK_URL": "geheim"}, "SLACK_WEBHOOK_URL: is not a URL (write https://…)", id="webhook"
        ),
        pytest.param(
            Flags(targets=TARGET.targets, listen="here"), {}, '--listen: "here" is not host:port', id="listen"
        ),
    ],
)
def test_a_mistake_names_the_flag_or_the_variable(flags: Flags, environment: dict[str, str], expected: str) -> None:
    assert mistakes(flags, environment) == [expected]


def test_all_mistakes_are_told_at_once() -> None:
    assert len(mistakes(Flags(listen="x", targets=("ftp://a", "b:c")), {"SLACK_CHANNEL": "x"})) == 4


def test_a_lease_and_what_alertmanagers_must_show(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("let-me-in\n")
    flags = Flags(("x:1",), ha_lease="20s")
    config = from_flags(flags, {"VLLM_MONITOR_HA_LEASE": "1h", "VLLM_MONITOR_WEBHOOK_TOKEN_FILE": str(token)})
    assert config.ha == HaConfig(lease=20_000)
    shown = config.alerting.webhook.shown
    assert shown is not None
    assert shown.header() == "Bearer let-me-in"


@pytest.mark.parametrize(
    ("environment", "what"),
    [
        ({"VLLM_MONITOR_HA_LEASE": "10ms"}, "VLLM_MONITOR_HA_LEASE: a lease must be 1s at least"),
        ({"VLLM_MONITOR_HA_LEASE": "soon"}, '"soon" is not a duration'),
        (
            {"VLLM_MONITOR_WEBHOOK_TOKEN": "a", "VLLM_MONITOR_WEBHOOK_TOKEN_FILE": "b"},
            "at most one of VLLM_MONITOR_WEBHOOK_TOKEN, VLLM_MONITOR_WEBHOOK_TOKEN_FILE can be set",
        ),
    ],
)
def test_a_lease_or_a_token_that_makes_no_sense_is_refused(environment: dict[str, str], what: str) -> None:
    with pytest.raises(DocumentError) as error:
        from_flags(Flags(("x:1",)), environment)
    assert what in str(error.value)
