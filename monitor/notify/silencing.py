"""How what a message is about is silenced, by a button or by a command that can be copied."""

import re
import shlex
from collections.abc import Sequence

from monitor.dispatch.notification import Notification
from monitor.model.alert import Alert
from monitor.model.labels import ALERT_NAME, INSTANCE, Labels
from monitor.model.matcher import Matcher, MatchType, equal
from monitor.notify.cleanse import one_line
from monitor.notify.summary import MODEL

# Besides the labels of the group, what a silence is narrowed to where all alerts of the message share it.
_NARROWING = (ALERT_NAME, MODEL, INSTANCE)
_LONGEST_COMMAND = 500
_SIMPLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./:-]*")
# In one regular expression: the daemon takes silences of at most 16 KiB.
_LONGEST_VALUES = 4_000


def matchers_of(told: Notification) -> tuple[Matcher, ...]:
    """Return what a silence of a notification matches: its group, and what all its alerts share."""
    common = told.common_labels
    narrowing = {name: value for name in _NARROWING if (value := common.value(name))}
    labels = Labels.of({**narrowing, **told.group_labels.as_dict()})
    return tuple(equal(name, value) for name, value in labels)


def matchers_of_all(alerts: Sequence[Alert]) -> tuple[Matcher, ...]:
    """
    Return what a silence of alerts of several groups matches: their names, models and instances, whichever all have.

    Nothing when they have none of them.
    """
    found = []
    for name in _NARROWING:
        values = sorted({alert.labels.value(name) for alert in alerts})
        pattern = "|".join(re.escape(value) for value in values)
        if not alerts or "" in values or len(pattern) > _LONGEST_VALUES:
            continue
        found.append(equal(name, values[0]) if len(values) == 1 else Matcher(name, MatchType.REGEX, pattern))
    return tuple(found)


def command(told: Notification, external_url: str = "") -> str:
    """Return the command that silences it for an hour; "" when it could not be copied as it is."""
    matchers = [_written(matcher) for matcher in matchers_of(told)]
    if told.is_resolved or not matchers:
        return ""
    words = ["vllm-monitor", "silence", "add", *matchers, "--duration", "1h", "--comment", "from Slack"]
    line = shlex.join([*words, *(["--url", external_url] if external_url else [])])
    # What Slack would not show to the letter must not be run.
    return line if len(line) <= _LONGEST_COMMAND and one_line(line) == line and "`" not in line else ""


def _written(matcher: Matcher) -> str:
    return f"{matcher.name}={matcher.value}" if _SIMPLE.fullmatch(matcher.value) else str(matcher)
