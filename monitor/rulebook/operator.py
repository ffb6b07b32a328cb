"""Rule files as objects of the Prometheus Operator."""

from collections.abc import Mapping
from textwrap import indent

SUFFIX = ".rules.yaml"
# Lower-case letters, digits and hyphens: what Kubernetes takes for a name.
PREFIX = "vllm-rules-"


def prometheus_rules(files: Mapping[str, str]) -> str:
    """
    Return a PrometheusRule for each rule file, in one text.

    The text of a file stands in it as it is, comments too: what Prometheus reads is what the operator passes on.
    """
    return "".join(_prometheus_rule(name.removesuffix(SUFFIX), text) for name, text in files.items())


def _prometheus_rule(stem: str, text: str) -> str:
    return f"""\
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: {PREFIX}{stem.replace("_", "-")}
  labels:
    app.kubernetes.io/name: vllm-monitor
spec:
{indent(text, "  ")}"""
