"""Looking for what may have been posted: also behind a storm that went on in the channel while the daemon was away."""

from monitor.clock import VirtualClock
from monitor.notify.secret import Secret
from monitor.notify.slack.channel import Channel
from monitor.notify.slack.payload import Message
from monitor.notify.slack.web_api import WebApi
from monitor.notify.slack.workspace import Workspace
from tests.notify.samples import NOW
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN

STAMP = "stamp of ours"
MESSAGE = Message(text="words", blocks=[], attachments=[])


def test_a_message_is_found_behind_hundreds_of_newer_ones() -> None:
    with SlackStub() as stub:
        shared = Workspace(VirtualClock(NOW).now)
        channel = Channel(WebApi(Secret(TOKEN), stub.base_url), CHANNEL, shared.pace, shared.now)
        place = channel.post(MESSAGE, STAMP)
        for number in range(450):
            channel.post(MESSAGE, f"somebody's {number}")
        assert channel.find(STAMP) == place
        # Newest first, two hundred a page: no further than where it stands.
        assert [request.name for request in stub.requests].count("conversations.history") == 3
        assert channel.find("never posted") is None
