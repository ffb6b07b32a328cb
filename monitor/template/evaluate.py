"""Gives the value of a pipeline."""

from collections.abc import Sequence

from monitor.template.errors import FunctionError
from monitor.template.functions import FUNCTIONS, Function, Parameter, Surroundings
from monitor.template.nodes import (
    Action,
    Branch,
    Chain,
    Command,
    Constant,
    Dot,
    Field,
    Include,
    Leave,
    Operand,
    Pipeline,
    Range,
    Text,
    Variable,
)
from monitor.template.nodes import Function as Name
from monitor.template.values import (
    QueryResult,
    QuerySample,
    Record,
    Value,
    field_of,
    is_true,
    method_of,
    type_name,
)
from monitor.template.variables import Variables

Place = Operand | Command | Text | Action | Branch | Range | Leave | Include

_MOST_STEPS = 50_000
_LONGEST = 1 << 16
# A long text costs as much as many short ones; a query costs much more than either.
_STEP_CHARACTERS = 64
_QUERY_STEPS = 500


class Failure(Exception):  # noqa: N818 - the end of one expansion; its text is for the annotation
    """The expansion cannot go on; `place` is the node that is to blame, `template` the named template it is in."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.template = ""


class _Missing:
    """Stands for the result that the first command of a pipeline is not given."""


_MISSING = _Missing()


class Evaluator:
    """
    The values and the budget of one expansion.

    As in Go, an error blames the node that was looked at last, which is not always the one it is about.
    """

    def __init__(self, variables: Variables, around: Surroundings, start: Place) -> None:
        self.variables = variables
        self._around = around
        self._place = start
        self._steps = 0

    def at(self, place: Place, steps: int = 1) -> None:
        """Note the node that is looked at, and count steps; raises Failure when there have been too many."""
        self._place = place
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise self.failure("the template takes too many steps")

    def failure(self, message: str) -> Failure:
        return Failure(message, self._place)

    def pipeline(self, pipeline: Pipeline, dot: Value) -> Value:
        """Return the value of a pipeline, which also goes into its variables; raises Failure."""
        self.at(pipeline)
        value: Value = _MISSING
        for command in pipeline.commands:
            value = self._command(command, dot, value)
        for name in pipeline.variables:
            if pipeline.assigns:
                self.assign(name, value)
            else:
                self.variables.push(name, value)
        return value

    def assign(self, name: str, value: Value) -> None:
        """Raises Failure when there is no such variable."""
        try:
            self.variables.set(name, value)
        except KeyError as err:
            raise self.failure(f"undefined variable: {name}") from err

    def _command(self, command: Command, dot: Value, final: Value) -> Value:
        first, *arguments = command.arguments
        if isinstance(first, Name):
            return self._call(first, command, arguments, dot, final)
        if isinstance(first, Field | Variable | Chain):
            return self._chain(first, arguments, dot, final)
        if not isinstance(first, Pipeline):
            self.at(first)
        if arguments or final is not _MISSING:
            raise self.failure(f"can't give argument to non-function {first}")
        if isinstance(first, Constant) and first.value is None:
            raise self.failure("nil is not a command")
        return self._operand(first, dot)

    def _operand(self, operand: Operand, dot: Value) -> Value:
        """Return the value of an operand that is given no arguments."""
        self.at(operand)
        if isinstance(operand, Constant):
            return operand.value
        if isinstance(operand, Dot):
            return dot
        if isinstance(operand, Pipeline):
            return self.pipeline(operand, dot)
        if isinstance(operand, Name):
            return self._call(operand, operand, [], dot, _MISSING)
        return self._chain(operand, [], dot, _MISSING)

    def _chain(self, node: Field | Variable | Chain, arguments: Sequence[Operand], dot: Value, final: Value) -> Value:
        """Follow `.a.b.c`; the last of them may be a method, which gets the arguments."""
        self.at(node)
        receiver, names = self._start(node, dot)
        if not names:
            if arguments or final is not _MISSING:
                raise self.failure(f"can't give argument to non-function {node}")
            return receiver
        for name in names[:-1]:
            receiver = self._member(receiver, name, [])
        method, given = method_of(receiver, names[-1]), len(arguments) + (final is not _MISSING)
        if given and method is None:
            self._member(receiver, names[-1], [])
            kind = "has arguments but cannot be invoked as function"
            refusal = kind if isinstance(receiver, Record | QuerySample) else "is not a method but has arguments"
            raise self.failure(f"{names[-1]} {refusal}")
        if method is not None and given != method[0]:
            raise self.failure(f"wrong number of args for {names[-1]}: want {method[0]} got {given}")
        values = [self._argument(argument, Parameter.STRING, dot) for argument in arguments]
        return self._member(receiver, names[-1], values if final is _MISSING else [*values, final])

    def _member(self, receiver: Value, name: str, arguments: Sequence[Value]) -> Value:
        method = method_of(receiver, name)
        if method is None:
            try:
                return field_of(receiver, name)
            except FunctionError as err:
                raise self.failure(str(err)) from err
        wanted, function = method
        if len(arguments) != wanted:
            raise self.failure(f"wrong number of args for {name}: want {wanted} got {len(arguments)}")
        return function(receiver, *(self._checked(argument, Parameter.STRING) for argument in arguments))

    def _start(self, node: Field | Variable | Chain, dot: Value) -> tuple[Value, tuple[str, ...]]:
        if isinstance(node, Field):
            return dot, node.names
        if isinstance(node, Chain):
            if isinstance(node.operand, Constant) and node.operand.value is None:
                raise self.failure(f"indirection through explicit nil in {node}")
            return self._operand(node.operand, dot), node.fields
        try:
            return self.variables.get(node.name), node.fields
        except KeyError as err:
            raise self.failure(f"undefined variable: {node.name}") from err

    def _call(self, name: Name, node: Place, arguments: Sequence[Operand], dot: Value, final: Value) -> Value:
        self.at(name)
        function = FUNCTIONS[name.name]
        self._count(name, function, len(arguments), final)
        if name.name in ("and", "or"):
            return self._logic(arguments, dot, final, stops_at=name.name == "or")
        wanted = [*function.parameters, *[function.rest or Parameter.ANY] * (len(arguments) + 1)]
        given = [self._argument(argument, kind, dot) for argument, kind in zip(arguments, wanted, strict=False)]
        if final is not _MISSING:
            given.append(self._checked(final, wanted[len(given)]))
        if function.looks_around:
            self.at(node, _QUERY_STEPS)
            given.insert(0, self._around)
        try:
            value = function.call(*given)
        except FunctionError as err:
            self.at(node)
            raise self.failure(f"error calling {name.name}: {err}") from err
        return self._affordable(value)

    def _count(self, name: Name, function: Function, arguments: int, final: Value) -> None:
        given = arguments + (final is not _MISSING)
        wanted = len(function.parameters)
        if function.rest is not None and given < wanted:
            raise self.failure(f"wrong number of args for {name}: want at least {wanted} got {arguments}")
        if function.rest is None and given != wanted:
            raise self.failure(f"wrong number of args for {name}: want {wanted} got {given}")

    def _logic(self, arguments: Sequence[Operand], dot: Value, final: Value, *, stops_at: bool) -> Value:
        """Return the argument that decides an `and` or an `or`; those after it are not looked at."""
        value: Value = None
        for argument in arguments:
            value = self._operand(argument, dot)
            if is_true(value) is stops_at:
                return value
        return value if final is _MISSING else final

    def _argument(self, operand: Operand, kind: Parameter, dot: Value) -> Value:
        if isinstance(operand, Constant):
            self.at(operand)
            return self._constant(operand, kind)
        return self._checked(self._operand(operand, dot), kind)

    def _constant(self, operand: Constant, kind: Parameter) -> Value:
        if kind is Parameter.ANY:
            return operand.value
        if operand.value is None:
            raise self.failure(f"cannot assign nil to {kind}")
        if kind is not Parameter.STRING:
            raise self.failure(f"can't handle {operand} for arg of type {kind}")
        if not isinstance(operand.value, str):
            raise self.failure(f"expected string; found {operand}")
        return operand.value

    def _checked(self, value: Value, kind: Parameter) -> Value:
        if kind is Parameter.ANY or isinstance(value, _PYTHON[kind]):
            return value
        if value is None:
            raise self.failure(f"invalid value; expected {kind}")
        raise self.failure(f"wrong type for value; expected {kind}; got {type_name(value)}")

    def _affordable(self, value: Value) -> Value:
        if isinstance(value, str):
            if len(value) > _LONGEST:
                raise self.failure(f"a text is longer than {_LONGEST} characters")
            self._steps += len(value) // _STEP_CHARACTERS
        return value


_PYTHON: dict[Parameter, type] = {
    Parameter.STRING: str,
    Parameter.SAMPLE: QuerySample,
    Parameter.RESULT: QueryResult,
}
