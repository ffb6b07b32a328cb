"""Pipelines, commands and operands: what stands between the braces."""

from collections.abc import Callable, Container

from monitor.template import literals
from monitor.template.errors import TemplateError
from monitor.template.lexer import Kind, Token, lexed
from monitor.template.nodes import Chain, Command, Constant, Dot, Field, Function, Operand, Pipeline, Variable

_DEEPEST = 100
_NAMED: dict[str, bool | None] = {"true": True, "false": False, "nil": None}
_CONSTANTS: dict[Kind, Callable[[str], str | float]] = {
    Kind.NUMBER: literals.number,
    Kind.CHARACTER: literals.character,
    Kind.STRING: literals.unquote,
    Kind.RAW_STRING: literals.unquote,
}


class Expressions:
    """A cursor over the tokens that can read pipelines; `variables` are the names known at the cursor."""

    def __init__(self, text: str, functions: Container[str], variables: list[str]) -> None:
        self.text = text
        self.variables = variables
        self._lexed = lexed(text)
        self._functions = functions
        self._at = 0
        self._nested = 0

    def next(self) -> Token:
        token = self.peek()
        self._at += 1
        return token

    def back(self) -> None:
        self._at -= 1

    def peek(self) -> Token:
        """Raises TemplateError where the text cannot be read."""
        tokens, error = self._lexed.tokens, self._lexed.error
        if error is not None and self._at >= len(tokens):
            raise error
        return tokens[self._at]

    def skip_space(self) -> None:
        while self.peek().kind is Kind.SPACE:
            self.next()

    def next_word(self) -> Token:
        """Return the next token that is not white space."""
        self.skip_space()
        return self.next()

    def string(self, context: str) -> str:
        token = self.next_word()
        if token.kind not in (Kind.STRING, Kind.RAW_STRING):
            raise self._error(f"unexpected {token} in {context}", token)
        return str(self._constant(token).value)

    def pipeline(self, context: str, closes: Kind = Kind.CLOSE) -> Pipeline:
        """Read a pipeline and the token that closes it."""
        self.skip_space()
        position = self.peek().position
        variables, assigns = self._declarations(context)
        commands: list[Command] = []
        while True:
            token = self.next_word()
            if token.kind is closes:
                break
            if token.kind in (Kind.CLOSE, Kind.RIGHT, Kind.PIPE, Kind.COMMA, Kind.ASSIGN, Kind.DECLARE, Kind.END):
                raise self._error(f"unexpected {token} in {context}", token)
            self.back()
            commands.append(self._command())
        self._check(commands, context, token)
        return Pipeline(position, tuple(commands), variables, assigns)

    def _declarations(self, context: str) -> tuple[tuple[str, ...], bool]:
        """Read `$x :=`, `$x =` and, in a range, `$key, $value :=`; leave the cursor alone when there is none."""
        start = self._at
        names: list[str] = []
        while (token := self.next_word()).kind is Kind.VARIABLE:
            names.append(token.text)
            separator = self.next_word()
            if separator.kind in (Kind.DECLARE, Kind.ASSIGN):
                self.variables.extend(names)
                return tuple(names), separator.kind is Kind.ASSIGN
            if separator.kind is not Kind.COMMA:
                break
            if context != "range" or len(names) > 1:
                raise self._error(f"too many declarations in {context}", separator)
        if len(names) > 1 or (names and token.kind is not Kind.VARIABLE):
            raise self._error("range can only initialize variables", token)
        self._at = start
        return (), False

    def _check(self, commands: list[Command], context: str, token: Token) -> None:
        if not commands:
            raise self._error(f"missing value for {context}", token)
        for stage, command in enumerate(commands[1:], start=2):
            if isinstance(command.arguments[0], Constant | Dot):
                message = f"non executable command in pipeline stage {stage}"
                raise TemplateError.at(message, self.text, command.position)

    def _command(self) -> Command:
        """Read operands with white space between them, and the `|` after them if there is one."""
        position = self.peek().position
        arguments: list[Operand] = []
        while True:
            self.skip_space()
            operand = self._operand()
            if operand is not None:
                arguments.append(operand)
            token = self.next()
            if token.kind is Kind.SPACE:
                continue
            if token.kind in (Kind.CLOSE, Kind.RIGHT):
                self.back()
            elif token.kind is not Kind.PIPE:
                raise self._error(f"unexpected {token} in operand", token)
            if not arguments:
                raise self._error("empty command", token)
            return Command(position, tuple(arguments))

    def _operand(self) -> Operand | None:
        term = self._term()
        if term is None or self.peek().kind is not Kind.FIELD:
            return term
        first, fields = self.peek(), []
        while self.peek().kind is Kind.FIELD:
            fields.append(self.next().text[1:])
        if isinstance(term, Field):
            return Field(first.position, (*term.names, *fields))
        if isinstance(term, Variable):
            return Variable(first.position, term.name, (*term.fields, *fields))
        if isinstance(term, Constant | Dot):
            raise self._error(f'unexpected . after term "{term}"', first)
        return Chain(first.position, term, tuple(fields))

    def _term(self) -> Operand | None:
        token = self.next()
        reader = self._TERMS.get(token.kind)
        term = reader(self, token) if reader is not None else None
        if term is None:
            self.back()
        return term

    def _function(self, token: Token) -> Operand:
        if token.text not in self._functions:
            raise self._error(f'function "{token.text}" not defined', token)
        return Function(token.position, token.text)

    def _named(self, token: Token) -> Operand | None:
        if token.text not in _NAMED:
            return None
        return Constant(token.position, _NAMED[token.text], token.text)

    def _variable(self, token: Token) -> Operand:
        if token.text not in self.variables:
            raise self._error(f'undefined variable "{token.text}"', token)
        return Variable(token.position, token.text)

    def _field(self, token: Token) -> Operand:
        return Field(token.position, (token.text[1:],))

    def _dot(self, token: Token) -> Operand:
        return Dot(token.position)

    def _constant(self, token: Token) -> Constant:
        try:
            return Constant(token.position, _CONSTANTS[token.kind](token.text), token.text)
        except ValueError as err:
            raise self._error(str(err), token) from err

    def _parenthesised(self, token: Token) -> Operand:
        self._nested += 1
        if self._nested > _DEEPEST:
            raise self._error("nested too deeply", token)
        pipeline = self.pipeline("parenthesized pipeline", Kind.RIGHT)
        self._nested -= 1
        return pipeline

    _TERMS: dict[Kind, Callable[["Expressions", Token], Operand | None]] = {  # noqa: RUF012 - a table, never written
        Kind.WORD: _function,
        Kind.KEYWORD: _named,
        Kind.DOT: _dot,
        Kind.FIELD: _field,
        Kind.VARIABLE: _variable,
        Kind.NUMBER: _constant,
        Kind.CHARACTER: _constant,
        Kind.STRING: _constant,
        Kind.RAW_STRING: _constant,
        Kind.LEFT: _parenthesised,
    }

    def _error(self, message: str, token: Token) -> TemplateError:
        return TemplateError.at(message, self.text, token.position)
