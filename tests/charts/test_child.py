"""Pictures by a real child process, and children that go wrong."""

import os
import struct
import subprocess
import sys
import threading
from dataclasses import replace
from math import nan

import pytest

from monitor.charts.chart import MOST_BYTES, Chart, Line, decoded, encoded
from monitor.charts.child import LARGEST, UNHURRIED, ChartError, Child, Why
from monitor.clock import monotonic_seconds
from monitor.model.instant import SECOND
from tests.charts.samples import chart
from tests.waiting import until

HOSTILE = (
    "$\\frac{1}{0}$ costs $5",
    "_hidden",
    "unbalanced $ { \\",
    "<!channel> & 'q' \"d\"",
    "x" * 120,
)


def size(png: bytes) -> tuple[int, int]:
    """Return width and height in pixels."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def unhurried() -> Child:
    """Return what draws, however long a busy machine takes to load matplotlib."""
    return Child(timeout=UNHURRIED)


def python(code: str, timeout: float = 120.0) -> Child:
    """Return a child that runs `code` in the place of the drawing."""
    return Child((sys.executable, "-I", "-c", code), round(timeout * SECOND))


def test_a_child_draws_a_picture_as_wide_as_a_phone_needs() -> None:
    png = unhurried().draw(chart())
    assert size(png) == (960, 540)
    assert 10_000 < len(png) < 200_000


def test_no_text_breaks_the_picture_and_none_is_a_formula() -> None:
    child = unhurried()
    assert size(child.draw(chart(HOSTILE[0], *HOSTILE))) == (960, 540)
    # As a formula, both would be the same picture of a superscript.
    assert child.draw(chart("$a^2$")) != child.draw(chart("$a^{2}$"))


@pytest.mark.parametrize(("values", "threshold"), [((None,), 0.0), ((1e300,), -1e300)])
def test_a_single_point_or_none_is_a_picture_too(values: tuple[float | None, ...], threshold: float) -> None:
    one = replace(chart(), lines=(Line("a", chart().lines[0].times[:1], values),), threshold=threshold)
    assert size(unhurried().draw(one)) == (960, 540)


def test_a_child_that_hangs_is_ended_in_time() -> None:
    began = monotonic_seconds()
    with pytest.raises(ChartError) as raised:
        python("import time; time.sleep(60)", 0.3).draw(chart())
    assert raised.value.why is Why.TIMEOUT
    assert monotonic_seconds() - began < 30


def test_a_child_that_closes_its_output_and_hangs_is_ended_in_time() -> None:
    with pytest.raises(ChartError) as raised:
        python("import os, time; os.close(1); time.sleep(60)", 0.5).draw(chart())
    assert raised.value.why is Why.TIMEOUT


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import os; os._exit(3)", Why.FAILED),
        ("import os; os.kill(os.getpid(), 9)", Why.FAILED),
        ("print('no picture')", Why.FAILED),
        (f"import sys; sys.stdout.write('x' * {3 * LARGEST})", Why.TOO_LARGE),
    ],
)
def test_a_child_that_dies_or_talks_nonsense_is_an_error(code: str, why: Why) -> None:
    with pytest.raises(ChartError) as raised:
        python(code).draw(chart())
    assert raised.value.why is why


def test_a_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ChartError, match="No such file"):
        Child(("/nowhere/python",)).draw(chart())


def test_the_child_gets_no_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-secret")
    # It dies when it finds one.
    code = "import os, sys; sys.stdout.buffer.write(b'\\x89PNG\\r\\n\\x1a\\n'); sys.exit('xoxb' in str(os.environ))"
    assert python(code).draw(chart()).startswith(b"\x89PNG")


def test_stopping_ends_the_child_and_starts_none_any_more() -> None:
    child = python("import time; time.sleep(200)", 100)
    failed: list[ChartError] = []

    def draw() -> None:
        try:
            child.draw(chart())
        except ChartError as err:
            failed.append(err)

    thread = threading.Thread(target=draw)
    thread.start()
    until(lambda: child._process, within=5)
    child.stop()
    thread.join(60)
    assert [error.why for error in failed] == [Why.FAILED]
    with pytest.raises(ChartError, match="the daemon ends"):
        child.draw(chart())


def test_what_is_too_large_is_not_handed_over() -> None:
    huge = chart("t" * MOST_BYTES)
    with pytest.raises(ChartError) as raised:
        Child().draw(huge)
    assert raised.value.why is Why.TOO_LARGE


def test_a_chart_is_the_same_at_the_other_end() -> None:
    assert decoded(encoded(chart())) == chart()


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b'{"title": "t", "lines": [], "threshold": 1, "start": 0, "end": 1}', b"x" * (MOST_BYTES + 1)],
)
def test_what_is_no_chart_is_refused_before_matplotlib_is_loaded(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"chart|Expecting"):
        decoded(body)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "monitor.charts"], input=body, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"matplotlib" not in done.stderr


@pytest.mark.parametrize("broken", [replace(chart(), threshold=nan), replace(chart(), lines=chart().lines * 6)])
def test_what_cannot_be_drawn_is_refused(broken: Chart) -> None:
    with pytest.raises(ValueError, match=r"chart|JSON"):
        decoded(encoded(broken))


def test_drawing_loads_nothing_into_this_process() -> None:
    code = "import sys; from monitor.charts.child import UNHURRIED, Child; from tests.charts.samples import chart; "
    code += (
        "Child(timeout=UNHURRIED).draw(chart()); sys.exit(any(name in sys.modules for name in ('matplotlib', 'numpy')))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": "."}, check=False).returncode == 0
    )
