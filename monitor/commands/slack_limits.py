"""
What `test-slack --full` tries beyond the daemon's daily needs: what Slack does not publish, and a stub cannot know.

Each yields what it measured. A limit that is lower than the daemon's budget is a failure.
"""

from collections.abc import Callable, Iterator
from typing import Any

from monitor.clock import monotonic_seconds
from monitor.commands.slack_exam import BotExam, Finding, Outcome, bad
from monitor.dispatch.notification import NotifyError
from monitor.notify.failure import Reason

# As much text as the daemon ever puts into a message, and what it may put into a section and into an edit.
MESSAGE_TEXT, SECTION_TEXT, EDIT_TEXT = 9_000, 2_900, 3_000
# Each is two units of UTF-16, four bytes, and twelve characters of JSON.
EMOJI = 1_000
_HOSTILE = "&lt;!channel&gt; &lt;@U0123ABCD&gt; &lt;http://example.com|link&gt; &amp;amp; `code`"
_BURST = 5


def large(exam: BotExam) -> Iterator[Finding]:
    """Post as much text as the daemon ever does, in as few sections as it takes."""
    blocks = [_section("x " * (SECTION_TEXT // 2)) for _ in range(MESSAGE_TEXT // SECTION_TEXT)]
    yield from _posted(exam, "large", f"a message with {MESSAGE_TEXT} characters", "large message", blocks=blocks)


def emoji(exam: BotExam) -> Iterator[Finding]:
    """Post characters that count twice where UTF-16 is counted."""
    text = "🔥" * EMOJI
    yield from _posted(exam, "emoji", f"{len(text)} emoji in a section", "emoji", blocks=[_section(text)])


def hostile(exam: BotExam) -> Iterator[Finding]:
    """Post what would ring everybody's phone, escaped: look that it did not."""
    blocks = [_section(_HOSTILE)]
    yield from _posted(exam, "hostile", "mentions in a label ring nobody: look at the message", _HOSTILE, blocks=blocks)


def long_edit(exam: BotExam) -> Iterator[Finding]:
    """Edit a message to as much text as the daemon ever gives one."""
    channel, ts = exam.posted[0]
    text = "x " * (EDIT_TEXT // 2)
    yield from exam.attempt(
        "long edit",
        lambda client: client.chat_update(channel=channel, ts=ts, text=text),
        f"an edit with {EDIT_TEXT} characters",
    )


def burst(exam: BotExam) -> Iterator[Finding]:
    """Post a few messages at once, and see when Slack has had enough."""
    began = monotonic_seconds()
    for number in range(1, _BURST + 1):
        try:
            exam.post(f"vllm-monitor test-slack: {number} of {_BURST} at once")
        except NotifyError as err:
            if err.reason != Reason.RATE_LIMITED:
                yield bad("burst", err)
                return
            pause = "" if err.retry_after is None else f", for {err.retry_after / 1000:g} s"
            yield Finding("burst", Outcome.GOOD, f"Slack asks for a pause after {number - 1} messages at once{pause}")
            return
    yield Finding("burst", Outcome.GOOD, f"{_BURST} messages within {monotonic_seconds() - began:.1f} s are taken")


# The burst last: after it, Slack may want to rest.
EXTRAS: tuple[Callable[[BotExam], Iterator[Finding]], ...] = (large, emoji, hostile, long_edit, burst)


def _posted(exam: BotExam, step: str, good: str, text: str, **more: Any) -> Iterator[Finding]:
    try:
        exam.post(text, **more)
    except NotifyError as err:
        yield bad(step, err)
    else:
        yield Finding(step, Outcome.GOOD, good)


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}
