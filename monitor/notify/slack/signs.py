"""One sign and one colour for each severity, and for what is over."""

from monitor.notify.severity import Severity

COLOURS = {Severity.CRITICAL: "#d72b3f", Severity.WARNING: "#e8912d", Severity.INFO: "#4a7fb5"}
RESOLVED_COLOUR = "#2eb67d"
SIGNS = {Severity.CRITICAL: "🔴", Severity.WARNING: "🟠", Severity.INFO: "🔵"}
RESOLVED_SIGN = "✅"
