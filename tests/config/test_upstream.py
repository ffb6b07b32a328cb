"""`mode: prometheus` in a configuration file: what it needs, what it means, and what is refused."""

from pathlib import Path

import pytest

from monitor.config.config import Config
from monitor.config.read import load
from monitor.model.instant import SECOND
from monitor.upstreaming import remote_options
from monitor.yamldoc.mistake import DocumentError


def loaded(folder: Path, text: str) -> Config:
    (folder / "monitor.yaml").write_text(text)
    return load(folder / "monitor.yaml")


def test_two_lines_are_enough(tmp_path: Path) -> None:
    config = loaded(tmp_path, "mode: prometheus\nprometheus: {url: 'http://127.0.0.1:9090/'}\n")
    assert config.prometheus is not None
    assert (config.warnings, config.scrape_configs) == ((), ())
    options = remote_options(config.prometheus)
    assert (options.name, options.timeout) == ("http://127.0.0.1:9090", 10 * SECOND)
    # A Prometheus is not asked as often as a page may be scraped.
    assert config.global_.evaluation_interval == 15 * SECOND


def test_what_a_server_is_shown_is_secret(tmp_path: Path) -> None:
    config = loaded(
        tmp_path,
        """\
mode: prometheus
global: {evaluation_interval: 30s, rule_query_offset: 1m}
prometheus:
  url: https://mimir/prometheus
  headers: {X-Scope-OrgID: hidden}
  params: {token: hidden}
  basic_auth: {username: me, password: hidden}
""",
    )
    assert config.prometheus is not None
    options = remote_options(config.prometheus)
    assert (options.headers, options.params) == ({"X-Scope-OrgID": "hidden"}, {"token": "hidden"})
    assert "hidden" not in repr(config) + repr(options)
    assert (config.global_.evaluation_interval, config.global_.rule_query_offset) == (30 * SECOND, 60 * SECOND)


def test_a_server_without_the_mode_is_a_warning(tmp_path: Path) -> None:
    config = loaded(tmp_path, "scrape_configs: []\nprometheus: {url: 'http://127.0.0.1:9090'}\n")
    assert config.prometheus is None
    assert any("has no effect without mode: prometheus" in str(told) for told in config.warnings)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("mode: prometheus", '"prometheus" must be set: mode: prometheus needs its url'),
        ("mode: thanos", '"thanos" is not one of embedded, prometheus'),
        ("mode: prometheus\nprometheus: {url: 'ftp://x'}", "prometheus: url: "),
        ("mode: prometheus\nprometheus: {url: 'http://me:hidden@x'}", "prometheus: url: a user name and password"),
        ("mode: prometheus\nprometheus: {url: 'http://x?a=b'}", "prometheus: url: write what stands behind the ?"),
        ("mode: prometheus\nprometheus: {url: 'http://x', max_concurrency: 0}", "must be between 1 and 100"),
        ("mode: prometheus\nprometheus: {url: 'http://x', headers: {authorization: a}}", "use authorization or basic"),
        ("mode: prometheus\nprometheus: {url: 'http://x', follow_redirects: true}", "no redirect is followed"),
        (
            "mode: prometheus\nprometheus: {url: 'http://x', basic_auth: {username: a}, authorization: {type: b}}",
            "at most one of basic_auth and authorization",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(DocumentError) as raised:
        loaded(tmp_path, text)
    assert error in str(raised.value)
    assert "hidden" not in str(raised.value)
