"""
Where the validators of deploy/ are: in `.deploy-tools` of the repository, or where `VLLM_MONITOR_DEPLOY_TOOLS` points.

In CI (`CI` is set) a missing one is a failure; elsewhere a skip that says what to do.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
TOOLS = Path(os.environ.get("VLLM_MONITOR_DEPLOY_TOOLS", ROOT / ".deploy-tools"))
INSIDE = Path(__file__).parent / "inside"
HOW = "make .deploy-tools/.ready"


def tool(program: str, how: str = HOW, *, path: str | None = str(TOOLS / "bin")) -> str:
    """Return where `program` is; skip the test, or fail in CI, when it is not there."""
    found = shutil.which(program, path=path)
    if found is not None:
        return found
    message = f"{program} is missing: {how}"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def run(program: str, *arguments: str | Path, given: str = "", cwd: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    """Run a validator to its end."""
    command = [tool(program), *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False, cwd=cwd)


def answered(script: str, question: object) -> Any:
    """Return what a script of `inside/`, run with the packages of the validators, makes of a question in JSON."""
    done = run("python", INSIDE / script, given=json.dumps(question))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def kubernetes_says(objects: Iterable[Mapping[str, Any]], *versions: str) -> list[str]:
    """Return what is wrong with objects, by the schemas of these versions of Kubernetes; of each its first mistake."""
    found: list[str] = answered("kubernetes_schemas.py", {"objects": list(objects), "versions": versions})
    return found
