"""Files of targets, which somebody writes while they are read."""

import json
import os
from pathlib import Path

import pytest
import yaml

from monitor.config.read import load
from monitor.discoveries import discovery_of
from monitor.discovery.errors import DiscoveryError, Reason
from monitor.discovery.file import FileDiscovery
from monitor.discovery.groups import ADDRESS
from monitor.discovery.populate import populate
from monitor.jobs import settings_of
from monitor.model.instant import MINUTE
from monitor.model.labels import Labels
from tests.discovery import promtool

GOOD = '[{"targets": ["a:1"], "labels": {"pool": "x"}}]'


def looking(folder: Path, *names: str, refresh_interval: int = MINUTE) -> FileDiscovery:
    return FileDiscovery([str(folder / name) for name in names], refresh_interval)


def seen(discovery: FileDiscovery) -> tuple[list[str], list[str]]:
    """Return the addresses, and what is wrong."""
    found, _ = discovery.look()
    addresses = [one.value(ADDRESS) for group in found.groups for one in group.targets]
    return addresses, [str(error) for error in found.errors]


def test_a_file_that_changes_is_read_and_one_that_goes_takes_its_targets_along(tmp_path: Path) -> None:
    discovery = looking(tmp_path, "*.json", "one.yml")
    assert seen(discovery) == ([], [])
    (tmp_path / "b.json").write_text(GOOD.replace("a:1", "b:1"))
    (tmp_path / "a.json").write_text(GOOD)
    (tmp_path / "one.yml").write_text("- targets: [c:1]\n")
    (tmp_path / "two.yml").write_text("- targets: [d:1]\n")
    assert seen(discovery) == (["a:1", "b:1", "c:1"], [])
    (tmp_path / "a.json").write_text(GOOD.replace("a:1", "a:12"))
    (tmp_path / "b.json").unlink()
    assert seen(discovery) == (["a:12", "c:1"], [])


def test_a_file_that_is_put_in_the_place_of_another_one_is_seen(tmp_path: Path) -> None:
    """As Kubernetes does it with a ConfigMap: the name is a link, and what it leads to is another folder."""
    for name in ("..1", "..2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.json").write_text(GOOD.replace("a:1", f"{name}:1"))
        os.utime(tmp_path / name / "t.json", ns=(1, 1))
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "t.json").symlink_to("..data/t.json")
    discovery = looking(tmp_path, "t.json")
    assert seen(discovery) == (["..1:1"], [])
    (tmp_path / "new").symlink_to("..2")
    (tmp_path / "new").replace(tmp_path / "..data")
    assert seen(discovery) == (["..2:1"], [])


def test_what_looks_the_same_is_the_very_same_until_the_refresh_interval_is_over(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(GOOD)
    discovery = looking(tmp_path, "t.json", refresh_interval=2000)
    first, _ = discovery.look()
    before = file.stat()
    # As a disk whose times are coarse: nothing tells that it is another one.
    file.write_text(GOOD.replace("a:1", "b:1"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    second, _ = discovery.look()
    assert second.groups[0] is first.groups[0]
    assert seen(discovery) == (["b:1"], [])


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("t.json", '[{"targets": ["a:1"]}', "1:22: is not valid JSON: expecting ',' delimiter"),
        ("t.json", "[" * 100_000, "1:1: is nested too deep"),
        ("t.json", '{"targets": []}', "1:1: must be a list of target groups"),
        ("t.json", '[{"targets": "a:1"}]', "1:14: target group 1: targets: must be a list"),
        ("t.json", '[{"targets": []},\n {"labels": {"a": []}}]', "2:19: target group 2: labels.a: must be a text"),
        (
            "t.yml",
            "- targets: [a:1]\n  lables: {}\n",
            'target group 1: unknown field "lables" (did you mean "labels"?)',
        ),
        ("t.yml", "- targets: [a:1\n", "is not valid YAML"),
        ("t.yml", "- targets: [a:1]\n  targets: [b:1]\n", 'the key "targets" is given twice (first on line 1)'),
        ("t.yml", "- \n- targets: [a:1, {}]\n", "2:18: target group 2: targets: must be a text"),
    ],
)
def test_a_broken_file_keeps_its_last_good_targets_and_tells_the_place(
    tmp_path: Path, name: str, text: str, told: str
) -> None:
    discovery = looking(tmp_path, name, "other.json")
    (tmp_path / name).write_text(GOOD)
    seen(discovery)
    (tmp_path / name).write_text(text)
    (tmp_path / "other.json").write_text(GOOD.replace("a:1", "new:1"))
    addresses, errors = seen(discovery)
    assert addresses == ["a:1", "new:1"]
    assert len(errors) == 1
    assert errors[0].startswith(f"{tmp_path / name}:")
    assert told in errors[0]
    assert seen(discovery) == (addresses, errors)
    (tmp_path / name).write_text(GOOD.replace("a:1", "good:1"))
    assert seen(discovery) == (["good:1", "new:1"], [])


def test_a_file_that_cannot_be_read_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "t.json").mkdir()
    assert seen(looking(tmp_path, "t.json")) == ([], [f"{tmp_path / 't.json'}: is not a file"])


