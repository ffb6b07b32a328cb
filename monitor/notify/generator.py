"""The rule's expression, which Prometheus and this daemon put into the link of an alert."""

from urllib.parse import parse_qs, urlsplit

# Whoever posts an alert writes the link: no more of it is read than a rule may need.
_LONGEST_URL = 16_384


def expr_of(generator_url: str) -> str:
    """Return the expression, "" without one."""
    if len(generator_url) > _LONGEST_URL:
        return ""
    try:
        return parse_qs(urlsplit(generator_url).query).get("g0.expr", [""])[0]
    except ValueError:
        return ""
