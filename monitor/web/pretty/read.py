"""Reading an expression into the parts that are written."""

from collections import deque
from collections.abc import Callable
from typing import TypeVar

from monitor.promql.durations import Literal
from monitor.promql.guard import rewrite
from monitor.promql.lex import Kind, Token, tokens
from monitor.promql.selector import Anchor
from monitor.promql.sites import AGGREGATIONS
from monitor.promql.values import at_modifiers
from monitor.web.pretty.computed import computed, computed_offset
from monitor.web.pretty.cursor import Cursor
from monitor.web.pretty.tree import Binary, Call, Leaf, Number, Parentheses, Part, Subquery, Unary
from monitor.web.pretty.words import label, literal, quoted, unquoted

T = TypeVar("T")
_POWER = 6
_PRECEDENCE = {
    **dict.fromkeys(("or",), 1),
    **dict.fromkeys(("and", "unless"), 2),
    **dict.fromkeys(("==", "!=", "<=", "<", ">=", ">"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%", "atan2"), 5),
    "^": _POWER,
}


def read(text: str) -> Part:
    """Return the parts of an expression that has been parsed before. Raises PromqlError."""
    plain = rewrite(text, tuple(tokens(text)))
    found = tuple(tokens(plain))
    return _Reader(found).expression(0)


class _Reader:
    def __init__(self, found: tuple[Token, ...]) -> None:
        self._cursor = Cursor(found)
        self._at = deque(at_modifiers(found))

    def expression(self, least: int) -> Part:
        """Return what stands here, up to an operator that binds no more than `least`."""
        left = self._operand()
        while (binds := _PRECEDENCE.get(self._cursor.word, 0)) > least:
            operator = self._cursor.take().text.lower() + self._modifiers()
            # The power is the only one that groups from the right.
            left = Binary(left, operator, self.expression(binds - (binds == _POWER)))
        return left

    def _operand(self) -> Part:
        if self._cursor.word in ("+", "-"):
            sign = self._cursor.take().text
            operand = self.expression(_POWER - 1)
            if isinstance(operand, Number):
                return operand if sign == "+" else operand.negated()
            return Unary(sign, operand)
        part = self._primary()
        while self._cursor.word in ("[", "@", "offset"):
            part = self._suffixed(part)
        return part

    def _primary(self) -> Part:
        cursor = self._cursor
        if cursor.passes("("):
            inside = self.expression(0)
            cursor.take(")")
            return Parentheses(inside)
        if cursor.word == "{":
            return Leaf(self._braces(""))
        token = cursor.take()
        if token.kind is Kind.STRING:
            return Leaf(quoted(unquoted(token)))
        if token.kind is Kind.NUMBER or (token.text.lower() in ("inf", "nan") and cursor.word != "{"):
            return literal(token)
        return self._named(token)

    def _named(self, token: Token) -> Part:
        cursor = self._cursor
        if token.text.lower() in AGGREGATIONS and cursor.word in ("(", "by", "without"):
            grouping = self._grouping()
            arguments = self._list(lambda: self.expression(0))
            return Call(token.text.lower() + (grouping or self._grouping()), arguments)
        if cursor.word == "(":
            return Call(token.text, self._list(lambda: self.expression(0)))
        return Leaf(self._braces(token.text) if cursor.word == "{" else token.text)

    def _grouping(self) -> str:
        word = self._cursor.word
        if not self._cursor.passes("by", "without"):
            return ""
        labels = self._list(self._label)
        return f" {word} ({', '.join(labels)}) " if labels or word == "without" else ""

    def _modifiers(self) -> str:
        cursor = self._cursor
        text = " bool" if cursor.passes("bool") else ""
        word = cursor.word
        matching = self._list(self._label) if cursor.passes("on", "ignoring") else []
        group = cursor.word
        if cursor.passes("group_left", "group_right"):
            included = self._list(self._label) if cursor.word == "(" else []
            return f"{text} {word} ({', '.join(matching)}) {group} ({', '.join(included)})"
        return f"{text} {word} ({', '.join(matching)})" if word == "on" or matching else text

    def _list(self, item: Callable[[], T]) -> list[T]:
        """Return the items of a list in parentheses."""
        cursor, items = self._cursor, []
        cursor.take("(")
        while not cursor.passes(")"):
            items.append(item())
            if cursor.word != ")":
                cursor.take(",")
        return items

    def _label(self) -> str:
        token = self._cursor.take()
        return label(unquoted(token)) if token.kind is Kind.STRING else token.text

    def _braces(self, name: str) -> str:
        cursor, matchers = self._cursor, []
        cursor.take("{")
        while not cursor.passes("}"):
            matchers.append(self._matcher())
            if cursor.word != "}":
                cursor.take(",")
        return name + ("{" + ",".join(sorted(matchers)) + "}" if matchers else "")

    def _matcher(self) -> str:
        token = self._cursor.take()
        name = unquoted(token) if token.kind is Kind.STRING else token.text
        if self._cursor.word in (",", "}"):
            return f"__name__={quoted(name)}"
        operator = self._cursor.take("=", "!=", "=~", "!~").text
        return label(name) + operator + quoted(unquoted(self._cursor.take()))

    def _suffixed(self, part: Part) -> Part:
        """Return `part` with the range, the time and the offset that stand here, in that order."""
        range_ = self._range() if self._cursor.word == "[" else ""
        at = offset = ""
        while self._cursor.word in ("@", "offset"):
            if self._cursor.passes("@"):
                at = self._time()
            else:
                self._cursor.take()
                offset = self._offset()
        if isinstance(part, Leaf) and ":" not in range_:
            return Leaf(part.text + range_ + at + offset)
        return Subquery(part, range_ + at + offset)

    def _range(self) -> str:
        self._cursor.take("[")
        text = computed(self._cursor.duration())
        if self._cursor.passes(":"):
            text += ":" + ("" if self._cursor.word == "]" else computed(self._cursor.duration()))
        self._cursor.take("]")
        return f"[{text}]"

    def _time(self) -> str:
        anchor = self._at.popleft()
        if isinstance(anchor, Anchor):
            for word in (anchor.name.lower(), "(", ")"):
                self._cursor.take(word)
            return f" @ {anchor.name.lower()}()"
        while self._cursor.passes("+", "-"):
            pass
        self._cursor.take()
        return f" @ {anchor / 1000:.3f}"

    def _offset(self) -> str:
        tree = self._cursor.offset()
        is_nothing = isinstance(tree, Literal) and not tree.seconds
        return "" if is_nothing else f" offset {computed_offset(tree)}"
