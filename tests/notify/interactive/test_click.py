"""A click is what Slack sends for one of our buttons, and nothing else is."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model.instant import HOUR
from monitor.notify.interactive.buttons import buttons
from monitor.notify.interactive.click import Button, Click, read
from tests.slackstub.blocks import problems
from tests.slackstub.clicks import clicked
from tests.slackstub.workspace import CHANNEL, Workspace


def payload(button: Button = Button.ACK) -> dict[str, Any]:
    """Return what Slack sends for a click on a message that stands there, incident `abc123`."""
    workspace = Workspace()
    block = buttons("abc123", acked=False, silenced=button is Button.UNSILENCE)
    workspace.post(CHANNEL, {"text": "t", "blocks": [block]}, "chat.postMessage")
    return clicked(workspace, button.action_id, action_ts="1796018700.000100")


@pytest.mark.parametrize("button", Button)
def test_a_click_on_each_button_is_read(button: Button) -> None:
    assert read(payload(button), "e1") == Click(
        button, "abc123", "U0ALICE001", "u0alice001", CHANNEL, "1700000001.000001", "1796018700.000100", "e1"
    )


def test_the_buttons_are_what_slack_takes_and_say_nothing_but_the_id() -> None:
    for acked in (True, False):
        for silenced in (True, False):
            block = buttons("abc123", acked=acked, silenced=silenced)
            assert problems({"blocks": [block]}) == []
            shown = {element["action_id"].removeprefix("vllm_monitor_") for element in block["elements"]}
            assert ("ack" in shown, "unsilence" in shown, "silence_1h" in shown) == (not acked, silenced, not silenced)
            assert {element["value"] for element in block["elements"]} == {"abc123"}


def test_how_long_a_button_silences() -> None:
    assert [button.silences_for // HOUR for button in Button] == [0, 1, 4, 0]


@pytest.mark.parametrize(
    "spoil",
    [
        {"type": "view_submission"},
        {"actions": []},
        {"actions": [payload()["actions"][0]] * 2},
        {"actions": "ack"},
        {"actions": [{**payload()["actions"][0], "action_id": "ack"}]},
        {"actions": [{**payload()["actions"][0], "action_id": ["vllm_monitor_ack"]}]},
        {"actions": [{**payload()["actions"][0], "value": "x" * 2_000}]},
        {"actions": [{**payload()["actions"][0], "value": "<!channel>"}]},
        {"actions": [{**payload()["actions"][0], "value": None}]},
        {"actions": [{**payload()["actions"][0], "action_ts": "now"}]},
        {"user": None},
        {"user": "U0ALICE001"},
        {"user": {"id": "<!here>", "username": "alice"}},
        {"channel": {"id": "#alerts"}},
        {"message": {"ts": "1700000001.000001\n"}, "container": {}},
    ],
)
def test_what_is_not_exactly_a_click_of_ours_is_none(spoil: dict[str, Any]) -> None:
    assert read(payload() | spoil) is None


def test_a_name_is_shown_on_one_line_and_cut() -> None:
    hostile = payload() | {"user": {"id": "U0ALICE001", "username": "a\u202eb\n" + "x" * 500}}
    found = read(hostile)
    assert found is not None
    assert found.user_name == ("ab " + "x" * 500)[:80]
    nameless = read(payload() | {"user": {"id": "U0ALICE001", "username": "\u200b"}})
    assert nameless is not None
    assert nameless.user_name == "U0ALICE001"


def test_two_deliveries_of_one_click_are_the_same_click_and_two_clicks_are_not() -> None:
    first, again = read(payload(), "e1"), read(payload(), "e2")
    assert first is not None
    assert again is not None
    assert first.identity == again.identity
    later = payload()
    later["actions"][0]["action_ts"] = "1796018701.000100"
    second = read(later)
    assert second is not None
    assert second.identity != first.identity


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(payload())), inner, max_size=4),
    max_leaves=12,
)


@given(anything, st.sampled_from([*sorted(payload()), ""]))
def test_nothing_that_slack_could_send_breaks_the_reading(value: Any, key: str) -> None:
    spoiled = payload() | {key: value} if key else value
    found = read(spoiled)
    assert found is None or json.dumps(found.incident) == '"abc123"'
