"""Where a life may be ended: an instant, or the n-th time that a place of the program is passed."""

import json
from dataclasses import asdict, dataclass
from random import Random
from typing import Self

# Places inside the process, with the most times a life is likely to pass them.
INSIDE = {
    "statement": 60,
    "before commit": 8,
    "after commit": 8,
    "before attempt": 4,
    "after attempt": 4,
    "before put": 5,
    "before notify": 4,
    "after notify": 4,
    "before post": 3,
    "after post": 3,
    "before update": 3,
    "after update": 3,
    "before look": 2,
    "after look": 2,
    "before snapshot": 3,
    "within snapshot": 3,
    "after snapshot": 3,
}
# Places at the far end: Slack has a message and has not yet answered.
OUTSIDE = {"posted": 4}
INSTANT = "instant"


@dataclass(frozen=True, slots=True)
class Plan:
    """How a life ends: at the `n`-th passing of `place`, and after `seconds` at the latest; with 0, by SIGTERM."""

    place: str
    n: int
    seconds: float
    signal: int = 9

    def text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str) -> Self:
        return cls(**json.loads(text))


def choose(dice: Random) -> Plan:
    """Return a plan: one life in four ends at an instant, the others at a place or a little later."""
    seconds = dice.uniform(0.02, 0.9)
    if dice.random() < 0.25:
        return Plan(INSTANT, 0, seconds)
    places = INSIDE | OUTSIDE
    place = dice.choice(list(places))
    return Plan(place, dice.randint(1, places[place]), seconds + 0.5)
