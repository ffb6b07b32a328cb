"""A hundred lives of a bot among faults; `make soak` lives a thousand."""

import secrets

import pytest

from tests.notify.slack.schedules import run

COUNT = 100


@pytest.mark.timeout(300)
def test_in_the_end_every_incident_has_one_message_that_says_how_it_stands() -> None:
    first = secrets.randbelow(1_000_000)
    complaints, tallies = run(range(first, first + COUNT))
    assert complaints == []
    # Without these the run would prove nothing.
    assert tallies["incidents"] > COUNT
    assert tallies["deaths"] > COUNT
    assert tallies["digests"] > 0
