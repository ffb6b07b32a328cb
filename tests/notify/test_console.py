"""What a person sees at the terminal."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from monitor.dispatch.notification import Notification, NotifyError
from monitor.model.alert import Alert
from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.notify.console import ConsoleNotifier
from monitor.notify.readings import Readings
from tests.notify.golden import assert_golden
from tests.notify.samples import NOW, down, ended, note, queue

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def printed(notification: Notification, width: int = 110, *, terminal: bool = False) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=terminal, color_system="standard" if terminal else None)
    ConsoleNotifier(console).notify(notification)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


@pytest.mark.parametrize(
    ("name", "notification"),
    [
        ("firing", note(queue())),
        ("resolved", note(ended(queue()))),
        ("two_names", note(queue(), down())),
        ("300_instances", note(*(queue(f"10.0.{n // 100}.{n % 100}:8000", float(n)) for n in range(300)))),
    ],
)
def test_the_output_is_the_one_that_was_looked_at(name: str, notification: Notification) -> None:
    assert_golden(f"console/{name}.txt", printed(notification))


class Known:
    """Knows one engine, as it is and as it was at its worst."""

    def at(self, labels: Labels, at: Instant) -> Readings:
        del labels, at
        return Readings(running=9.0, waiting=42.0, advice=("9 such requests fit.", "--max-num-seqs 8 lets them in."))

    def worst(self, labels: Labels, since: Instant, until: Instant) -> Readings:
        del labels, since, until
        return Readings(running=16.0, waiting=43.0)


@pytest.mark.parametrize(
    ("notification", "words"),
    [(note(queue()), "Now: 9 running · 42 waiting"), (note(ended(queue())), "Worst of it: 16 running · 43 waiting")],
    ids=["firing", "resolved"],
)
def test_the_numbers_that_decide_are_printed(notification: Notification, words: str) -> None:
    file = io.StringIO()
    ConsoleNotifier(Console(file=file, width=110), Known()).notify(notification)
    assert words in file.getvalue()
    lines = [line.rstrip() for line in file.getvalue().splitlines()]
    assert ("    --max-num-seqs 8 lets them in." in lines) is not notification.is_resolved


@pytest.mark.parametrize(
    ("notification", "colour"),
    [(note(queue()), "33"), (note(queue(severity="critical")), "31"), (note(ended(queue())), "32")],
    ids=["warning", "critical", "resolved"],
)
def test_a_terminal_shows_the_severity_as_colour(notification: Notification, colour: str) -> None:
    first = printed(notification, terminal=True).splitlines()[0]
    assert f"\x1b[1;{colour}m" in first


def test_without_a_terminal_there_is_no_escape_sequence() -> None:
    assert "\x1b" not in printed(note(queue()))


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    file = io.StringIO()
    ConsoleNotifier(Console(file=file, force_terminal=True, width=100)).notify(note(queue()))
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", file.getvalue())


@given(text=st.text(st.sampled_from("[]/boldred=link\x1b[2J\x07\x9b\r\b\u202e\u200b\n é"), max_size=40))
def test_a_label_is_neither_markup_nor_a_control_sequence(text: str) -> None:
    alert = Alert(
        Labels.of(alertname=text, instance=f"{text}x", severity=text),
        Labels.of(summary=text, description=text, value=text, threshold=text, runbook_url=text),
        NOW,
    )
    plain = ESCAPES.sub("", printed(note(alert), terminal=True))
    assert all(character == "\n" or character.isprintable() for character in plain)
    assert not set(plain) & set("\u202e\u200b")
    if text.count("[bold]"):
        assert "[bold]" in plain


def test_a_terminal_without_unicode_gets_question_marks() -> None:
    raw = io.BytesIO()
    with io.TextIOWrapper(raw, encoding="ascii") as file:
        ConsoleNotifier(Console(file=file, width=100)).notify(note(queue("größe:1")))
        file.flush()
        assert b"gr??e:1" in raw.getvalue()


def test_a_closed_terminal_is_an_error_that_may_pass() -> None:
    file = io.StringIO()
    file.close()
    with pytest.raises(NotifyError) as caught:
        ConsoleNotifier(Console(file=file, width=80)).notify(note(queue()))
    assert caught.value.retryable
