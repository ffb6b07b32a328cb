"""What of deploy/ follows from rules and dashboards is current, or named; and image and source have one name."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

from deploy import build
from deploy.publish import published, rename
from monitor.rulebook.operator import prometheus_rules
from tests.deploy.objects import read
from tests.deploy.operator import operator_says
from tests.deploy.tools import DEPLOY, ROOT


def said_of(root: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "deploy.build", *options]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def test_every_file_is_what_the_generator_writes() -> None:
    done = said_of(ROOT, "--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), "run `make generated`"
    assert all(path.exists() for path, _ in build.links())


def test_what_is_not_current_is_named(tmp_path: Path) -> None:
    shutil.copytree(DEPLOY, tmp_path / "deploy", symlinks=True)
    for name in ("rules", "dashboards"):
        (tmp_path / name).mkdir()
        for path in (*(ROOT / name).glob("*.yaml"), *(ROOT / name).glob("*.json")):
            shutil.copy(path, tmp_path / name)
    assert said_of(tmp_path).returncode == 0
    (tmp_path / "deploy/helm/vllm-monitor/values.yaml").write_text("# -- Other values.\nnew: 1\n")
    (tmp_path / "deploy/helm/vllm-monitor/files/prometheusrules.yaml").unlink()
    with (tmp_path / "rules" / "inhibition.yaml").open("a") as file:
        file.write("  - {source_matchers: [a=b], target_matchers: [a=c], equal: [d]}\n")
    done = said_of(tmp_path, "--check")
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
    names = published(ROOT)
    assert images <= {names["image"]}
    assert sources <= {names["source"]}
    assert any(names["image"] in text for text in texts)


def test_both_names_are_changed_everywhere_at_once(tmp_path: Path) -> None:
    old = published(ROOT)
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "published.yaml").write_text((DEPLOY / "published.yaml").read_text())
    (tmp_path / "page.md").write_text(f"[source]({old['source']}/blob/main/x) {old['image']}:1\n")
    (tmp_path / "picture.png").write_bytes(b"\xff\x00")
    (tmp_path / "unknown.md").write_text(old["image"])
    for command in (["init", "--quiet"], ["add", "deploy", "page.md", "picture.png"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    new = {"source": "https://git.internal/llm/monitor", "image": "registry.internal/monitor"}
    assert sorted(path.name for path in rename(tmp_path, new)) == ["page.md", "published.yaml"]
    assert published(tmp_path) == new
    assert (tmp_path / "page.md").read_text() == f"[source]({new['source']}/blob/main/x) {new['image']}:1\n"
    # What git does not know is not ours to change.
    assert (tmp_path / "unknown.md").read_text() == old["image"]