def test_a_file_that_has_been_emptied_is_believed_when_it_still_is_at_the_refresh(tmp_path: Path) -> None:
    """`generate > targets.yml`: the shell empties the file before anybody writes to it."""
    file = tmp_path / "t.yml"
    file.write_text("- targets: [a:1]\n")
    discovery = looking(tmp_path, "t.yml", refresh_interval=3000)
    assert seen(discovery) == (["a:1"], [])
    file.write_text("")
    assert seen(discovery) == (["a:1"], [])
    file.write_text("- targets: [b:1]\n")
    assert seen(discovery) == (["b:1"], [])
    file.write_text("")
    assert [seen(discovery)[0] for _ in range(3)] == [[], [], []]
    file.write_text("- targets: [c:1]\n")
    assert seen(discovery) == (["c:1"], [])


@pytest.mark.parametrize(("leads_to", "told"), [("nowhere.json", "No such file"), ("t.json", "symbolic links")])
def test_a_link_that_leads_nowhere_keeps_the_targets_and_is_told_of(tmp_path: Path, leads_to: str, told: str) -> None:
    """As when a share is not mounted any more."""
    file = tmp_path / "t.json"
    file.write_text(GOOD)
    discovery = looking(tmp_path, "*.json")
    seen(discovery)
    file.unlink()
    file.symlink_to(leads_to)
    addresses, errors = seen(discovery)
    assert addresses == ["a:1"]
    assert [told in error for error in errors] == [True]
    file.unlink()
    assert seen(discovery) == ([], [])


def test_a_folder_that_cannot_be_looked_into_keeps_its_targets_and_is_told_of(tmp_path: Path) -> None:
    folder = tmp_path / "targets"
    folder.mkdir()
    (folder / "t.json").write_text(GOOD)
    patterned, named = looking(folder, "*.json"), looking(folder, "t.json")
    assert seen(patterned) == seen(named) == (["a:1"], [])
    folder.rename(tmp_path / "away")
    folder.symlink_to("targets")
    with pytest.raises(DiscoveryError, match="/targets: Too many levels of symbolic links") as told:
        seen(patterned)
    assert told.value.reason is Reason.FILE
    addresses, errors = seen(named)
    assert addresses == ["a:1"]
    assert ["symbolic links" in error for error in errors] == [True]
    folder.unlink()
    assert seen(patterned) == seen(named) == ([], [])


def test_a_folder_whose_name_is_too_long_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(DiscoveryError, match=r"/a+: File name too long"):
        seen(looking(tmp_path / ("a" * 300), "*.json"))


def test_json_may_say_what_yaml_cannot(tmp_path: Path) -> None:
    labels = {"emoji": "\U0001f600", "slash": "\\ud83d", "tab": "a\tb"}
    (tmp_path / "t.json").write_text(json.dumps([{"targets": ["a:1"], "labels": labels}], indent="\t"))
    found, _ = looking(tmp_path, "t.json").look()
    assert found.groups[0].labels == Labels.of(labels, __meta_filepath=str(tmp_path / "t.json"))


def test_the_targets_are_those_that_promtool_finds(tmp_path: Path) -> None:
    (tmp_path / "targets").mkdir()
    (tmp_path / "targets" / "a.json").write_text(GOOD)
    (tmp_path / "targets" / "b.yml").write_text(
        "- targets: ['b:1', '[::1]:2']\n- {targets: [c], labels: {job: other}}\n"
    )
    job = {"job_name": "j", "file_sd_configs": [{"files": ["targets/*.json", "targets/b.yml", "gone-*.yaml"]}]}
    job |= {"relabel_configs": [{"source_labels": ["__meta_filepath"], "target_label": "file"}]}
    file = tmp_path / "prometheus.yml"
    times = {"scrape_interval": "1m", "scrape_timeout": "10s"}
    file.write_text(yaml.safe_dump({"global": times, "scrape_configs": [job]}))
    (read,) = load(file).scrape_configs
    found, _ = discovery_of(read.file_sd_configs[0]).look()
    ours = sorted((one.discovered_labels, one.labels) for one in populate(found.groups, settings_of(read)))

    def labels(theirs: promtool.Found) -> list[tuple[Labels, Labels]]:
        return sorted((Labels.of(one["discoveredLabels"]), Labels.of(one["labels"])) for one in theirs)

    assert len(ours) == 4
    assert ours == labels(promtool.found(file, "j", lambda theirs: labels(theirs) == ours))
