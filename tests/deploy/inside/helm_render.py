"""
Reads {chart, cases: [{values, name, namespace}]} and writes for each case what Helm makes of it.

A case is {error} or {files: {template: text}}. `lint` is what `helm lint --strict` says of the chart.
"""

import json
import sys

from helm_python import Chart, chart
from helm_python.errors import HelmError

question = json.load(sys.stdin)
cases = []
with Chart.load(question["chart"]) as loaded:
    for case in question["cases"]:
        try:
            release = {"name": case.get("name", "vllm-monitor"), "namespace": case.get("namespace", "vllm")}
            files = loaded.render(values=case["values"], **release)
        except HelmError as err:
            cases.append({"error": str(err)})
        else:
            cases.append({"files": files})
json.dump({"lint": chart.lint(question["chart"]), "cases": cases}, sys.stdout, default=str)
