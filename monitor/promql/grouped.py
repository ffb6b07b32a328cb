"""Aggregations: from the operator, its clause and its arguments to a node."""

from typing import Any

import promql_parser as library

from monitor.promql.aggregate import AGGREGATORS, Aggregation, Grouping, Quantile
from monitor.promql.error import refused
from monitor.promql.failing import Failing
from monitor.promql.node import VectorNode
from monitor.promql.ranking import CountValues, Ranking
from monitor.promql.signature import Arguments


def aggregation(name: str, modifier: Any, given: Arguments) -> VectorNode:
    """Return the node of an aggregation; `modifier` is the library's by or without clause. Raises PromqlError."""
    grouping = Grouping()
    if modifier is not None:
        grouping = Grouping(frozenset(modifier.labels), without=modifier.type == library.AggModifierType.Without)
    if name in AGGREGATORS:
        return Aggregation(AGGREGATORS[name], grouping, given.vector(0))
    if name in ("topk", "bottomk"):
        return Ranking(given.scalar(0), grouping, given.vector(1), top=name == "topk")
    if name == "quantile":
        return Quantile(given.scalar(0), grouping, given.vector(1), given.site.argument(0, inside=True))
    if name == "count_values":
        label = given.string(0)
        if not label:
            return Failing(f'invalid label name "{label}"', given.vector(1))
        return CountValues(label, grouping, given.vector(1))
    raise refused(f"{name}() is experimental in Prometheus 3 and not supported", given.site.position)
