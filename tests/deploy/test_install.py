"""
Every command in README.md and docs/install.md is run, or a test that is named beside it stands for it.

`VLLM_MONITOR_INSTALL` set: in a fresh environment, by pip, as a reader would; else with the packages of the checkout.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import requests
import yaml

from monitor.clock import SystemClock
from monitor.simulator.scenarios import OVERLOAD
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator
from tests.deploy.blocks import RUN, UNTIL_READY, Block, blocks
from tests.deploy.published import SOURCE
from tests.deploy.tools import DEPLOY, ROOT
from tests.engines import engine
from tests.ports import free_port
from tests.waiting import until

PAGES = [ROOT / "README.md", ROOT / "docs" / "install.md"]
BLOCKS = [block for page in PAGES for block in blocks(page)]
REALLY = bool(os.environ.get("VLLM_MONITOR_INSTALL"))
# What the short form has from the checkout, not from a package index; and the demo has an acceptance test of its own.
NOT_SHORT = re.compile(r"^(python3 -m venv|venv/bin/pip|git clone|cd vllm-monitor$|venv/bin/vllm-monitor demo$)")


def named(block: Block) -> str:
    return f"{block.page}-{block.heading}-{block.text.split(maxsplit=2)[0]}"


@pytest.mark.parametrize("block", BLOCKS, ids=named)
def test_every_block_is_run_or_has_a_test_that_stands_for_it(block: Block) -> None:
    if block.mark in (RUN, UNTIL_READY):
        return
    assert block.stands_for_it is not None, f"no comment says what becomes of:\n{block.text}"
    standing, why = block.stands_for_it
    targets = (ROOT / "Makefile").read_text()
    for each in standing:
        assert (ROOT / each).is_file() or f"\n{each.removeprefix('make ')}:" in targets, each
    assert why


@pytest.mark.parametrize("block", BLOCKS, ids=named)
def test_every_file_that_a_command_names_is_there(block: Block) -> None:
    written = {f"deploy/compose/{name}" for name in ("slack-webhook", "grafana-password", "alertmanager-token")}
    written |= {f"{DEPLOY.name}/kubernetes/overlays/production-stack/engines/rendered.yaml"}
    for path in set(re.findall(r"\bdeploy/[\w./-]+", block.text)) - written:
        assert (ROOT / path).exists(), path


def test_what_a_reader_writes_into_the_checkout_is_not_seen_by_git() -> None:
    written = {name for block in BLOCKS for name in re.findall(r"> ([\w./-]+)$", block.text, re.MULTILINE)}
    written |= {
        name for block in BLOCKS for name in re.findall(r"(?:--out|-m venv) (?!/)([\w-]+)$", block.text, re.MULTILINE)
    }
    assert {"slack-webhook", "alertmanager-token", "deploy/compose/slack-webhook", "venv"} <= written
    for name in written:
        ignored = subprocess.run(["git", "check-ignore", "--quiet", "--no-index", name], cwd=ROOT, check=False)
        assert ignored.returncode == 0, name


def test_every_value_that_is_set_for_helm_is_one() -> None:
    values = yaml.safe_load((DEPLOY / "helm" / "vllm-monitor" / "values.yaml").read_text())
    settings = [word for block in BLOCKS for word in re.findall(r"--set (\S+)=", block.text) if "install" in block.page]
    paths = [word.split(".") for word in settings if word[0].islower() and "." in word]
    assert paths
    for section, key, *_ in paths:
        assert key in values[section]


class Reader:
    """Somebody who types the commands of a page, one after the other, in a folder of their own."""

    def __init__(self, folder: Path, vllm: str) -> None:
        self._folder = folder
        self._vllm = vllm
        # A clone has the last part of its source's name.
        self._source = folder / "source" / "vllm-monitor"
        self._source.parent.mkdir()
        self._source.symlink_to(ROOT)
        self.address = f"127.0.0.1:{free_port()}"
        tools = {Path(engine(program)).parent for program in ("promtool", "amtool")}
        self._environment = {
            "PATH": ":".join(map(str, [*tools, "/usr/local/bin", "/usr/bin", "/bin"])),
            "HOME": str(folder),
            "VLLM_MONITOR_LISTEN": self.address,
            **{name: value for name, value in os.environ.items() if REALLY and name.startswith(("PIP_", "SSL_"))},
        }

    def command(self, block: Block) -> list[str]:
        """Return how the block is run: with the addresses of this machine, and without telling Slack."""
        text = block.text.replace(SOURCE, str(self._source))
        text = text.replace("127.0.0.1:9109", self.address).replace("http://127.0.0.1:8000", self._vllm)
        text = re.sub(r"(vllm-monitor (?:alerts|query))\b", rf"\1 --url http://{self.address}", text)
        # No such webhook, and nothing that the internet hears of.
        text = re.sub(r"https://hooks\.slack\.com/services/\S*", "http://127.0.0.1:9/services/T0/B0/x", text)
        lines = text.splitlines()
        if not REALLY:
            lines = [line for line in lines if not NOT_SHORT.match(line)]
        if REALLY and "pip install" in text:
            lines.insert(0, f"export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH")
        return ["bash", "-euc", "\n".join(lines)]

    def types(self, block: Block) -> str:
        done = subprocess.run(
            self.command(block),
            cwd=self._folder / "vllm-monitor" if (self._folder / "vllm-monitor").is_dir() else self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, f"{block.text}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    @contextmanager
    def starts(self, block: Block) -> Iterator[None]:
        """Start the server of a block, and end it."""
        log = self._folder / "log"
        with log.open("w") as output:
            process = subprocess.Popen(
                self.command(block),
                cwd=self._folder / "vllm-monitor",
                env=self._environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        try:
            until(self._is_ready, within=90)
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=120)

    def _is_ready(self) -> bool:
        try:
            return requests.get(f"http://{self.address}/-/ready", timeout=5).ok
        except requests.RequestException:
            return False


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    with SimulatedServer(Simulator(OVERLOAD, start=SystemClock().now())) as vllm:
        yield Reader(tmp_path, vllm.url)


def checkout(folder: Path) -> None:
    """Make the folder that a reader is in: what a clone has, and our packages as its environment."""
    clone = folder / "vllm-monitor"
    clone.mkdir()
    for name in ("deploy", "rules", "dashboards"):
        (clone / name).symlink_to(ROOT / name)
    (clone / "venv").mkdir()
    (clone / "venv" / "bin").symlink_to(Path(sys.executable).parent)


def test_a_command_that_fails_is_told_with_what_it_said(reader: Reader) -> None:
    for text in ("amtool check-config gone.yml\n", "false\ntrue\n"):
        with pytest.raises(AssertionError, match=text.split()[0]):
            reader.types(Block("page", "heading", RUN, text))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_reader_who_types_the_commands_gets_there(page: Path, reader: Reader, tmp_path: Path) -> None:
    # The README's reader has a clone, and has made the environment as its first step says.
    if not REALLY or page.name == "README.md":
        checkout(tmp_path)
    with ExitStack() as serving:
        for block in (block for block in BLOCKS if block.page == page.name):
            if block.mark == UNTIL_READY:
                serving.enter_context(reader.starts(block))
            elif block.mark == RUN:
                reader.types(block)
