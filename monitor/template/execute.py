"""Walks the tree of a template and writes its text. Steps, depth and size are bounded."""

from collections.abc import Sequence

from monitor.model.labels import Labels
from monitor.template.evaluate import Evaluator, Failure
from monitor.template.nodes import Action, Branch, Include, Leave, Node, Pipeline, Range, Text, Tree
from monitor.template.printf import sprint
from monitor.template.values import QueryResult, Value, is_true

_LONGEST = 1 << 16
_DEEPEST = 50


class _Left(Exception):  # noqa: N818 - not an error: how `break` and `continue` leave the body of a range
    def __init__(self, *, again: bool) -> None:
        self.again = again


class Executor:
    """One expansion of one tree. Raises Failure."""

    def __init__(self, tree: Tree, evaluator: Evaluator) -> None:
        self._tree = tree
        self._evaluator = evaluator
        self._output: list[str] = []
        self._size = 0
        self._depth = 0

    def run(self, dot: Value) -> str:
        """Return the text of the tree."""
        self._walk(self._tree.root, dot)
        return "".join(self._output)

    def _walk(self, nodes: Sequence[Node], dot: Value) -> None:
        for node in nodes:
            self._evaluator.at(node)
            if isinstance(node, Text):
                self._write(node.text)
            elif isinstance(node, Action):
                self._action(node, dot)
            elif isinstance(node, Branch):
                self._branch(node, dot)
            elif isinstance(node, Range):
                self._range(node, dot)
            elif isinstance(node, Include):
                self._include(node, dot)
            else:
                self._leave(node)

    def _leave(self, node: Leave) -> None:
        raise _Left(again=node.again)

    def _write(self, text: str) -> None:
        self._size += len(text)
        if self._size > _LONGEST:
            raise self._evaluator.failure(f"the text is longer than {_LONGEST} characters")
        self._output.append(text)

    def _action(self, node: Action, dot: Value) -> None:
        value = self._evaluator.pipeline(node.pipeline, dot)
        if not node.pipeline.variables:
            self._write("<no value>" if value is None else sprint([value]))

    def _branch(self, node: Branch, dot: Value) -> None:
        with self._evaluator.variables.scope():
            value = self._evaluator.pipeline(node.pipeline, dot)
            if is_true(value):
                self._walk(node.then, value if node.moves_dot else dot)
            else:
                self._walk(node.otherwise, dot)

    def _range(self, node: Range, dot: Value) -> None:
        with self._evaluator.variables.scope():
            pairs = self._pairs(self._evaluator.pipeline(node.pipeline, dot), node)
            for key, element in pairs:
                self._evaluator.at(node)
                self._bind(node.pipeline, key, element)
                try:
                    with self._evaluator.variables.scope():
                        self._walk(node.body, element)
                except _Left as left:
                    if not left.again:
                        break
            if not pairs:
                self._walk(node.otherwise, dot)

    def _bind(self, pipeline: Pipeline, key: Value, element: Value) -> None:
        """Give the variables of a range their values for one turn."""
        values = (element,) if len(pipeline.variables) == 1 else (key, element)
        for name, value in zip(pipeline.variables, values, strict=False):
            self._evaluator.assign(name, value)

    def _pairs(self, value: Value, node: Range) -> Sequence[tuple[Value, Value]]:
        """Return what a range goes over: key and element."""
        if value is None:
            return ()
        if isinstance(value, Labels):
            return value
        if isinstance(value, dict):
            return sorted(value.items())
        if isinstance(value, QueryResult):
            return tuple(enumerate(value))
        if isinstance(value, int) and not isinstance(value, bool):
            if len(node.pipeline.variables) > 1:
                raise self._evaluator.failure(f"can't use {value} to iterate over more than one variable")
            return tuple((number, number) for number in range(min(value, _LONGEST)))
        raise self._evaluator.failure(f"range can't iterate over {sprint([value])}")

    def _include(self, node: Include, dot: Value) -> None:
        nodes = self._tree.defined.get(node.name)
        if nodes is None:
            raise self._evaluator.failure(f'template "{node.name}" not defined')
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._evaluator.failure(f"exceeded maximum template depth ({_DEEPEST})")
        argument = None if node.pipeline is None else self._evaluator.pipeline(node.pipeline, dot)
        try:
            with self._evaluator.variables.inside(argument):
                self._walk(nodes, argument)
        except Failure as failure:
            failure.template = failure.template or node.name
            raise
        self._depth -= 1
