"""What may stand in `…_sd_configs` and `relabel_configs`: what Prometheus takes, and nothing that it refuses."""

import subprocess
from pathlib import Path

import pytest

from monitor.config.read import check, load
from monitor.yamldoc.mistake import DocumentError
from tests.engines import engine

RULES = {
    "{action: replace}": "replace needs a target_label",
    "{action: hashmod, target_label: a}": "hashmod needs a modulus that is not 0",
    "{action: hashmod, modulus: 2}": "hashmod needs a target_label",
    "{action: lowercase, source_labels: [a]}": "lowercase needs a target_label",
    "{action: uppercase, target_label: a, replacement: b}": "uppercase takes no replacement",
    "{action: keepequal, source_labels: [a]}": "keepequal needs a target_label",
    "{action: dropequal, target_label: a, regex: b}": "dropequal takes nothing but source_labels and target_label",
    "{action: dropequal, target_label: a, separator: b}": "dropequal takes nothing but source_labels and target_label",
    "{action: labeldrop, regex: a, target_label: b}": "labeldrop takes nothing but regex",
    "{action: labelkeep, regex: a, source_labels: [b]}": "labelkeep takes nothing but regex",
    "{action: labelkeep, regex: a, replacement: b}": "labelkeep takes nothing but regex",
    "{action: labelmap, regex: a, replacement: ''}": "labelmap needs a replacement",
    "{action: mangle}": '"mangle" is not one of replace, keep, drop,',
    "{action: drop, regex: '('}": "bad regular expression",
    "{action: drop, regex: '(?<=a)b'}": "bad regular expression",
    "{action: drop, source_label: [a]}": 'unknown field "source_label" (did you mean "source_labels"?)',
    "{action: hashmod, modulus: -1, target_label: a}": "modulus: -1 is negative",
    "{action: hashmod, modulus: 99999999999999999999, target_label: a}": "is not a whole number",
    "{action: hashmod, modulus: 18446744073709551615, target_label: a}": "",
    "{action: drop, regex: a, source_labels: [a]}": "",
    "{action: DropEqual, source_labels: [a], target_label: b}": "",
    "{action: labelmap, regex: a(.*), replacement: b_$1}": "",
    "{target_label: 'n_${1}', source_labels: [a]}": "",
    "{target_label: a, replacement: ''}": "",
    "{target_label: ünï-code, replacement: ''}": "",
    "{action: labeldrop, regex: a}": "",
    "{regex: '', target_label: a}": "",
}
SECTIONS = {
    "file_sd_configs: [{files: []}]": "at least one file must be named",
    "file_sd_configs: [{files: [a.txt]}]": '"a.txt" is not a file of targets',
    "file_sd_configs: [{files: ['*/a.json']}]": '"*/a.json" is not a file of targets',
    "file_sd_configs: [{refresh_interval: 5m}]": '"files" must be set',
    "file_sd_configs: [{files: [a.json, 'b/*.YML']}]": "",
    "http_sd_configs: [{}]": '"url" must be set',
    "http_sd_configs: [{url: ftp://a}]": '"ftp://a" is not a URL',
    "http_sd_configs: [{url: 'http://a', basic_auth: {username: a}, authorization: {}}]": "at most one of",
    "http_sd_configs: [{url: 'http://u:p@a'}]": "a user name and password in a URL are not supported: use basic_auth",
    "http_sd_configs: [{url: 'http://a', refresh_interval: 30s}]": "",
    "dns_sd_configs: [{names: []}]": "at least one name must be given",
    "dns_sd_configs: [{names: [a], type: A}]": "a port is needed for all types but SRV",
    "dns_sd_configs: [{names: [a], type: TXT, port: 1}]": '"txt" is not one of srv, a, aaaa, mx, ns',
    "dns_sd_configs: [{names: [a], type: mx, port: 1}]": "",
    "kubernetes_sd_configs: [{}]": '"role" must be set',
    "kubernetes_sd_configs: [{role: pods}]": '"pods" is not one of pod, service, endpoints, endpointslice, node',
    "kubernetes_sd_configs: [{role: pod, selectors: [{role: service, label: a}]}]": "a selector may be for pod, node",
    "kubernetes_sd_configs: [{role: pod, selectors: [{role: pod}, {role: pod}]}]": "more than one selector",
    "kubernetes_sd_configs: [{role: pod, authorization: {credentials: a}}]": "api_server must be set",
    "kubernetes_sd_configs: [{role: endpoints, selectors: [{role: pod, field: 'a=b'}]}]": "",
    "kubernetes_sd_configs: [{role: node, api_server: 'https://a:6443'}]": "",
}


