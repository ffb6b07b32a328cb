"""
Reads {objects, versions} and writes a list of what is wrong with them, by Kubernetes' own schemas.

Strict: a field that Kubernetes does not know is wrong. So is a kind without a schema: not to know is no pass.
"""

import json
import sys
from functools import cache
from typing import Any

from kubernetes_validate import SchemaNotFoundError, ValidationError, utils, validate

# Two megabytes of definitions, read again for every object.
utils.schema_contents = cache(utils.schema_contents)


def problems(question: dict[str, Any]) -> list[str]:
    found = []
    for version in question["versions"]:
        for one in question["objects"]:
            where = f"{version}: {one['kind']} {one['metadata']['name']}"
            try:
                used = validate(one, version, strict=True)
            except ValidationError as err:
                found.append(f"{where}: {'.'.join(map(str, err.absolute_path))}: {err.message[:300]}")
            except SchemaNotFoundError as err:
                found.append(f"{where}: {err.message}")
            else:
                # For a version that it does not have it takes the next one before.
                found += [] if used == version else [f"{where}: judged by {used}"]
    return found


json.dump(problems(json.load(sys.stdin)), sys.stdout)
