"""The stories, by kind."""

from tests.incidents.stories.availability import AVAILABILITY
from tests.incidents.stories.bar import BAR
from tests.incidents.stories.fleet import FLEET
from tests.incidents.stories.healthy import HEALTHY
from tests.incidents.stories.progress import PROGRESS
from tests.incidents.stories.saturation import SATURATION
from tests.incidents.stories.service import SERVICE

FAILURES = (*AVAILABILITY, *PROGRESS, *SATURATION, *SERVICE, *FLEET)

__all__ = ["BAR", "FAILURES", "HEALTHY"]
