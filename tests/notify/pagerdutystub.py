"""The Events API of PagerDuty on the loopback: what it takes, what it refuses, and the incidents it makes of it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.notify.endpoint import Received
from tests.slackstub.faults import Answer

ROUTING_KEY = "0123456789abcdef0123456789abcdef"
LARGEST = 512 * 1024


@dataclass
class PagerDutyStub:
    """Give `answer` to an endpoint. `open` has the last trigger of each incident that is not resolved, by its key."""

    open: dict[str, Any] = field(default_factory=dict)
    resolved: list[str] = field(default_factory=list)

    def answer(self, received: Received) -> Answer:
        event = received.json
        wrong = problems(event) + (["too large"] if len(received.body) > LARGEST else [])
        if wrong:
            return Answer(400, f'{{"status":"invalid event","message":"Event object is invalid","errors":{wrong!r}}}')
        if event["event_action"] == "resolve":
            if self.open.pop(event["dedup_key"], None) is not None:
                self.resolved.append(event["dedup_key"])
        else:
            self.open[event["dedup_key"]] = event
        return Answer(202, '{"status":"success","message":"Event processed","dedup_key":"x"}')


def problems(event: dict[str, Any]) -> list[str]:
    """Return what the API refuses in an event."""
    payload, key = event.get("payload", {}), event.get("routing_key")
    datetime.fromisoformat(payload["timestamp"])
    rules = {
        "routing_key": isinstance(key, str) and len(key) == len(ROUTING_KEY),
        "event_action": event.get("event_action") in ("trigger", "acknowledge", "resolve"),
        "dedup_key": 0 < len(event.get("dedup_key", "")) <= 255,
        "summary": 0 < len(payload.get("summary", "")) <= 1024,
        "source": bool(payload.get("source")),
        "severity": payload.get("severity") in ("critical", "error", "warning", "info"),
        "custom_details": isinstance(payload.get("custom_details"), dict),
        "links": all(link["href"].startswith(("http://", "https://")) and link["text"] for link in event["links"]),
    }
    return [name for name, right in rules.items() if not right]
