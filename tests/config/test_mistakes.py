"""A file in which nearly everything is wrong, and what is told of it; and what is wrong with a file as such."""

import os
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from monitor.config.general import GlobalConfig, StorageConfig, WebConfig
from monitor.config.read import check, load
from monitor.config.receiving import ReceiverConfig, SlackConfig
from monitor.config.routing import RouteSection
from monitor.config.scraping import ScrapeConfig, StaticConfig
from monitor.yamldoc.mistake import DocumentError
from tests.rules.rulefmt_checks import check_expr, check_template

DATA = Path(__file__).parents[1] / "data" / "config"
WRONG = DATA / "everything-wrong.yaml"
GOLDEN = DATA / "everything-wrong.txt"


def mistakes(path: Path) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        load(path)
    return [str(mistake) for mistake in caught.value.mistakes]


def test_every_mistake_is_told_at_once_and_with_its_place() -> None:
    told = "".join(f"{mistake}\n" for mistake in mistakes(WRONG)).replace(f"{DATA}/", "")
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(told)
    assert told == GOLDEN.read_text()


def test_no_message_holds_a_secret() -> None:
    assert "geheim" not in GOLDEN.read_text()
    assert "not-a-url" not in GOLDEN.read_text()


def written(folder: Path, text: str) -> Path:
    path = folder / "monitor.yaml"
    path.write_text(text)
    return path


