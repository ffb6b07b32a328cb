r"""
Matchers as Alertmanager's configuration, silences and amtool write them.

reference: Alertmanager 0.33, pkg/labels/parse.go (classic) and matcher/parse (UTF-8): one grammar that takes what both
take with the same meaning. Only \" \\ and \n are escapes; any other backslash is itself, so `"\d+"` is as written.
"""

import re

from monitor.model.matcher import Matcher, MatchType
from monitor.yamldoc.mistake import shown

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_NAME = re.compile(rf"""\s*({_QUOTED}|[^\s{{}}!=~,\\"'`]+)\s*""", re.DOTALL)
_TYPE = re.compile(r"(=~|!~|!=|=)\s*")
_VALUE = re.compile(rf"""({_QUOTED}|[^{{}},"'`]*?)\s*(?=,|\Z)""", re.DOTALL)
_ESCAPE = re.compile(r'\\(["\\n])')


class MatcherError(ValueError):
    """The text is not a matcher; a wrong regular expression is a MatchError of the model."""


def parse_matchers(text: str) -> tuple[Matcher, ...]:
    """
    Return the matchers of `a="b", c=~"d|e"`, with or without braces around.

    Raises MatcherError and model.matcher.MatchError.
    """
    inner = text.strip()
    if inner.startswith("{") != inner.endswith("}"):
        raise MatcherError(f"{shown(text)} has a brace without its pair (put a value with braces in double quotes)")
    if inner.startswith("{"):
        inner = inner[1:-1]
    matchers: list[Matcher] = []
    position = 0
    while position < len(inner.rstrip()):
        matcher, position = _matcher(text, inner, position)
        matchers.append(matcher)
    return tuple(matchers)


def _matcher(text: str, inner: str, position: int) -> tuple[Matcher, int]:
    """Return the matcher that begins at `position`, and where the next one does."""
    name = _NAME.match(inner, position)
    kind = _TYPE.match(inner, name.end()) if name else None
    if name is None or kind is None:
        raise MatcherError(f'{shown(text)} is not a matcher (write severity="critical", instance=~"a|b")')
    value = _VALUE.match(inner, kind.end())
    if value is None:
        raise MatcherError(f"{shown(text)} is not a matcher: put the value of {name[1]} in double quotes")
    if not _plain(name[1]):
        raise MatcherError(f"{shown(text)} is not a matcher: the name of the label is empty")
    return Matcher(_plain(name[1]), MatchType(kind[1]), _plain(value[1])), value.end() + 1


def _plain(word: str) -> str:
    """Return a word without its quotes and escapes."""
    if not word.startswith('"'):
        return word
    return _ESCAPE.sub(lambda found: "\n" if found[1] == "n" else found[1], word[1:-1])