def told(folder: Path, part: str) -> str:
    path = folder / "prometheus.yml"
    path.write_text(f"scrape_configs:\n  - job_name: j\n    {part}\n")
    try:
        load(path)
    except DocumentError as err:
        return "\n".join(str(one) for one in err.mistakes if not one.warning)
    return ""


@pytest.mark.parametrize("part", SECTIONS)
def test_a_section_is_taken_or_told_of_with_its_place(tmp_path: Path, part: str) -> None:
    expected, found = SECTIONS[part], told(tmp_path, part)
    assert expected in found
    assert bool(found) is bool(expected)
    assert not found or f"{tmp_path}/prometheus.yml:3:" in found


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_taken_or_told_of_with_its_place(tmp_path: Path, rule: str) -> None:
    expected, found = RULES[rule], told(tmp_path, f"metric_relabel_configs: [{rule}]")
    assert expected in found
    assert bool(found) is bool(expected)
    assert not found or found.startswith(f"{tmp_path}/prometheus.yml:3:")
    assert not found or 'scrape config "j", metric relabel config 1' in found


def test_promtool_takes_the_same_rules(tmp_path: Path) -> None:
    """One file with all that are good, and one for each that is not."""
    good = [rule for rule, wrong in RULES.items() if not wrong]
    assert promtool(tmp_path, "good", good) == 0
    # It takes an empty replacement of a labelmap in some versions, which would make a label without a name.
    bad = [rule for rule, wrong in RULES.items() if wrong and "labelmap" not in rule]
    assert [rule for number, rule in enumerate(bad) if promtool(tmp_path, f"bad{number}", [rule]) == 0] == []


def promtool(folder: Path, name: str, rules: list[str]) -> int:
    path = folder / f"{name}.yml"
    path.write_text(
        "scrape_configs:\n  - job_name: j\n    relabel_configs:\n" + "".join(f"      - {rule}\n" for rule in rules)
    )
    command = [engine("promtool", "newer"), "check", "config", "--syntax-only", str(path)]
    return subprocess.run(command, capture_output=True, check=False).returncode


def test_a_folder_of_targets_that_cannot_be_looked_into_has_none(tmp_path: Path) -> None:
    config = tmp_path / "monitor.yaml"
    name = f"{'a' * 300}/*.json"
    config.write_text(f"scrape_configs:\n  - job_name: j\n    file_sd_configs: [{{files: ['{name}']}}]\n")
    told = [str(one) for one in check(config, lambda _: None, lambda _: None)]
    assert [one.partition("warning: ")[2] for one in told] == [f'files: "{name[:60]}…" matches no file']
    assert load(config).scrape_configs[0].discovers


def test_check_reads_the_files_of_targets_and_the_daemon_starts_without_them(tmp_path: Path) -> None:
    config = tmp_path / "monitor.yaml"
    names = "[good.json, 'wrong-*.yml', gone.json]"
    config.write_text(f"scrape_configs:\n  - job_name: j\n    file_sd_configs: [{{files: {names}}}]\n")
    (tmp_path / "good.json").write_text('[{"targets": ["a:1"]}]')
    (tmp_path / "wrong-1.yml").write_text("- targets: [a:1]\n- tragets: []\n")
    told = [str(one).removeprefix(f"{tmp_path}/") for one in check(config, lambda _: None, lambda _: None)]
    assert told == [
        'monitor.yaml:3:58: scrape config "j", file sd config 1: warning: files: "gone.json" matches no file',
        'wrong-1.yml:2:3: target group 2: unknown field "tragets" (did you mean "targets"?)',
    ]
    assert load(config).scrape_configs[0].discovers
