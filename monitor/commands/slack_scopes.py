"""What a bot of Slack must be allowed to do for the daemon: `test-slack` checks it, docs/slack.md explains it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Need:
    """One of `scopes` is needed, the second for a private channel; without a must, `otherwise` is what happens."""

    scopes: tuple[str, ...]
    what: str
    otherwise: str = ""

    @property
    def is_must(self) -> bool:
        return not self.otherwise


NEEDS = (
    Need(("chat:write",), "posts and edits messages"),
    Need(
        ("channels:history", "groups:history"),
        "looks whether a message arrived before it posts it again",
        "after a broken connection a message may appear twice",
    ),
    Need(
        ("channels:read", "groups:read"),
        "sees whether the channel is there and the bot is in it",
        "a wrong channel is noticed only when a message is refused",
    ),
    Need(("files:write",), "uploads graphs", "there are no graphs"),
)


def missing(given: frozenset[str]) -> list[Need]:
    """Return the needs that none of the scopes in `given` serves."""
    return [need for need in NEEDS if not given.intersection(need.scopes)]
