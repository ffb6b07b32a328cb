"""Serves a simulator's answers on a loopback port."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, SimpleQueue
from socket import SO_REUSEADDR, SOL_SOCKET, socket
from threading import Event, Lock, Thread
from typing import Self

from monitor.model.instant import to_seconds
from monitor.simulator.endpoints import NOT_FOUND, Answer, Question
from monitor.simulator.simulator import RefusedError, Simulator

_PIECES = 20
_LONGEST_QUESTION = 1024 * 1024
# How often a closing listener looks whether it should.
_POLL_SECONDS = 0.02


class SimulatedServer:
    """
    The simulator behind HTTP.

    The socket follows the scenario: while nobody listens there, connections are refused here, and afterwards accepted
    on the same port again. Usable as a context manager. `start()` raises OSError when the port is taken.
    """

    def __init__(self, simulator: Simulator, host: str = "127.0.0.1", port: int = 0) -> None:
        self.simulator = simulator
        self._host = host
        self._port = port
        self._stopping = Event()
        self._lock = Lock()
        # Bound and never listening: nobody else is given the port while the scenario refuses.
        self._holder: socket | None = None
        self._listener: ThreadingHTTPServer | None = None
        self._thread: Thread | None = None

    @property
    def port(self) -> int:
        """The port; 0 until the first start, unless it was chosen."""
        return self._port

    @property
    def url(self) -> str:
        return f"http://{self._host}:{self._port}"

    def start(self) -> None:
        # Opened in any case, so that the port is known and ours even if the scenario begins with a refusal.
        self._stopping.clear()
        with self._lock:
            holder = self._holder or _bound(self._host, self._port)
            self._port = holder.getsockname()[1]
            try:
                self._open()
            except OSError:
                holder.close()
                raise
            self._holder = holder
        self.simulator.watch(self._follow)

    def stop(self) -> None:
        """Close the port and let answers in progress go."""
        self._stopping.set()
        self.simulator.watch(lambda _listening: None)
        with self._lock:
            self._close()
            if self._holder is not None:
                self._holder.close()
                self._holder = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _follow(self, listening: bool) -> None:  # noqa: FBT001 - the one value that changes
        with self._lock:
            # Whoever advances may have been on the way here when it was stopped.
            if self._stopping.is_set():
                return
            if listening and self._listener is None:
                self._open()
            elif not listening:
                self._close()

    def _open(self) -> None:
        if self._listener is not None:
            return
        listener = _Listener((self._host, self._port), _Handler)
        listener.simulator, listener.stopping = self.simulator, self._stopping
        self._listener = listener
        self._thread = Thread(target=listener.serve_forever, args=(_POLL_SECONDS,), name="simulated-vllm", daemon=True)
        self._thread.start()

    def _close(self) -> None:
        listener, thread = self._listener, self._thread
        self._listener = self._thread = None
        if listener is not None and thread is not None:
            listener.shutdown()
            listener.server_close()
            thread.join()


def _bound(host: str, port: int) -> socket:
    """Return a socket on an address, beside which another one may be bound, and listen. Raises OSError."""
    holder = socket()
    try:
        holder.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        holder.bind((host, port))
    except OSError:
        holder.close()
        raise
    return holder


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    # Answers that drip must not hold up the closing of the port.
    block_on_close = False
    simulator: Simulator
    stopping: Event


class _Handler(BaseHTTPRequestHandler):
    server: _Listener
    server_version = "uvicorn"
    sys_version = ""
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        try:
            answer = self.server.simulator.answer(self.path.partition("?")[0], self._key())
        except RefusedError:
            # It was closed between the connection and the question.
            self.close_connection = True
            return
        self._send(answer)

    def do_POST(self) -> None:
        """Take a completion into the engine and wait for its end."""
        length = self.headers.get("Content-Length", "")
        body = self.rfile.read(min(int(length) if length.isdigit() else 0, _LONGEST_QUESTION))
        question = Question.of(body)
        if self.path != "/v1/completions" or question is None:
            self._send(NOT_FOUND)
            return
        answers: SimpleQueue[Answer] = SimpleQueue()
        try:
            self.server.simulator.complete(question, answers.put, self._key())
        except RefusedError:
            self.close_connection = True
            return
        answer = self._waited_for(answers)
        if answer is not None and answer.status:
            self._send(answer)
        self.close_connection = True

    def _waited_for(self, answers: "SimpleQueue[Answer]") -> Answer | None:
        while not self.server.stopping.is_set():
            try:
                return answers.get(timeout=_POLL_SECONDS)
            except Empty:
                continue
        return None

    def _key(self) -> str:
        return self.headers.get("Authorization", "").removeprefix("Bearer ")

    def _send(self, answer: Answer) -> None:
        body = answer.body.encode()
        if answer.delay:
            self.server.stopping.wait(to_seconds(answer.delay))
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", answer.content_type)
        # A connection that outlived the port would answer where vLLM refuses.
        self.send_header("Connection", "close")
        self.end_headers()
        self._write(body, to_seconds(answer.drip))

    def _write(self, body: bytes, pause: float) -> None:
        size = len(body) if not pause else -(-len(body) // _PIECES)
        try:
            for begin in range(0, len(body), size or 1):
                if begin:
                    self.server.stopping.wait(pause)
                self.wfile.write(body[begin : begin + size])
        except OSError:
            # The client lost its patience.
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Say nothing: scrapes are not news."""
