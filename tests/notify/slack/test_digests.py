"""Many incidents at once are one message, and those that go on have one each in its thread."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from monitor.model.instant import HOUR, MINUTE, SECOND
from monitor.notify.slack.digest import is_digest
from monitor.notify.slack.incident import Policy
from tests.notify.samples import NOW, ended, queue
from tests.notify.slack.bots import patience_with
from tests.notify.slack.channels import Line, headers
from tests.slackstub.faults import DOUBTFUL, Answer, Fault, SlackError, rate_limited
from tests.slackstub.stub import SlackStub

STORM = [
    queue(f"10.0.{n // 100}.{n % 100}:8000", float(n), severity="critical" if n % 3 else "warning") for n in range(25)
]


def fire(line: Line, count: int) -> None:
    for number, alert in enumerate(STORM[:count]):
        line.tell(alert, group=str(number))


def end(line: Line, numbers: Iterable[int]) -> None:
    for number in numbers:
        line.tell(ended(STORM[number], line.clock.at), group=str(number))


def test_what_still_fires_after_a_digest_is_told_alone_in_its_thread(line: Line) -> None:
    fire(line, 12)
    line.pass_time(50 * SECOND)
    assert len(line.roots) == 1
    (whole,) = line.replies
    assert whole.text.startswith("*All 12*, the worst first")
    assert whole.text.count("•") == 12
    assert sum(line.outbox.waiting().values()) == 0
    end(line, range(3, 12))
    line.pass_time(MINUTE)
    # Three are left; the others were never told alone, and are not now.
    assert len(line.replies) == 4
    assert {reply.thread_ts for reply in line.replies} == {line.roots[0].ts}
    end(line, range(3))
    line.pass_time(MINUTE)
    (digest,) = line.roots
    assert digest.text.startswith("✅ RESOLVED")
    _, *alone, last = headers(line.replies)
    assert [text[0] for text in alone] == ["✅"] * 3
    assert last.startswith("✅ *All resolved* after")
    assert line.outbox.waiting() == {"oncall/slack[0]": 0}


def test_what_comes_right_after_a_digest_joins_it_and_what_comes_later_has_its_own_message(line: Line) -> None:
    fire(line, 12)
    line.pass_time(20 * SECOND)
    line.tell(queue("new:1", severity="critical"), group="soon")
    line.pass_time(10 * SECOND)
    assert len(line.roots) == 1
    (_, more) = line.replies
    assert more.text.startswith("🔴 *1 more*, 13 in all\n• vLLM's queue")
    assert more.payload["reply_broadcast"] is True
    line.pass_time(5 * MINUTE)
    line.tell(queue("later:1"), group="later")
    line.pass_time(MINUTE)
    assert len(line.roots) == 2


def test_whoever_took_on_a_digest_took_on_what_was_in_it_then(line: Line) -> None:
    fire(line, 12)
    line.pass_time(20 * SECOND)
    (key,) = [one.key for one in line.workspace.incidents.all() if is_digest(one)]
    for more, acked_by in (("0", "kim"), ("new", "")):
        incidents = line.workspace.incidents
        digest = incidents.get(key)
        assert digest is not None
        digest = replace(digest, acked_by="kim", acked_at=NOW)
        incidents.put(replace(digest, silence_id="s1", silenced_by="kim", silenced_until=NOW + HOUR))
        line.tell(queue(f"{more}:1"), group=more)
        line.pass_time(10 * SECOND)
        digest = incidents.get(key)
        assert digest is not None
        assert (digest.acked_by, digest.silenced_by) == (acked_by, acked_by)
        shown = str(line.roots[0].payload)
        assert ("acknowledged by" in shown, "silenced by" in shown) == (bool(acked_by), bool(acked_by))


def test_what_fires_again_after_its_digest_is_an_incident_of_its_own(line: Line) -> None:
    fire(line, 12)
    line.pass_time(20 * SECOND)
    end(line, range(12))
    line.pass_time(2 * MINUTE)
    line.tell(replace(STORM[0], starts_at=line.clock.at), group="0")
    line.pass_time(MINUTE)
    assert [message.text[0] for message in line.roots] == ["✅", "🟠"]


@pytest.mark.parametrize("fault", [*DOUBTFUL.values(), Answer(503, ""), rate_limited("3")], ids=str)
def test_a_digest_that_fails_at_first_is_posted_once(stub: SlackStub, fault: Fault) -> None:
    line = Line(stub, timeout=patience_with(fault), policy=Policy(digest_above=3))
    stub.fail_next(fault, method="chat.postMessage")
    fire(line, 5)
    line.pass_time(30 * SECOND)
    assert len(line.roots) == 1
    line.pass_time(2 * MINUTE)
    # The list of all, and a message for each that fires still.
    assert len(line.replies) == 1 + 5


def test_after_an_outage_what_came_and_went_meanwhile_is_one_message(stub: SlackStub) -> None:
    line = Line(stub)
    stub.fail_next(*[Answer(503, "")] * 4)
    fire(line, 25)
    line.pass_time(5 * SECOND)
    end(line, range(5, 25))
    line.pass_time(30 * SECOND)
    assert len(line.roots) == 1
    line.pass_time(2 * MINUTE)
    # The list of all, and a message for each that fires still.
    assert len(line.replies) == 1 + 5


def test_a_digest_that_could_not_be_edited_is_edited_with_the_next_word(stub: SlackStub) -> None:
    line = Line(stub, policy=Policy(digest_above=3))
    fire(line, 5)
    line.pass_time(20 * SECOND)
    end(line, range(4))
    line.pass_time(20 * SECOND)
    stub.fail_next(SlackError("token_revoked"), method="chat.update")
    end(line, [4])
    line.pass_time(SECOND)
    # The letter that failed gives way to one that is another incident's.
    line.tell(replace(STORM[4], starts_at=line.clock.at), group="4")
    line.pass_time(MINUTE)
    assert line.roots[0].text.startswith("✅ RESOLVED")
