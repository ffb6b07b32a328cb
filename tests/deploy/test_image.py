"""The image: small, without root, and with everything that the wheel is built from."""

import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.deploy.dockerfile import Instruction, stages
from tests.deploy.tools import run
from tests.waiting import until

ROOT = Path(__file__).parents[2]
BUILD, FINAL = stages(ROOT / "deploy" / "Dockerfile")


def of(stage: list[Instruction], word: str) -> list[Instruction]:
    return [instruction for instruction in stage if instruction.word == word]


def copied_from_context() -> list[str]:
    return [source for copy in of(BUILD, "COPY") for source in copy.rest.split()[:-1]]


def test_both_stages_stand_on_one_named_base() -> None:
    bases = {stage[0].rest.split()[0] for stage in (BUILD, FINAL)}
    assert bases == {"python:3.13-slim-bookworm"}


def test_the_program_runs_as_a_numbered_user_without_a_shell() -> None:
    assert [user.rest for user in of(FINAL, "USER")] == ["65532:65532"]
    assert of(FINAL, "ENTRYPOINT")[0].exec_form() == ["vllm-monitor"]
    assert of(FINAL, "CMD")[0].exec_form() == ["run"]


def test_buttons_and_graphs_are_there_unless_the_builder_says_otherwise() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (extras,) = of(BUILD, "ARG")
    name, _, given = extras.rest.partition("=")
    assert name == "EXTRAS"
    assert set(given.split(",")) == set(project["optional-dependencies"])
    assert any(f'".[${{{name}}}]"' in run.rest for run in of(BUILD, "RUN"))


def test_the_folder_of_the_state_belongs_to_its_user_and_a_stop_is_a_request() -> None:
    (volume,), (user,) = of(FINAL, "VOLUME"), of(FINAL, "USER")
    (made,) = [step.rest for step in of(FINAL, "RUN") if step.rest.startswith("install -d")]
    (folder,) = of(FINAL, "WORKDIR")
    assert (*user.rest.split(":"), volume.rest) == (
        *re.findall(r"-[og] (\d+)", made),
        f"{folder.rest}/{made.split()[-1]}",
    )
    assert [one.rest for one in of(FINAL, "STOPSIGNAL")] == ["SIGTERM"]


def test_what_matplotlib_finds_out_once_is_kept_where_it_may_write() -> None:
    (volume,) = of(FINAL, "VOLUME")
    assert any(f"MPLCONFIGDIR={volume.rest}/" in env.rest for env in of(FINAL, "ENV"))


def test_nothing_needs_a_builder_newer_than_buildah_1_28() -> None:
    assert not [one for stage in (BUILD, FINAL) for one in stage if "<<" in one.rest or "--link" in one.rest]


def test_the_labels_say_what_it_is_where_it_comes_from_and_under_which_licence() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (label,) = of(FINAL, "LABEL")
    assert f'org.opencontainers.image.description="{project["description"]}"' in label.rest
    assert f'org.opencontainers.image.licenses="{project["license"]}"' in label.rest
    assert 'org.opencontainers.image.source="https://' in label.rest


def test_what_the_wheel_is_made_of_is_copied_and_not_ignored() -> None:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = document["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {"pyproject.toml", document["project"]["readme"], *document["project"]["license-files"]}
    needed |= {*wheel["packages"], *wheel["force-include"]}
    sources = {source.removeprefix("./") for source in copied_from_context()}
    copied = {str(path.relative_to(ROOT)) for source in sources for path in ROOT.glob(source)}
    assert copied == needed
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert lines.index("*") < min(lines.index(f"!{source}") for source in sources)


def test_a_linter_has_nothing_to_say_and_something_of_a_broken_one(tmp_path: Path) -> None:
    path = ROOT / "deploy" / "Dockerfile"
    assert run("hadolint", path).stdout == ""
    broken = tmp_path / "Dockerfile"
    broken.write_text(path.read_text().replace("\nFROM python:3.13-slim-bookworm", "\nFROM python"))
    assert "DL3006" in run("hadolint", broken).stdout


def test_the_image_carries_its_bill_of_materials() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (listed,) = [step.rest for step in of(BUILD, "RUN") if "cyclonedx-py environment" in step.rest]
    # Written into the folder that is carried over, when all is installed.
    assert "--spec-version 1.6" in listed
    (carried,) = [copy.rest.split()[-1] for copy in of(FINAL, "COPY")]
    assert f"--output-file {carried}/sbom.cdx.json" in listed
    assert of(BUILD, "RUN")[-1].rest == listed
    assert carried == f"/opt/{project['name']}"


@contextmanager
def listening(status: int) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/-/healthy" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (404, False), (503, False)])
def test_the_health_check_asks_the_daemon_itself(status: int, *, healthy: bool) -> None:
    program, command = of(FINAL, "HEALTHCHECK")[0].exec_form()
    installed = Path(sys.executable).with_name(program)
    with listening(status) as port:

        def is_healthy() -> bool:
            environment = {"VLLM_MONITOR_LISTEN": f"127.0.0.1:{port}"}
            return (
                subprocess.run([installed, command], env=environment, capture_output=True, check=False).returncode == 0
            )

        # It waits three seconds for the answer; a machine that stands still as long is asked again.
        assert until(is_healthy, within=20) if healthy else not is_healthy()
