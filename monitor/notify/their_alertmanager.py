"""
A real Alertmanager, asked by its API: what is still there of a group, and silences set and ended.

A silence of ours is known there by what stands behind its comment, so that nothing of it has to be remembered here.
"""

import json
from typing import Any
from urllib.parse import quote, urlencode

from monitor.dispatch.notification import NotifyError
from monitor.dispatch.silence import Silence
from monitor.model.labels import Labels
from monitor.model.matcher import MatchType, equal
from monitor.notify.failure import Reason, failure
from monitor.notify.http import Address, HttpOptions
from monitor.notify.moment import rfc3339
from monitor.notify.secret import Secret

_HEADERS = {"Content-Type": "application/json"}
_EXPIRED = "expired"


class TheirAlertmanager:
    """The one at `url`. All raise NotifyError."""

    def __init__(self, url: str, options: HttpOptions | None = None) -> None:
        self.url = url
        self._base = url.rstrip("/") + "/api/v2"
        self._options = options

    def firing(self, group_labels: Labels) -> frozenset[Labels]:
        """Return the alerts that it has with these labels, whether anything mutes them or not."""
        found = self._asked("alerts", [("filter", str(equal(name, value))) for name, value in group_labels])
        try:
            return frozenset(Labels.of(alert["labels"]) for alert in found)
        except (KeyError, TypeError, ValueError, AttributeError) as err:
            raise _odd() from err

    def silence(self, silence: Silence) -> None:
        """Have it silence the same; what it silences so already stays as it is."""
        if not self._of(silence):
            body = json.dumps(_posted(silence)).encode("utf-8", "replace")
            self._address("silences").post(body, _HEADERS)

    def unsilence(self, silence: Silence) -> None:
        """End there what silences for our silence."""
        for theirs in self._of(silence):
            self._address(f"silence/{quote(theirs, safe='')}").delete()

    def _of(self, silence: Silence) -> list[str]:
        mark = _mark(silence.id)
        # It keeps what has expired for five days: of all of them the answer might be too large. A filter is compared
        # with the texts of the matchers, so those that are equal are asked for.
        same = [matcher for matcher in silence.matchers if matcher.type is MatchType.EQUAL]
        try:
            return [
                str(one["id"])
                for one in self._asked("silences", [("filter", str(matcher)) for matcher in same])
                if str(one["comment"]).endswith(mark) and one["status"]["state"] != _EXPIRED
            ]
        except (KeyError, TypeError) as err:
            raise _odd() from err

    def _asked(self, path: str, query: list[tuple[str, str]]) -> list[Any]:
        answer = self._address(path + (f"?{urlencode(query)}" if query else "")).get()
        try:
            found = json.loads(answer.body)
        except (ValueError, RecursionError) as err:
            raise _odd() from err
        if not isinstance(found, list):
            raise _odd()
        return found

    def _address(self, path: str) -> Address:
        return Address(Secret(f"{self._base}/{path}"), self._options)


def _mark(silence_id: str) -> str:
    return f"(vllm-monitor {silence_id})"


def _posted(silence: Silence) -> dict[str, Any]:
    return {
        "matchers": [
            {
                "name": matcher.name,
                "value": matcher.value,
                "isRegex": matcher.type in (MatchType.REGEX, MatchType.NOT_REGEX),
                "isEqual": not matcher.type.is_negative,
            }
            for matcher in silence.matchers
        ],
        "startsAt": rfc3339(silence.starts_at),
        "endsAt": rfc3339(silence.ends_at),
        "createdBy": silence.created_by,
        "comment": f"{silence.comment} {_mark(silence.id)}",
    }


def _odd() -> NotifyError:
    return failure(Reason.UNKNOWN, "what it answers is none of Alertmanager's answers")
