"""A strict stub of Slack, judged when the test is over, and a bot's lane before it."""

from collections.abc import Iterator

import pytest

from tests.notify.slack.channels import Line
from tests.slackstub.judge import assert_invariants
from tests.slackstub.stub import SlackStub


@pytest.fixture
def stub() -> Iterator[SlackStub]:
    with SlackStub() as running:
        yield running
        assert_invariants(running)


@pytest.fixture
def line(stub: SlackStub) -> Line:
    return Line(stub)
