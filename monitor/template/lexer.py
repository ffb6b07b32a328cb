"""
From the text of a template to tokens.

reference: Go, text/template (package documentation) and its behaviour in promtool.
"""

import re
import unicodedata
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from enum import StrEnum

from monitor.template.errors import TemplateError

OPEN = "{{"
CLOSE = "}}"
_SPACE = " \t\r\n"


class Kind(StrEnum):
    """What a token is; the value is how an error message names it."""

    TEXT = "text"
    OPEN = OPEN
    CLOSE = CLOSE
    SPACE = "space"
    DECLARE = ":="
    ASSIGN = "="
    PIPE = "|"
    COMMA = ","
    LEFT = "("
    RIGHT = ")"
    DOT = "."
    FIELD = "field"
    VARIABLE = "variable"
    WORD = "word"
    KEYWORD = "keyword"
    NUMBER = "number"
    CHARACTER = "character"
    STRING = "string"
    RAW_STRING = "raw string"
    END = "end of the template"


KEYWORDS = frozenset(
    ("block", "break", "continue", "define", "else", "end", "if", "nil", "range", "template", "with", "true", "false")
)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text; `position` counts characters from 0."""

    kind: Kind
    text: str
    position: int

    def __str__(self) -> str:
        return self.kind if self.kind is Kind.END else f'"{self.text[:20]}"'


_COMMENT = re.compile(r"\{\{(?:-[ \t\r\n])?[ \t\r\n]*/\*")
_ACTION = re.compile(
    r"""
      (?P<CLOSE>   [ \t\r\n]-\}\} | \}\} )
    | (?P<SPACE>   (?: [ \t\r\n] (?!-\}\}) )+ )
    | (?P<DECLARE> := )
    | (?P<ASSIGN>  = )
    | (?P<PIPE>    \| )
    | (?P<COMMA>   , )
    | (?P<LEFT>    \( )
    | (?P<RIGHT>   \) )
    | (?P<NUMBER>  [+-]?(?=\.?[0-9]) (?: 0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?
                            | 0[oObB][0-9_]*
                            | [0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)? ) i? )
    | (?P<FIELD>   \.\w+ )
    | (?P<DOT>     \. )
    | (?P<VARIABLE>\$\w* )
    | (?P<WORD>    \w+ )
    | (?P<STRING>  "(?:[^"\\\n]|\\[^\n])*" )
    | (?P<RAW_STRING> `[^`]*` )
    | (?P<CHARACTER>  '(?:[^'\\\n]|\\[^\n])*' )
    """,
    re.VERBOSE,
)
# What may stand right after a name or a number: `$x+2` is a mistake, not arithmetic.
_TERMINATOR = frozenset(_SPACE + ".,|:)(}")
_NEEDS_TERMINATOR = frozenset((Kind.FIELD, Kind.DOT, Kind.VARIABLE, Kind.WORD))
_UNTERMINATED = {
    '"': "unterminated quoted string",
    "`": "unterminated raw quoted string",
    "'": "unterminated character constant",
    ":": "expected :=",
}


@dataclass(frozen=True, slots=True)
class Lexed:
    """
    The tokens of a text, the last of them END; or those before a place that cannot be read, and the error there.

    The error is kept apart, because a mistake in the tokens before it is to be told first.
    """

    tokens: list[Token]
    error: TemplateError | None


def lexed(text: str) -> Lexed:
    """Return the tokens of `text`."""
    found: list[Token] = []
    try:
        found.extend(_tokens(text))
    except TemplateError as err:
        return Lexed(found, err)
    return Lexed(found, None)


def _tokens(text: str) -> Iterator[Token]:
    position, trim = 0, False
    while True:
        opening = text.find(OPEN, position)
        literal = text[position:] if opening < 0 else text[position:opening]
        shift = len(literal) - len(literal.lstrip(_SPACE)) if trim else 0
        literal = literal[shift:]
        if opening >= 0 and _trims_left(text, opening):
            literal = literal.rstrip(_SPACE)
        if literal:
            yield Token(Kind.TEXT, literal, position + shift)
        if opening < 0:
            yield Token(Kind.END, "", len(text))
            return
        if _COMMENT.match(text, opening):
            position, trim = _comment(text, opening)
            continue
        position, trim = yield from _action(text, opening)


def _trims_left(text: str, opening: int) -> bool:
    after = text[opening + 2 : opening + 4]
    return after[:1] == "-" and after[1:] in tuple(_SPACE)


def _comment(text: str, opening: int) -> tuple[int, bool]:
    """Return where the text goes on after a comment, and whether white space is trimmed there."""
    end = text.find("*/", opening)
    if end < 0:
        raise TemplateError.at("unclosed comment", text, opening)
    rest = text[end + 2 :]
    trimmed = rest.lstrip(_SPACE)
    if rest.startswith(CLOSE):
        return end + 4, False
    if trimmed.startswith("-}}") and len(trimmed) < len(rest):
        return len(text) - len(trimmed) + 3, True
    raise TemplateError.at("comment ends before closing delimiter", text, opening)


def _action(text: str, opening: int) -> Generator[Token, None, tuple[int, bool]]:
    """Yield the tokens of one action; return where the text goes on, and whether white space is trimmed there."""
    position = opening + (3 if _trims_left(text, opening) else 2)
    yield Token(Kind.OPEN, OPEN, opening)
    depth = 0
    while True:
        token = _next(text, position, opening)
        position += len(token.text)
        depth += (token.kind is Kind.LEFT) - (token.kind is Kind.RIGHT)
        if depth < 0:
            raise TemplateError.at("unexpected right paren", text, token.position)
        if token.kind is Kind.CLOSE and depth:
            raise TemplateError.at("unclosed left paren", text, token.position)
        yield token
        if token.kind is Kind.CLOSE:
            return position, len(token.text) > len(CLOSE)


def _next(text: str, position: int, opening: int) -> Token:
    found = _ACTION.match(text, position)
    if found is None:
        raise _unreadable(text, position, opening)
    kind = Kind[found.lastgroup or ""]
    end = found.end()
    follows = text[end : end + 1]
    if kind is Kind.NUMBER and (follows == "_" or follows.isalnum() or follows in tuple("+-")):
        raise TemplateError.at(f'bad number syntax: "{found.group() + follows}"', text, position)
    if kind in _NEEDS_TERMINATOR and follows and follows not in _TERMINATOR:
        raise TemplateError.at(f"bad character {_name(follows)}", text, end)
    if kind is Kind.WORD and found.group() in KEYWORDS:
        kind = Kind.KEYWORD
    return Token(kind, found.group(), position)


def _unreadable(text: str, position: int, opening: int) -> TemplateError:
    character = text[position : position + 1]
    if not character:
        return TemplateError.at("unclosed action", text, opening)
    if character in _UNTERMINATED:
        return TemplateError.at(_UNTERMINATED[character], text, position)
    if character in "+-":
        return TemplateError.at(f'bad number syntax: "{character}"', text, position)
    return TemplateError.at(f"unexpected {_name(character)} in an action", text, position)


def _name(character: str) -> str:
    shown = f" '{character}'" if unicodedata.category(character)[0] not in "CZ" else ""
    return f"U+{ord(character):04X}{shown}"
