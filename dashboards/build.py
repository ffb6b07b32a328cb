"""`python -m dashboards.build` writes the dashboards beside itself; with `--check` it fails when one is out of date."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from grafana_foundation_sdk.builders.dashboard import Dashboard
from grafana_foundation_sdk.cog.encoder import JSONEncoder

from dashboards.alerting import alerting
from dashboards.capacity import capacity
from dashboards.engine import engine
from dashboards.fleet import fleet
from dashboards.overview import overview
from dashboards.slo import slo

HERE = Path(__file__).parent
PAGES = (overview, engine, capacity, fleet, slo, alerting)
# What Grafana 11.6 writes. Later servers migrate it up; a higher number would not be migrated down.
SCHEMA_VERSION = 41
# The SDK writes these everywhere; they belong to interval variables and to the menus of Grafana 13.
SURPLUS = ("auto", "auto_count", "auto_min", "placement")


def files() -> dict[str, str]:
    """Return the text of every dashboard by file name."""
    return {f"vllm-{page.name}.json": text(page.build()) for page in (build() for build in PAGES)}


def text(builder: Dashboard) -> str:
    """Return a dashboard as JSON that does not change unless its contents do: sorted keys, ids in order of place."""
    page: dict[str, Any] = json.loads(JSONEncoder().encode(builder.build()))
    page["schemaVersion"] = SCHEMA_VERSION
    for number, panel in enumerate(page["panels"], start=1):
        panel["id"] = number
    links = [link for panel in page["panels"] for link in panel.get("links", [])]
    for part in (*page["templating"]["list"], *page["annotations"]["list"], *page["links"], *links):
        for key in SURPLUS:
            part.pop(key, None)
    return json.dumps(page, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m dashboards.build", description=__doc__)
    options.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is out of date")
    check = options.parse_args().check
    written = files()
    present = {path.name: path.read_text() for path in HERE.glob("*.json")}
    stale = sorted(name for name in written.keys() | present.keys() if written.get(name) != present.get(name))
    for name in stale:
        if check:
            print(f"{HERE.name}/{name} is not what `python -m dashboards.build` writes", file=sys.stderr)
        elif name in written:
            (HERE / name).write_text(written[name])
        else:
            (HERE / name).unlink()
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
