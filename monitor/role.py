"""What a daemon is among several over one folder."""

from dataclasses import dataclass

from monitor.storage.db import Fence


@dataclass(frozen=True, slots=True)
class Role:
    """`stands_by`: another one tells people; None where there is no other. `fence` is that of the one who tells."""

    stands_by: bool | None = None
    fence: Fence | None = None


ALONE = Role()
