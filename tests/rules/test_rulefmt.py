"""
Rule files: what is in them, what is refused, and that real promtool is of the same opinion.

tests/data/rulefmt: `*.good.yaml` are accepted by everybody, `*.newer.yaml` by Prometheus 3 and us, `*.bad.yaml` by
nobody, `*.strict.yaml` by promtool only. The comments at the top of the last two are our mistakes.
"""

import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from monitor.model.instant import DAY, HOUR, MINUTE, SECOND
from monitor.model.labels import Labels
from monitor.rules.rulefmt import parse_rules, read_rules
from monitor.rules.spec import AlertingRule, RecordingRule, RuleGroup
from monitor.yamldoc.mistake import DocumentError
from tests.engines import engine
from tests.rules.rulefmt_checks import check_expr, check_template

DATA = Path(__file__).parents[1] / "data" / "rulefmt"


def files(*kinds: str) -> list[Path]:
    return sorted(path for kind in kinds for path in DATA.glob(f"*.{kind}.yaml"))


def parse(data: bytes | str, name: str = "rules/kv.yaml") -> tuple[RuleGroup, ...]:
    return parse_rules(data, name, check_expr, check_template)


@pytest.mark.parametrize("path", files("bad", "strict"), ids=lambda path: path.stem)
def test_every_mistake_is_told_with_its_place(path: Path) -> None:
    told = re.match(rb"(?:# .*\n)*", path.read_bytes())
    assert told is not None
    expected = told[0].decode().replace("# ", f"{path.name}:").splitlines()
    with pytest.raises(DocumentError) as caught:
        parse(path.read_bytes(), path.name)
    assert [str(mistake) for mistake in caught.value.mistakes] == expected


@pytest.mark.parametrize("path", files("good", "newer"), ids=lambda path: path.stem)
def test_what_prometheus_3_accepts_is_accepted(path: Path) -> None:
    parse(path.read_bytes())


@pytest.mark.parametrize(("suite", "accepted"), [("", ("good", "strict")), ("newer", ("good", "newer", "strict"))])
def test_promtool_is_of_the_same_opinion(suite: str, accepted: tuple[str, ...]) -> None:
    every = files("good", "newer", "bad", "strict")
    command = [engine("promtool", suite), "check", "rules", "--lint=none", *map(str, every)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    verdicts = dict(re.findall(rb"Checking (.+)\n +(SUCCESS|FAILED)", done.stdout))
    assert len(verdicts) == len(every)
    told = {Path(name.decode()).name for name, verdict in verdicts.items() if verdict == b"SUCCESS"}
    assert told == {path.name for path in files(*accepted)}


def test_everything_a_file_can_say() -> None:
    data = (DATA / "everything.good.yaml").read_text()
    assert parse(data, "kv.yaml") == (
        RuleGroup(
            name="kv",
            file="kv.yaml",
            interval=15 * SECOND,
            query_offset=None,
            limit=10,
            rules=(
                RecordingRule("job:up:sum", "sum by (job) (up)", Labels.of(level="job"), line=6),
                AlertingRule(
                    "Full",
                    "max_over_time(up[5m])\n  > 0.95\n",
                    for_=DAY + 12 * HOUR,
                    keep_firing_for=5 * MINUTE,
                    labels=Labels.of(severity="critical"),
                    annotations=Labels.of(
                        summary="{{ $labels.instance }} is at {{ $value | humanizePercentage }}",
                    ),
                    line=9,
                ),
            ),
        ),
    )


def labels_of(rule_labels: str, group_labels: str = "{}") -> dict[str, str]:
    text = f"""
groups:
  - name: kv
    labels: {group_labels}
    rules:
      - alert: Full
        expr: up
        labels: {rule_labels}
"""
    return dict(parse(text)[0].rules[0].labels)


def test_the_labels_of_the_group_lie_under_those_of_the_rule() -> None:
    assert labels_of("{b: rule}", "{a: group, b: group}") == {"a": "group", "b": "rule"}


def test_an_empty_label_is_kept_because_it_removes_one() -> None:
    assert labels_of('{instance: "", team: ~}') == {"instance": "", "team": ""}


def test_an_interval_of_zero_is_the_default() -> None:
    assert parse("groups: [{name: kv, interval: 0s}]")[0].interval is None


def test_a_query_offset_of_zero_is_not_the_default() -> None:
    assert parse("groups: [{name: kv, query_offset: 0s}]")[0].query_offset == 0


def test_the_mistakes_of_all_files_are_told(tmp_path: Path) -> None:
    first, second, missing = tmp_path / "a.yaml", tmp_path / "b.yaml", tmp_path / "c.yaml"
    first.write_text("groups: 1\n")
    second.write_text("grups: []\n")
    with pytest.raises(DocumentError) as caught:
        read_rules([first, second, missing], check_expr, check_template)
    assert [str(mistake) for mistake in caught.value.mistakes] == [
        f"{first}:1:9: groups: must be a list",
        f'{second}:1:1: unknown field "grups" (did you mean "groups"?)',
        f"{missing}: cannot be read: No such file or directory",
    ]


keys = st.sampled_from(
    [
        "groups",
        "name",
        "rules",
        "alert",
        "record",
        "expr",
        "for",
        "labels",
        "annotations",
        "limit",
        "interval",
        "<<",
        "",
    ]
)
values = st.none() | st.booleans() | st.integers() | st.sampled_from(["up", ">>", "{{", "5m"]) | st.text(max_size=8)
trees = st.recursive(
    values, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5), max_leaves=25
)


@given(st.dictionaries(keys, trees).map(yaml.safe_dump) | trees.map(yaml.safe_dump) | st.binary(max_size=80))
def test_nothing_but_a_document_error_is_raised(data: str | bytes) -> None:
    with suppress(DocumentError):
        parse(data)
