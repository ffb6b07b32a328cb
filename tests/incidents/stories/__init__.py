"""The stories, by kind."""

from tests.incidents.stories.bar import BAR

FAILURES = ()
HEALTHY = ()

__all__ = ["BAR", "FAILURES", "HEALTHY"]
