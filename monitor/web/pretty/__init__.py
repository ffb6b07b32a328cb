"""
Expressions written out as Prometheus writes them (`/api/v1/format_query`).

The parser library's own printing loses quotes, signs and parts of seconds, so expressions are read for this from their
tokens, after the library has said that they are good ones.
"""

from monitor.web.pretty.read import read


def pretty(text: str) -> str:
    """Return an expression that has been parsed, over several lines where it is long."""
    return read(text).pretty(0)
