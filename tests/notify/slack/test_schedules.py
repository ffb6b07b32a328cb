"""A hundred lives of a bot among faults; `make soak` lives a thousand."""

import pytest

from tests.notify.slack.schedules import run

# The same ones each time; `make soak` throws the dice.
COUNT = 100
# What the dice of `make soak` have found.
FOUND = (52593,)  # a member of a digest whose numbers moved before it had a message of its own


@pytest.mark.timeout(300)
def test_in_the_end_every_incident_has_one_message_that_says_how_it_stands() -> None:
    complaints, tallies = run([*range(COUNT), *FOUND])
    assert complaints == []
    # Without these the run would prove nothing.
    assert tallies["incidents"] > COUNT
    assert tallies["deaths"] > COUNT
    assert tallies["digests"] > 0
