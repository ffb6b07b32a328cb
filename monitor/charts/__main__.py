"""`python -m monitor.charts`: a chart or a sheet as JSON on standard input, a PNG on standard output."""

import os
import resource
import sys

from monitor.charts.chart import MOST_BYTES, decoded
from monitor.charts.sheet import Sheet, decoded_sheet

_CPU_SECONDS = 20


def main() -> int:
    """Draw one picture; returns the exit code."""
    # Whatever becomes of the daemon: this ends, leaves no dump, and lets others go first; at 10, with a tenth of their
    # weight, the second of a processor that it takes did not come within its time on one that all want.
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(5)
    try:
        body = sys.stdin.buffer.read(MOST_BYTES + 1)
        wanted = decoded_sheet(body) or decoded(body)
    except ValueError as err:
        sys.stderr.write(f"{err}\n")
        return 2
    # Imported here, after what is wrong has been refused.
    from monitor.charts.drawing import png, png_of_sheet

    sys.stdout.buffer.write(png_of_sheet(wanted) if isinstance(wanted, Sheet) else png(wanted))
    return 0


if __name__ == "__main__":
    sys.exit(main())
