"""Names for the parts of a configuration file: `scrape config "vllm"`, `route 2.1`, `receiver "oncall"`."""

from itertools import pairwise

from monitor.yamldoc.mistake import shown
from monitor.yamldoc.node import Loc, MappingNode, Node, Scalar, find

# The word for one item of a list, and the key that names it.
_ITEMS = {
    "scrape_configs": ("scrape config", "job_name"),
    "static_configs": ("static config", ""),
    "file_sd_configs": ("file sd config", ""),
    "http_sd_configs": ("http sd config", ""),
    "dns_sd_configs": ("dns sd config", ""),
    "kubernetes_sd_configs": ("kubernetes sd config", ""),
    "relabel_configs": ("relabel config", ""),
    "metric_relabel_configs": ("metric relabel config", ""),
    "alertmanagers": ("alertmanager", ""),
    "inhibit_rules": ("inhibit rule", "name"),
    "time_intervals": ("time interval", "name"),
    "receivers": ("receiver", "name"),
    "remote_write": ("remote write", "name"),
    "slack_configs": ("slack config", ""),
    "webhook_configs": ("webhook config", ""),
    "pagerduty_configs": ("pagerduty config", ""),
    "console_configs": ("console config", ""),
}
_SECTIONS = frozenset(("global", "storage", "web", "heartbeat", "report", "slack", "ha", "prometheus"))


def where(root: Node | None, loc: Loc) -> str:
    """Return the name of the part that `loc` lies in, or "" for the top of the file."""
    if loc[:1] == ("route",):
        numbers = [str(step + 1) for before, step in pairwise(loc) if before == "routes" and isinstance(step, int)]
        return f"route {'.'.join(numbers)}".strip()
    if loc[:1] and loc[0] in _SECTIONS:
        return str(loc[0])
    parts = ["alerting"] if loc[:1] == ("alerting",) else []
    for end, (before, step) in enumerate(pairwise(loc), 2):
        if before in _ITEMS and isinstance(step, int):
            noun, key = _ITEMS[str(before)]
            parts.append(f"{noun} {_name(find(root, loc[:end]), key) or step + 1}")
    return ", ".join(parts)


def _name(node: Node | None, key: str) -> str:
    scalar = node.get(key) if isinstance(node, MappingNode) else None
    return shown(scalar.text) if isinstance(scalar, Scalar) and not scalar.is_null else ""