JOB = "scrape_configs: [{job_name: vllm, static_configs: [{targets: ['a:1']}]}]\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("- a\n", "1:1: must be a table (key: value)", id="list"),
        pytest.param("global: [5s]\n", "1:9: global: must be a table (key: value)", id="section"),
        pytest.param(
            "alerting: {webhook: {http_config: {authorization: {credentials: geheim}}}}\n",
            "1:35: alerting: the credentials of http_config are for nobody: set alertmanager_url",
            id="credentials for nobody",
        ),
        pytest.param(
            "storage: {history: {retention: 0s}}\nremote_write: [{url: 'http://a/w'}]\n",
            "2:1: remote_write: has nothing to send: storage.history.retention is 0, and the history is its queue",
            id="remote-write-of-nothing",
        ),
        pytest.param(
            "remote_write: [{url: 'http://a/w'}, {url: 'http://a/w'}]\n",
            '1:37: remote write 2: is called "5a061a" as another one is: give it a name of its own',
            id="remote-write-twice",
        ),
        pytest.param(
            "global: {scrape_timeout: 10s}\n",
            "1:26: global: scrape_timeout: 10s is longer than the scrape_interval 5s",
            id="timeout",
        ),
        pytest.param(
            "scrape_configs:\n  - {job_name: a, scrape_timeout: 6s}\n",
            '2:35: scrape config "a": scrape_timeout: 6s is longer than the scrape_interval 5s',
            id="timeout-of-a-job",
        ),
        pytest.param(
            "storage: {history: {match: [up, 'rate(x[5m])']}}\n",
            '1:33: storage: history.match: "rate(x[5m])" is not a series selector (write a name, or matchers in '
            "braces)",
            id="kept-expression",
        ),
        pytest.param("scrape_configs: [~]\n", '1:18: scrape config 1: "job_name" must be set', id="empty-job"),
        pytest.param(
            "receivers: [{name: a}, {name: b}]\n",
            '1:1: "route" must be set: there is more than one receiver',
            id="no-route",
        ),
        pytest.param(
            "route: {group_by: []}\n",
            '1:8: route: "receiver" must be set: it is told what no other route takes',
            id="root",
        ),
        pytest.param(
            "route: {receiver: a}\n", '1:19: route: receiver "a" is not defined (known: none)', id="no-receivers"
        ),
        pytest.param("web: {listen: 'a:b'}\n", '1:15: web: listen: "a:b" is not host:port', id="listen"),
        pytest.param(
            "web: {allowed_hosts: ['http://a']}\n",
            '1:23: web: allowed_hosts: "http://a" is not the name of a host (without scheme and port, or "*")',
            id="allowed_hosts",
        ),
    ],
)
def test_one_mistake(text: str, expected: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    assert f"{path}:{expected}" in mistakes(path)


def test_a_file_that_cannot_be_read_is_a_mistake(tmp_path: Path) -> None:
    assert mistakes(tmp_path / "none.yaml") == [f"{tmp_path}/none.yaml: cannot be read: No such file or directory"]
    assert mistakes(tmp_path) == [f"{tmp_path}: is not a file"]
    assert mistakes(Path("a\0b")) == ["a\0b: cannot be read: embedded null byte"]


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert mistakes(tmp_path / "pipe") == [f"{tmp_path}/pipe: is not a file"]


def test_values_of_rules_are_checked_where_they_stand(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("alerts:\n  VLLMTargetDown: {for: soon}\n")
    path = written(tmp_path, JOB + "rule_values_file: values.yaml\n")
    assert [str(one) for one in check(path, check_expr, check_template)] == [
        f'{tmp_path}/values.yaml:2:25: alerts.VLLMTargetDown.for: "soon" is not a duration (write 30s, 5m, 1h30m)'
    ]
    path = written(tmp_path, JOB + "rule_files: []\nrule_values_file: value.yaml\n")
    assert [str(one).removeprefix(f"{path}:") for one in check(path, check_expr, check_template)] == [
        "3:1: rule_values_file: has no effect beside rule_files: build them with it",
        '3:19: rule_values_file: "value.yaml" does not exist',
    ]


def test_check_reads_the_rule_files_too_and_does_not_stop_at_the_first_file(tmp_path: Path) -> None:
    (tmp_path / "kv.rules.yaml").write_text("groups: [{name: kv, rules: [{alert: A, expr: up >> 1}]}]\n")
    path = written(tmp_path, JOB + "rule_files: [kv.rules.yaml, '*.other.yaml']\nfoo: 1\n")
    assert [str(mistake) for mistake in check(path, check_expr, check_template)] == [
        f'{tmp_path}/kv.rules.yaml:1:49: group "kv", rule 1, "A": expr: unexpected >>',
        f'{path}:2:29: warning: rule_files: "*.other.yaml" matches no file',
        f'{path}:3:1: unknown field "foo"',
    ]


def test_check_reads_the_shipped_rules_when_the_file_names_none(tmp_path: Path) -> None:
    shipped = tmp_path / "shipped.yaml"
    shipped.write_text("groups: 1\n")
    path = written(tmp_path, JOB)
    assert [str(mistake) for mistake in check(path, check_expr, check_template, [shipped])] == [
        f"{shipped}:1:9: groups: must be a list"
    ]


def test_check_tells_of_a_file_that_is_not_yaml(tmp_path: Path) -> None:
    path = written(tmp_path, "a: [\n")
    assert [mistake.path for mistake in check(path, check_expr, check_template)] == [str(path)]


SECTIONS = (
    GlobalConfig,
    ScrapeConfig,
    StaticConfig,
    RouteSection,
    ReceiverConfig,
    SlackConfig,
    StorageConfig,
    WebConfig,
)
TOP = ("global", "scrape_configs", "rule_files", "route", "receivers", "storage", "web", "slack", "<<")
keys = st.sampled_from(sorted({*TOP, *(key for section in SECTIONS for key in section.fields_by_key())}))
values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["a", "5s", "a=b", "a:1", "http://["])
    | st.text(max_size=9)
)
trees = st.recursive(
    values, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=6), max_leaves=30
)


@given(data=st.dictionaries(keys, trees).map(yaml.safe_dump).map(str.encode) | st.binary(max_size=60))
def test_nothing_but_a_document_error_is_raised(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(data)
    with suppress(DocumentError):
        load(path)
