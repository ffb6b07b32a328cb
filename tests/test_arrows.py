"""The folder list is the data path: an early part knows nothing of a later one."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "monitor"
GROUND = {"model", "clock", "yamldoc"}
EARLY = GROUND | {"storage", "discovery", "template"}
MIDDLE = EARLY | {"scrape", "probe", "promql"}
MAY_IMPORT: dict[str, set[str]] = {
    "__init__": set(),
    "model": set(),
    "yamldoc": {"model"},
    "clock": {"model"},
    "shipped": set(),
    "rulebook": GROUND | {"shipped", "rules", "vllm"},
    "capacity": set(),
    # Is handed what answers its questions.
    "report": {"model", "charts"},
    "simulator": {"model"},
    "vllm": {"model"},
    "storage": GROUND,
    "discovery": GROUND,
    "pool": MIDDLE | {"probing"},
    "discoveries": MIDDLE | {"config", "jobs", "clusters"},
    "clusters": MIDDLE | {"config", "jobs"},
    "template": GROUND,
    "scrape": EARLY,
    # A probe goes the way of a scrape: the same deadlines, certificates and keys.
    "probe": EARLY | {"scrape", "vllm"},
    "promql": EARLY,
    # Answers expressions as the engine does, by way of the same guarded requests as a scrape.
    "remote": MIDDLE,
    "upstream": MIDDLE | {"vllm", "rules", "dispatch", "notify", "remote", "upstreammetrics", "ownseries", "workers"},
    "upstreammetrics": set(),
    # Stricter than the order of the parts: rules are handed a query and an appender.
    "rules": GROUND | {"template"},
    "sight": {"model", "promql", "rules", "vllm"},
    "dispatch": GROUND,
    "notify": GROUND | {"dispatch"},
    "config": MIDDLE | {"rules", "dispatch", "notify", "shipped", "rulebook"},
    "metrics": {"upstreammetrics"},
    "logs": set(),
    "workers": set(),
    "web": MIDDLE | {"rules", "sight", "dispatch", "notify", "capacity"},
    "jobs": {"model", "discovery", "scrape", "probe", "config"},
    "probing": MIDDLE,
    "facts": MIDDLE | {"notify", "capacity"},
    "changes": MIDDLE | {"notify"},
    "starts": MIDDLE | {"notify", "capacity"},
    "charts": MIDDLE,
    "graphs": MIDDLE | {"dispatch", "notify", "charts"},
    "bulletins": {"model", "config", "notify", "report"},
    "reportjob": {"model", "config", "dispatch", "notify", "report", "bulletins", "workers"},
    "receivers": {"config", "dispatch", "notify", "charts"},
    "expressions": {"model", "promql", "template", "rules"},
    "embedded": MIDDLE | {"rules"},
    "longterm": MIDDLE,
    "codec": GROUND | {"rules", "dispatch", "notify"},
    "journal": MIDDLE | {"rules", "dispatch", "notify", "codec"},
    "postoffice": GROUND | {"notify", "journal"},
    "state": MIDDLE | {"rules", "dispatch", "notify", "journal", "metrics", "pipeline"},
    "remotewrite": GROUND | {"storage", "dispatch"},
    "remotemetrics": {"model"},
    "remotewriting": GROUND | {"storage", "dispatch", "notify", "config", "remotewrite", "remotemetrics"},
    "entrance": {"config", "dispatch", "notify", "web"},
    "ownseries": {"model", "probe", "embedded"},
    "upstreaming": MIDDLE | {"config", "expressions", "jobs", "metrics", "ownnames", "remote", "rules", "upstream"},
    "ownnames": {"forwardmetrics", "metrics", "upstreammetrics", "remotemetrics", "buttonmetrics", "probe", "sight"},
    "watching": MIDDLE | {"rules", "sight"},
    "pipeline": MIDDLE | {"rules", "dispatch", "notify", "metrics", "watching", "starts", "pool"},
    "dispatching": MIDDLE | {"config", "dispatch"},
    "reporting": MIDDLE | {"rules", "dispatch", "notify", "metrics", "pipeline"},
    "replay": MIDDLE | {"pipeline"},
    "backtest": MIDDLE
    | {"remote", "rules", "dispatch", "notify", "expressions", "metrics", "pipeline", "pool", "replay"},
    "schedule": GROUND,
    "arrival": GROUND,
    "clockwatch": GROUND,
    "buttonmetrics": set(),
    "role": {"storage"},
    "forwardmetrics": set(),
    "alertmanagers": EARLY | {"config", "discoveries"},
    "forwarding": GROUND | {"config", "dispatch", "notify", "forwardmetrics", "alertmanagers"},
    "liaison": GROUND | {"config", "dispatch", "notify", "inbox", "workers"},
    "inbox": GROUND | {"config", "dispatch", "notify"},
    "interaction": GROUND | {"config", "dispatch", "notify", "journal", "buttonmetrics"},
    "supervisor": GROUND,
    "stalled": {"model", "dispatch", "notify", "ownseries"},
    "beating": MIDDLE | {"config", "dispatch", "notify", "pipeline", "workers", "stalled"},
    "timetable": MIDDLE | {"pipeline", "schedule", "arrival", "workers"},
}
TOP = ("build", "running", "httpside", "app", "duty", "commands", "cli")


def sources() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def parts_imported(path: Path) -> set[str]:
    names = [name.split(".") for name in imports(path)]
    return {name[1] for name in names if name[0] == "monitor" and len(name) > 1} - {"__version__"}


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_arrows_point_one_way(path: Path) -> None:
    part = part_of(path)
    # A `__main__` puts its part together with the clock, as the top does with all of them.
    if part in TOP or path.name == "__main__.py":
        return
    assert parts_imported(path) <= MAY_IMPORT[part] | {part}


def test_only_the_clock_reads_the_time() -> None:
    readers = {
        "time",
        "time_ns",
        "monotonic",
        "monotonic_ns",
        "perf_counter",
        "perf_counter_ns",
        "now",
        "utcnow",
        "today",
    }
    modules = {"time", "datetime", "date"}
    guilty = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources()
        if path.name != "clock.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in readers
        if isinstance(node.value, ast.Name) and node.value.id in modules
    ]
    assert guilty == []


def test_only_the_schedule_knows_apscheduler() -> None:
    users = {part_of(path) for path in sources() if any(name.startswith("apscheduler") for name in imports(path))}
    assert users == {"schedule"}


def test_only_the_child_that_draws_loads_matplotlib() -> None:
    users = [path for path in sources() if any(name.startswith(("matplotlib", "numpy")) for name in imports(path))]
    assert users == [ROOT / "charts" / "drawing.py"]
    loaders = [path for path in sources() if any(name.startswith("monitor.charts.drawing") for name in imports(path))]
    assert loaders == [ROOT / "charts" / "__main__.py"]


def test_no_file_is_longer_than_400_lines() -> None:
    long = [str(path.relative_to(ROOT)) for path in sources() if len(path.read_text().splitlines()) > 400]
    assert long == []
