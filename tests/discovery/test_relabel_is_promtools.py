"""Relabelling against the real promtool: random rules over random labels, and the same targets."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from monitor.config.read import load
from monitor.discovery.populate import populate
from monitor.jobs import settings_of, static_groups
from monitor.model.labels import Labels
from tests.discovery import promtool

# Few names and values, so that rules meet what others have written.
NAMES = ("a", "b", "job", "__address__", "__meta_pod", "__param_x", "__tmp", "__scheme__", "ünï")
VALUES = ("", "x", "x1", "Straße-Σς", "a;b", "gpu-7.example:8000", "$1", "http", "line\nfeed")
REGEXES = (
    "(.*)",
    "",
    ".*",
    "x(.*)",
    "(?i)X(?P<rest>.?)",
    "([^;]*);(.*)",
    "__meta_(.+)",
    "a|b",
    "(ü|_)(.*)",
    "gpu-(\\d).*",
)
TEMPLATES = ("$1", "${1}y", "$rest", "$1y", "lit", "", "$2:$1", "$$", "${9}", "$0", "n_$1", "${01}", "$", "$(")
TARGETS = ("a", "b", "new", "n_$1", "${1}", "job", "__address__", "__param_x", "instance", "ünï", "$1")
# It cannot compare two targets that are both wrong.
UNABLE = "cannot handle unexported field"
INTERVALS = ("15s", "1m30s", "59s", "1m")

rule = st.one_of(
    st.fixed_dictionaries(
        {
            "action": st.just("replace"),
            "source_labels": st.lists(st.sampled_from(NAMES), max_size=3),
            "target_label": st.sampled_from(TARGETS),
        },
        optional={
            "separator": st.sampled_from((";", "", "-")),
            "regex": st.sampled_from(REGEXES),
            "replacement": st.sampled_from(TEMPLATES),
        },
    ),
    st.fixed_dictionaries(
        {
            "action": st.sampled_from(("drop", "keep")),
            "source_labels": st.lists(st.sampled_from(NAMES), max_size=2),
            "regex": st.sampled_from(("x.*", "(a;)?b", "gpu-8.*", "nothing", "(?s).*\n.*", ".*")),
        }
    ),
    st.fixed_dictionaries(
        {
            "action": st.sampled_from(("keepequal", "dropequal", "lowercase", "UPPERCASE")),
            "source_labels": st.lists(st.sampled_from(NAMES), max_size=2),
            "target_label": st.sampled_from(("a", "b", "new")),
        }
    ),
    st.fixed_dictionaries(
        {
            "action": st.just("hashmod"),
            "source_labels": st.lists(st.sampled_from(NAMES), max_size=2),
            "target_label": st.sampled_from(("a", "shard")),
            "modulus": st.integers(1, 2**64 - 1),
        }
    ),
    st.fixed_dictionaries(
        {
            "action": st.just("labelmap"),
            # Each to a name of its own: which of two wins is a matter of luck in Prometheus.
            "regex": st.sampled_from(("__meta_(.+)", "(a|b)", "()", "(ü.*)")),
            "replacement": st.sampled_from(("$1", "m_$1", "${1}_x")),
        }
    ),
    st.fixed_dictionaries(
        {"action": st.sampled_from(("labeldrop",)), "regex": st.sampled_from(("a|b", "__tmp|ü.*", "__meta_.*"))}
    ),
    st.fixed_dictionaries({"action": st.just("labelkeep"), "regex": st.sampled_from(("__.*|a", "job|__.*|ü.*"))}),
    st.fixed_dictionaries(
        {
            "source_labels": st.just(["a"]),
            "regex": st.just("x.*"),
            "target_label": st.sampled_from(("__scrape_interval__", "__scrape_timeout__", "__metrics_path__")),
            "replacement": st.sampled_from(INTERVALS),
        }
    ),
)
group = st.fixed_dictionaries(
    {
        "targets": st.lists(
            st.sampled_from(("gpu-7:8000", "10.0.0.1:1", "[::1]:8000", "host")), min_size=1, max_size=2, unique=True
        ),
        "labels": st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES), max_size=6),
    }
)


# Each example starts a promtool: one that fails is told as it is, not made smaller.
@settings(max_examples=6, deadline=None, phases=[Phase.generate])
@given(st.lists(rule, max_size=8), st.lists(group, min_size=10, max_size=25))
def test_targets_are_relabelled_as_promtool_does(rules: list[Any], groups: list[Any]) -> None:
    job = {
        "job_name": "j",
        "params": {"x": ["p", "q"]},
        "static_configs": groups,
        "relabel_configs": rules,
    }
    with TemporaryDirectory() as folder:
        file = Path(folder) / "prometheus.yml"
        file.write_text(
            yaml.safe_dump(
                {"global": {"scrape_interval": "1m", "scrape_timeout": "10s"}, "scrape_configs": [job]},
                allow_unicode=True,
            )
        )
        found = ours(file)
        assert found == promtools(file, found)


def ours(file: Path) -> list[str]:
    (job,) = load(file).scrape_configs
    found = populate(static_groups(job), settings_of(job))
    return sorted({shown(one.discovered_labels, one.labels, is_wrong=bool(one.error)) for one in found})


def promtools(file: Path, expected: list[str]) -> list[str]:
    def targets(found: promtool.Found) -> list[str]:
        return sorted(
            {
                shown(Labels.of(one["discoveredLabels"]), Labels.of(one["labels"]), is_wrong="error" in one)
                for one in found
            }
        )

    told: list[str] = []

    def cannot(stderr: str) -> bool:
        told.append(stderr)
        return UNABLE in stderr

    found = promtool.found(file, "j", lambda found: targets(found) == expected, gives_up=cannot)
    assume(UNABLE not in told[-1])
    return targets(found)


def shown(discovered: Labels, labels: Labels, *, is_wrong: bool) -> str:
    return f"{discovered} -> {'wrong' if is_wrong else labels}"
