"""PromQL: parsed by promql-parser, evaluated here, with the semantics of Prometheus 3."""

from monitor.promql.engine import Engine
from monitor.promql.error import ErrorKind, PromqlError
from monitor.promql.evaluator import Evaluator, Switched
from monitor.promql.parse import parse
from monitor.promql.plan import Plan, Selector, ValueType
from monitor.promql.result import Matrix, Result, Scalar, Series, String, Vector
from monitor.promql.run import Limits, Queryable

__all__ = [
    "Engine",
    "ErrorKind",
    "Evaluator",
    "Limits",
    "Matrix",
    "Plan",
    "PromqlError",
    "Queryable",
    "Result",
    "Scalar",
    "Selector",
    "Series",
    "String",
    "Switched",
    "ValueType",
    "Vector",
    "parse",
]
