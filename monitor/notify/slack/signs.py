"""One sign and one colour for each severity, for what is over, and for what is told elsewhere."""

from monitor.notify.severity import Severity

COLOURS = {Severity.CRITICAL: "#d72b3f", Severity.WARNING: "#e8912d", Severity.INFO: "#4a7fb5"}
RESOLVED_COLOUR = "#2eb67d"
SIGNS = {Severity.CRITICAL: "🔴", Severity.WARNING: "🟠", Severity.INFO: "🔵"}
RESOLVED_SIGN = "✅"
MOVED_COLOUR = "#8d8d8d"
MOVED_SIGN = "⚪"
