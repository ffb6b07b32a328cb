"""The real promtool, asking us and a Prometheus with the same samples."""

import subprocess
from collections.abc import Iterator

import pytest

from monitor.storage.window import Window
from tests.differential.remote_write import push
from tests.differential.server import prometheus
from tests.engines import engine
from tests.web.samples import fill, series
from tests.web.serving import serve

AT = "--time=2023-11-14T22:18:20Z"
STEPS = ("--start=2023-11-14T22:18:20Z", "--end=2023-11-14T22:23:20Z", "--step=1m")
EVER = ("--start=2023-11-14T00:00:00Z", "--end=2023-11-15T00:00:00Z")
SERVER = "SERVER"
COMMANDS = (
    ("instant", AT, SERVER, "up"),
    ("instant", AT, SERVER, "vector(1) / 3"),
    ("instant", AT, SERVER, 'rate(requests_total{instance="i1"}[5m])'),
    ("instant", AT, SERVER, "up{"),
    ("instant", AT, SERVER, "up * on (job) up * 1"),
    ("range", *STEPS, SERVER, "sum by (job) (rate(requests_total[2m]))"),
    ("range", *STEPS, SERVER, "time()"),
    ("range", *STEPS, SERVER, "up[5m]"),
    ("series", "--match=up", "--match={job='other'}", *EVER, SERVER),
    ("series", "--match=up", "--start=1800000000", "--end=1800000001", SERVER),
    ("labels", *EVER, SERVER, "instance"),
    ("labels", *EVER, SERVER, "__name__"),
    ("labels", "--match=up", *EVER, SERVER, "job"),
)
# The words of these errors are those of another parser, or name the series in another order.
OTHER_WORDS = {"up{", "up * on (job) up * 1"}


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    window = Window()
    fill(window, series())
    folder = tmp_path_factory.mktemp("prometheus")
    with prometheus(engine("prometheus", "newer"), folder) as theirs, serve(window) as ours:
        push(theirs.url, series())
        yield ours.url, theirs.url


@pytest.mark.parametrize("suite", ["newer", ""], ids=["promtool-3", "promtool-2"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_promtool_prints_the_same_of_both(command: tuple[str, ...], suite: str, urls: tuple[str, str]) -> None:
    promtool = engine("promtool", suite)
    mine, other = (run(promtool, [url if part == SERVER else part for part in command]) for url in urls)
    assert mine.returncode == other.returncode
    assert sorted(mine.stdout.splitlines()) == sorted(other.stdout.splitlines())
    if command[-1] in OTHER_WORDS:
        assert (mine.stderr[:40], bool(mine.stderr)) == (other.stderr[:40], True)
    else:
        assert mine.stderr == other.stderr


def run(promtool: str, arguments: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([promtool, "query", *arguments], capture_output=True, text=True, timeout=120, check=False)
