"""Gives the value of a pipeline, and keeps the variables."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

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
from monitor.template.values import QueryResult, QuerySample, Time, Value, field_of, is_true, type_name

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
    """The variables and the budget of one expansion."""

    def __init__(self, dot: Value, variables: Mapping[str, Value], around: Surroundings) -> None:
        self._variables: list[tuple[str, Value]] = [("$", dot), *variables.items()]
        self._around = around
        self._steps = 0

    def spend(self, place: Place, steps: int = 1) -> None:
        """Count steps; raises Failure when there have been too many."""
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise Failure("the template takes too many steps", place)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Forget, at the end, the variables made inside."""
        known = len(self._variables)
        yield
        del self._variables[known:]

    @contextmanager
    def inside(self, name: str, dot: Value) -> Iterator[None]:
        """Run a named template, which sees nothing but its dot."""
        outside, self._variables = self._variables, [("$", dot)]
        try:
            yield
        except Failure as failure:
            failure.template = failure.template or name
            raise
        self._variables = outside

    def bind(self, pipeline: Pipeline, key: Value, element: Value) -> None:
        """Give the variables of a range their values for one turn."""
        names = pipeline.variables
        values = (element,) if len(names) == 1 else (key, element)
        for name, value in zip(names, values, strict=False):
            self._set(name, value)

    def pipeline(self, pipeline: Pipeline, dot: Value) -> Value:
        """Return the value of a pipeline, which also goes into its variables."""
        value: Value = _MISSING
        for command in pipeline.commands:
            value = self._command(command, dot, value)
        for name in pipeline.variables:
            if pipeline.assigns:
                self._set(name, value)
            else:
                self._variables.append((name, value))
        return value

    def _set(self, name: str, value: Value) -> None:
        for at in range(len(self._variables) - 1, -1, -1):
            if self._variables[at][0] == name:
                self._variables[at] = (name, value)
                return

    def _command(self, command: Command, dot: Value, final: Value) -> Value:
        first, *arguments = command.arguments
        self.spend(command)
        if isinstance(first, Name):
            return self._call(first, command, arguments, dot, final)
        if isinstance(first, Field | Variable | Chain):
            return self._chain(first, arguments, dot, final)
        if arguments or final is not _MISSING:
            raise Failure(f"can't give argument to non-function {first}", first)
        if isinstance(first, Constant) and first.value is None:
            raise Failure("nil is not a command", first)
        return self._operand(first, dot)

    def _operand(self, operand: Operand, dot: Value) -> Value:
        """Return the value of an operand that is given no arguments."""
        self.spend(operand)
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
        receiver, names = self._start(node, dot)
        given = bool(arguments) or final is not _MISSING
        if given and not names:
            raise Failure(f"can't give argument to non-function {node}", node)
        for name in names:
            if isinstance(receiver, Time) and name == "Format":
                raise Failure("Format is not supported; use printf with Year, Month, Day, …", node)
            try:
                receiver = field_of(receiver, name)
            except FunctionError as err:
                raise Failure(str(err), node) from err
        if given:
            raise Failure(f"{names[-1]} is not a method but has arguments", node)
        return receiver

    def _start(self, node: Field | Variable | Chain, dot: Value) -> tuple[Value, tuple[str, ...]]:
        if isinstance(node, Field):
            return dot, node.names
        if isinstance(node, Variable):
            return self._variable(node), node.fields
        if isinstance(node.operand, Constant) and node.operand.value is None:
            raise Failure(f"indirection through explicit nil in {node}", node)
        return self._operand(node.operand, dot), node.fields

    def _variable(self, node: Variable) -> Value:
        for name, value in reversed(self._variables):
            if name == node.name:
                return value
        raise Failure(f"undefined variable: {node.name}", node)

    def _call(self, name: Name, node: Place, arguments: Sequence[Operand], dot: Value, final: Value) -> Value:
        function = FUNCTIONS[name.name]
        self._count(name, function, len(arguments), final)
        if name.name in ("and", "or"):
            return self._logic(arguments, dot, final, stops_at=name.name == "or")
        wanted = [*function.parameters, *[function.rest or Parameter.ANY] * (len(arguments) + 1)]
        given = [self._argument(argument, kind, dot) for argument, kind in zip(arguments, wanted, strict=False)]
        if final is not _MISSING:
            given.append(self._checked(final, wanted[len(given)], name))
        if function.looks_around:
            self.spend(node, _QUERY_STEPS)
            given.insert(0, self._around)
        try:
            value = function.call(*given)
        except FunctionError as err:
            raise Failure(f"error calling {name.name}: {err}", node) from err
        return self._affordable(value, node)

    def _count(self, name: Name, function: Function, arguments: int, final: Value) -> None:
        given = arguments + (final is not _MISSING)
        wanted = len(function.parameters)
        if function.rest is not None and given < wanted:
            raise Failure(f"wrong number of args for {name}: want at least {wanted} got {arguments}", name)
        if function.rest is None and given != wanted:
            raise Failure(f"wrong number of args for {name}: want {wanted} got {given}", name)

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
            return self._constant(operand, kind)
        return self._checked(self._operand(operand, dot), kind, operand)

    def _constant(self, operand: Constant, kind: Parameter) -> Value:
        if kind is Parameter.ANY:
            return operand.value
        if operand.value is None:
            raise Failure(f"cannot assign nil to {kind}", operand)
        if kind is not Parameter.STRING:
            raise Failure(f"can't handle {operand} for arg of type {kind}", operand)
        if not isinstance(operand.value, str):
            raise Failure(f"expected string; found {operand}", operand)
        return operand.value

    def _checked(self, value: Value, kind: Parameter, place: Place) -> Value:
        if kind is Parameter.ANY or isinstance(value, _PYTHON[kind]):
            return value
        if value is None:
            raise Failure(f"invalid value; expected {kind}", place)
        raise Failure(f"wrong type for value; expected {kind}; got {type_name(value)}", place)

    def _affordable(self, value: Value, place: Place) -> Value:
        if isinstance(value, str):
            if len(value) > _LONGEST:
                raise Failure(f"a text is longer than {_LONGEST} characters", place)
            self.spend(place, len(value) // _STEP_CHARACTERS)
        return value


_PYTHON: dict[Parameter, type] = {
    Parameter.STRING: str,
    Parameter.SAMPLE: QuerySample,
    Parameter.RESULT: QueryResult,
}
