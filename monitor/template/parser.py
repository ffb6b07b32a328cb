"""From tokens to a tree: the statements of a template. Pipelines and operands are in expressions.py."""

from collections.abc import Callable, Container, Sequence

from monitor.template.errors import TemplateError
from monitor.template.expressions import Expressions
from monitor.template.lexer import Kind, Token
from monitor.template.nodes import Action, Branch, Include, Leave, Node, Pipeline, Range, Text, Tree

_DEEPEST = 100


class Parser(Expressions):
    """
    Reads one template.

    `functions` are the names that may be called, `variables` those that exist before the first line.
    """

    def __init__(self, text: str, functions: Container[str], variables: Sequence[str]) -> None:
        super().__init__(text, functions, ["$", *variables])
        self._defined: dict[str, tuple[Node, ...]] = {}
        self._loops = 0
        self._depth = 0
        self._statements: dict[str, Callable[[Token], Node | None]] = {
            "if": self._if,
            "with": self._with,
            "range": self._range,
            "template": self._template,
            "block": self._block,
            "define": self._define,
            "break": self._leave,
            "continue": self._leave,
        }

    def parse(self) -> Tree:
        """Return the tree; raises TemplateError."""
        nodes, ended_by = self._list(top=True)
        if ended_by.kind is not Kind.END:
            raise self.error("unexpected {{" + ended_by.text + "}}", ended_by)
        return Tree(nodes, self._defined)

    def _list(self, *, top: bool = False) -> tuple[tuple[Node, ...], Token]:
        """Read up to the `end`, `else` or end of text that closes the list; return that token too."""
        nodes: list[Node] = []
        while True:
            token = self.next()
            if token.kind is Kind.END:
                if not top:
                    raise self.error("unexpected EOF", token)
                break
            if token.kind is Kind.TEXT:
                nodes.append(Text(token.position, token.text))
                continue
            first = self.next_word()
            if first.kind is Kind.KEYWORD and first.text in ("end", "else"):
                token = first
                break
            node = self._statement(first, top=top)
            if node is not None:
                nodes.append(node)
        return tuple(nodes), token

    def _statement(self, first: Token, *, top: bool) -> Node | None:
        statement = self._statements.get(first.text) if first.kind is Kind.KEYWORD else None
        if statement is None:
            self.back()
            return Action(first.position, self.pipeline("command"))
        if first.text == "define" and not top:
            raise self.error("unexpected {{define}}", first)
        return self._deeper(statement, first)

    def _deeper(self, statement: Callable[[Token], Node | None], first: Token) -> Node | None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self.error("nested too deeply", first)
        node = statement(first)
        self._depth -= 1
        return node

    def _if(self, first: Token) -> Node:
        return self._branch(first, moves_dot=False)

    def _with(self, first: Token) -> Node:
        return self._branch(first, moves_dot=True)

    def _branch(self, first: Token, *, moves_dot: bool) -> Node:
        known = len(self.variables)
        pipeline = self.pipeline(first.text)
        then, ended_by = self._list()
        otherwise: tuple[Node, ...] = ()
        if ended_by.text == "else":
            otherwise = self._else(ended_by, first.text)
        else:
            self.close("end")
        del self.variables[known:]
        return Branch(pipeline.position, pipeline, then, otherwise, moves_dot)

    def _else(self, token: Token, chained: str) -> tuple[Node, ...]:
        """Read what follows an `else`; `else if` and `else with` share the `end` of the first."""
        following = self.next_word()
        if following.kind is Kind.KEYWORD and following.text == chained != "range":
            branch = self._deeper(self._statements[chained], following)
            return () if branch is None else (branch,)
        if following.kind is not Kind.CLOSE:
            raise self.error(f"unexpected {following} in else", following)
        nodes, ended_by = self._list()
        if ended_by.text != "end":
            raise self.error("expected end; found {{else}}", token)
        self.close("end")
        return nodes

    def _range(self, first: Token) -> Node:
        known = len(self.variables)
        pipeline = self.pipeline("range")
        self._loops += 1
        body, ended_by = self._list()
        self._loops -= 1
        otherwise: tuple[Node, ...] = ()
        if ended_by.text == "else":
            otherwise = self._else(ended_by, first.text)
        else:
            self.close("end")
        del self.variables[known:]
        return Range(pipeline.position, pipeline, body, otherwise)

    def _leave(self, first: Token) -> Node:
        if not self._loops:
            raise self.error("{{" + first.text + "}} outside {{range}}", first)
        self.close(first.text)
        return Leave(first.position, again=first.text == "continue")

    def _template(self, _: Token) -> Node:
        self.skip_space()
        position = self.peek().position
        name = self.string("template clause")
        argument: Pipeline | None = None
        if self.next_word().kind is not Kind.CLOSE:
            self.back()
            argument = self.pipeline("template clause")
        return Include(position, name, argument)

    def _block(self, first: Token) -> Node:
        name = self.string("block clause")
        argument = self.pipeline("block clause")
        self._body(name, first)
        return Include(first.position, name, argument)

    def _define(self, first: Token) -> None:
        name = self.string("define clause")
        self.close("define clause")
        self._body(name, first)

    def _body(self, name: str, first: Token) -> None:
        """Read the body of a named template, which sees no variable but its own dot."""
        outside, self.variables = self.variables, ["$"]
        loops, self._loops = self._loops, 0
        nodes, ended_by = self._list()
        if ended_by.text != "end":
            raise self.error("unexpected {{else}}", ended_by)
        self.close("end")
        self.variables, self._loops = outside, loops
        if not _is_empty(self._defined.get(name, ())):
            raise self.error(f'multiple definition of template "{name}"', first)
        self._defined[name] = nodes

    def close(self, context: str) -> None:
        token = self.next_word()
        if token.kind is not Kind.CLOSE:
            raise self.error(f"unexpected {token} in {context}", token)

    def error(self, message: str, token: Token) -> TemplateError:
        return TemplateError.at(message, self.text, token.position)


def _is_empty(nodes: Sequence[Node]) -> bool:
    return all(isinstance(node, Text) and not node.text.strip() for node in nodes)
