"""What of deploy/ follows from rules and dashboards is current, or named; and image and source have one name."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

from deploy import build
from monitor.rulebook.operator import prometheus_rules
from tests.deploy.objects import read
from tests.deploy.operator import operator_says
from tests.deploy.tools import DEPLOY, ROOT

# Where image and source are published is one setting: whoever publishes them elsewhere replaces these two.
IMAGE = "ghcr.io/vllm-monitor/vllm-monitor"
SOURCE = "https://github.com/vllm-monitor/vllm-monitor"


def said_of(root: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "deploy.build", "--check"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def test_every_file_is_what_the_generator_writes() -> None:
    done = said_of(ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), "run `make generated`"
    assert all(path.exists() for path, _ in build.links())


def test_what_is_not_current_is_named(tmp_path: Path) -> None:
    shutil.copytree(DEPLOY, tmp_path / "deploy", symlinks=True)
    for name in ("rules", "dashboards"):
        (tmp_path / name).mkdir()
        for path in (*(ROOT / name).glob("*.yaml"), *(ROOT / name).glob("*.json")):
            shutil.copy(path, tmp_path / name)
    (tmp_path / "deploy/helm/vllm-monitor/values.yaml").write_text("# -- Other values.\nnew: 1\n")
    (tmp_path / "deploy/helm/vllm-monitor/files/prometheusrules.yaml").unlink()
    with (tmp_path / "rules" / "inhibition.yaml").open("a") as file:
        file.write("  - {source_matchers: [a=b], target_matchers: [a=c], equal: [d]}\n")
    done = said_of(tmp_path)
    assert done.returncode == 1
    assert [Path(line).name for line in done.stdout.splitlines()] == [
        # As it is, and as Compose has it.
        "alertmanager.yml",
        "alertmanager.yml",
        "alertmanagerconfig.yaml",
        "README.md",
        "prometheusrules.yaml",
    ]


def test_rules_stand_in_their_objects_as_they_are() -> None:
    files: Mapping[str, str] = {path.name: path.read_text() for path in sorted((ROOT / "rules").glob("*.rules.yaml"))}
    objects = read(prometheus_rules(files))
    assert [one["spec"] for one in objects] == [yaml.safe_load(text) for text in files.values()]
    assert operator_says(objects) == []


def test_a_clusters_prometheus_is_told_which_targets_are_vllm() -> None:
    text = (build.OPERATOR / "prometheusrules.yaml").read_text()
    (down,) = [
        rule
        for one in read(text)
        for group in one["spec"]["groups"]
        for rule in group["rules"]
        if rule.get("alert") == "VLLMTargetDown"
    ]
    assert 'job=~"vllm"' in down["expr"]


def test_image_and_source_have_one_name_everywhere() -> None:
    texts = [
        path.read_text()
        for path in DEPLOY.rglob("*")
        if path.is_file() and path.suffix in {".yaml", ".yml", ".service", ".conf", "", ".md"}
    ]
    images = {found for text in texts for found in re.findall(r"ghcr\.io/[\w./-]+", text)}
    sources = {found for text in texts for found in re.findall(r"https://github\.com/[\w-]+/[\w-]+", text)}
    assert images == {IMAGE}
    assert sources == {SOURCE}
