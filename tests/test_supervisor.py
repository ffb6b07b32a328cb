"""What systemd hears: a real socket, and a real daemon behind it."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.clock import SystemClock, monotonic_microseconds
from monitor.model.instant import SECOND
from monitor.simulator.scenarios import OVERLOAD
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator
from monitor.supervisor import NOBODY, Feeding, Supervisor
from tests.acceptance.daemon import daemon


class Systemd:
    """The other end of NOTIFY_SOCKET."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address)
        self._socket.settimeout(60)

    def hears(self) -> str:
        return self._socket.recv(4096).decode()

    def hears_up_to(self, last: str) -> list[str]:
        """Return all that comes up to this, and this."""
        heard = [self.hears()]
        while heard[-1] != last:
            heard.append(self.hears())
        return heard

    def hears_nothing(self) -> bool:
        self._socket.setblocking(False)
        try:
            self._socket.recv(4096)
        except BlockingIOError:
            return True
        return False

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Systemd]:
    listening = Systemd(str(tmp_path / "notify"))
    yield listening
    listening.close()


def test_each_turn_of_its_life_is_one_datagram(systemd: Systemd, tmp_path: Path) -> None:
    supervisor = Supervisor.taken_from({"NOTIFY_SOCKET": str(tmp_path / "notify")})
    supervisor.ready()
    before = monotonic_microseconds()
    supervisor.reloading()
    supervisor.stopping()
    supervisor.alive()
    assert systemd.hears() == "READY=1"
    reloading, at = systemd.hears().split("\nMONOTONIC_USEC=")
    assert reloading == "RELOADING=1"
    assert before <= int(at) <= monotonic_microseconds()
    assert [systemd.hears(), systemd.hears()] == ["STOPPING=1", "WATCHDOG=1"]


def test_an_abstract_address_is_found() -> None:
    listening = Systemd(f"\0vllm-monitor-{os.getpid()}")
    Supervisor.taken_from({"NOTIFY_SOCKET": f"@vllm-monitor-{os.getpid()}"}).ready()
    assert listening.hears() == "READY=1"
    listening.close()


OURS = str(os.getpid())


@pytest.mark.parametrize(
    ("environment", "due"),
    [
        pytest.param({"WATCHDOG_USEC": "300000000"}, 100 * SECOND, id="three-times-within-the-limit"),
        pytest.param({"WATCHDOG_USEC": "300000000", "WATCHDOG_PID": OURS}, 100 * SECOND, id="meant-for-us"),
        pytest.param({"WATCHDOG_USEC": "300000000", "WATCHDOG_PID": "1"}, 0, id="meant-for-another-process"),
        pytest.param({"WATCHDOG_USEC": "1500000"}, SECOND, id="not-more-often-than-a-second"),
        pytest.param({"WATCHDOG_USEC": "soon"}, 0, id="no-number"),
        pytest.param({"WATCHDOG_USEC": "0"}, 0, id="none"),
        pytest.param({}, 0, id="not-set"),
    ],
)
def test_the_sign_of_life_is_due_when_the_unit_says_so(environment: dict[str, str], due: int) -> None:
    assert Supervisor.taken_from({"NOTIFY_SOCKET": "/run/notify", **environment}).watchdog == due


def test_no_child_speaks_in_its_name() -> None:
    environment = {"NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "1", "WATCHDOG_PID": "2", "PATH": "/bin"}
    Supervisor.taken_from(environment)
    assert environment == {"PATH": "/bin"}


def test_a_socket_that_is_gone_is_a_line_in_the_log_and_no_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Supervisor(str(tmp_path / "gone")).ready()
    NOBODY.ready()
    assert [record.message for record in caplog.records if record.name == "monitor.supervisor"] == [
        "systemd cannot be told"
    ]


def test_the_sign_of_life_stays_away_while_the_rules_stand_still(
    systemd: Systemd, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    going = [True, False, False, False, True]
    feeding = Feeding(Supervisor(str(tmp_path / "notify"), SECOND), lambda now: going[now])
    heard = []
    for now in range(len(going)):
        feeding.tick(now)
        heard.append(not systemd.hears_nothing())
    assert heard == going
    assert [record.message for record in caplog.records if record.name == "monitor.supervisor"] == [
        "no sign of life to systemd: rules or scrapes stand still"
    ]


def test_a_daemon_tells_its_life(systemd: Systemd, tmp_path: Path) -> None:
    start = SystemClock().now()
    with (
        SimulatedServer(Simulator(OVERLOAD, start=start)) as vllm,
        daemon(
            tmp_path,
            *("--target", vllm.url, "--listen", "127.0.0.1:0"),
            NOTIFY_SOCKET=str(tmp_path / "notify"),
            WATCHDOG_USEC="3000000",
        ) as running,
    ):
        # The ticks of the timetable have begun, and come from another thread.
        assert set(systemd.hears_up_to("READY=1")) <= {"WATCHDOG=1", "READY=1"}
        # After the first round.
        systemd.hears_up_to("WATCHDOG=1")
        running.process.send_signal(signal.SIGHUP)
        heard = systemd.hears_up_to("READY=1")
        assert any(line.startswith("RELOADING=1\nMONOTONIC_USEC=") for line in heard)
        assert running.end()[0] == 0
        assert set(systemd.hears_up_to("STOPPING=1")) <= {"WATCHDOG=1", "STOPPING=1"}


def test_a_server_that_does_not_answer_is_no_reason_to_start_the_daemon_anew(systemd: Systemd, tmp_path: Path) -> None:
    (tmp_path / "monitor.yaml").write_text(
        """\
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
scrape_configs: [{job_name: vllm, probe: {enabled: false}, static_configs: [{targets: ["127.0.0.1:9"]}]}]
rule_files: [rules.yaml]
receivers: [{name: nobody}]
web: {listen: "127.0.0.1:0"}
"""
    )
    (tmp_path / "rules.yaml").write_text("groups: [{name: g, rules: [{alert: Down, expr: up == 0}]}]\n")
    variables = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "3000000"}
    with daemon(tmp_path, "--config", str(tmp_path / "monitor.yaml"), **variables):
        heard = systemd.hears_up_to("READY=1")
        # Long after its scrapes have begun to fail.
        for _ in range(4):
            heard += systemd.hears_up_to("WATCHDOG=1")
        assert set(heard) == {"READY=1", "WATCHDOG=1"}
