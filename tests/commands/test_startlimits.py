"""What stands for long is no longer walked through by collections, and garbage of before is gone."""

import gc
import weakref

from monitor.commands.startlimits import settle


class Knot:
    """Holds itself."""

    def __init__(self) -> None:
        self.own = self


def test_what_stands_is_left_alone_and_what_an_older_configuration_left_is_taken_away() -> None:
    try:
        settle()
        standing = gc.get_freeze_count()
        assert standing > 10_000
        knot = Knot()
        settle()
        left = weakref.ref(knot)
        del knot
        gc.collect()
        # It was standing: nobody looks at it until the next time.
        assert left() is not None
        settle()
        assert left() is None
    finally:
        gc.unfreeze()
