"""What the daemon asks of the system at its start."""

import gc
import os
import resource

# Enough for all connections that the HTTP side takes, and as many targets as one process has time for.
DESCRIPTORS = 4096


def begin() -> None:
    """Keep what is written for this user alone: it tells names of servers and people; and have descriptors enough."""
    os.umask(0o077)
    more_descriptors()


def more_descriptors() -> None:
    """
    Have more descriptors where they may be had, as programs in Go do: 1024 are the custom for the sake of select.

    Connections from outside could take all of those, and nothing could be scraped then.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def settle() -> None:
    """
    Let collections walk through what comes from now on, and not through what stands for as long as the configuration.

    A walk through all of it holds up every thread for a tenth of a second, a scrape or an evaluation among them.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
