"""What the rules use: a template is read once and expanded at every evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass

from monitor.model.instant import Instant
from monitor.model.labels import EMPTY, Labels
from monitor.template.evaluate import Evaluator, Failure
from monitor.template.execute import Executor
from monitor.template.functions import FUNCTIONS, Query, Surroundings
from monitor.template.lexer import OPEN
from monitor.template.nodes import Text, Tree
from monitor.template.parser import Parser
from monitor.template.values import Record, Value
from monitor.template.variables import Variables

# The variables of every template. Prometheus writes them before the user's text, on its first line, so that the
# columns of its error messages count them.
_VARIABLES: dict[str, str] = {
    "$labels": "Labels",
    "$externalLabels": "ExternalLabels",
    "$externalURL": "ExternalURL",
    "$value": "Value",
}
_PRELUDE = "".join(f"{{{{{name} := .{field}}}}}" for name, field in _VARIABLES.items())


@dataclass(frozen=True, slots=True)
class TemplateData:
    """
    What a template may read.

    `labels` and `value` are those of one element of the rule's expression, `query` evaluates an expression at `now`
    (None: queries fail). Whatever it raises becomes the text of the error.
    """

    labels: Labels
    value: float
    external_labels: Labels = EMPTY
    external_url: str = ""
    query: Query | None = None
    now: Instant = 0


@dataclass(frozen=True, slots=True)
class Template:
    """
    A text that was read by `parse`.

    `name` stands in error messages; `tree` is None for plain text, which costs nothing to expand.
    """

    text: str
    name: str
    tree: Tree | None

    def expand(self, data: TemplateData) -> str:
        """
        Return the text for one element.

        Never raises: an error becomes the text `<error expanding template: …>`, because an alert with a bad
        description is better than no alert.
        """
        if self.tree is None:
            return self.text
        dot = Record(_fields(data))
        variables = {name: dot.fields[field] for name, field in _VARIABLES.items()}
        around = Surroundings(data.query, data.external_url, data.now)
        try:
            evaluator = Evaluator(Variables(dot, variables), around, Text(0, ""))
            return Executor(self.tree, evaluator).run(dot)
        except Failure as failure:
            return f"<error expanding template: error executing template {self.name}: {self._explain(failure)}>"

    def _explain(self, failure: Failure) -> str:
        before = self.text[: failure.place.position]
        line = before.count("\n") + 1
        column = len(before[before.rfind("\n") + 1 :].encode("utf-8", "replace")) + (len(_PRELUDE) if line == 1 else 0)
        executing = failure.template or self.name
        return f'template: {self.name}:{line}:{column}: executing "{executing}" at <{failure.place}>: {failure.message}'


def parse(text: str, name: str = "template") -> Template:
    """
    Return the template of a label or an annotation; raises TemplateError.

    `name` is what Prometheus would call it: `__alert_` and the name of the rule.
    """
    if OPEN not in text:
        return Template(text, name, None)
    return Template(text, name, Parser(text, FUNCTIONS, tuple(_VARIABLES)).parse())


def _fields(data: TemplateData) -> Mapping[str, Value]:
    return {
        "Labels": data.labels,
        "ExternalLabels": data.external_labels,
        "ExternalURL": data.external_url,
        "Value": data.value,
    }
