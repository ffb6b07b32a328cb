"""What Prometheus' experimental syntax looks like, so that an expression is refused by name and place."""

from collections.abc import Iterator, Sequence

from monitor.promql.error import PromqlError, refused
from monitor.promql.lex import Kind, Position, Token

_FILLS = frozenset({"fill", "fill_left", "fill_right"})


def check_syntax(found: Sequence[Token]) -> None:
    """Raise PromqlError for syntax that the parser library takes and Prometheus does not, or only as an experiment."""
    for token, problem in _problems(found):
        raise refused(problem, token.position)


def explained(message: str, found: Sequence[Token]) -> PromqlError:
    """Return the error for what the parser library says, with the place where it can be told."""
    for token in found:
        if token.text in ("smoothed", "anchored"):
            return refused(
                f'the modifier "{token.text}" is experimental in Prometheus 3 and not supported', token.position
            )
    return refused(message, _mentioned(message, found))


def _mentioned(message: str, found: Sequence[Token]) -> Position | None:
    """Return the place of the only name that the message quotes, where it stands just once in the expression."""
    names = [token for token in found if token.kind is Kind.NAME and f"'{token.text}'" in message]
    return names[0].position if len(names) == 1 else None


def _problems(found: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    closers: list[str] = []
    for index, token in enumerate(found):
        previous, following = found[max(index - 1, 0)].text, found[index + 1].text if index + 1 < len(found) else ""
        if token.kind is Kind.OPEN:
            closers.append(token.text)
        elif token.kind is Kind.CLOSE and closers:
            closers.pop()
        elif token.text + following in ("</", ">/"):
            yield token, f'the operator "{token.text}/" is for native histograms, which are not supported'
        elif closers[-1:] == ["{"] and token.text == "or" and previous not in ("{", ","):
            yield token, '"or" between label matchers is not PromQL'
        elif token.text.lower() in _FILLS and following == "(":
            yield token, f"{token.text} is experimental in Prometheus 3 and not supported"
