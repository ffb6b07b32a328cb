"""What the daemon's probes would say of a host, written as the series that rules read."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from monitor.model.instant import MINUTE, SECOND, Duration, Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.storage.column import Block, Column
from monitor.storage.window import Window
from tests.incidents.hosts import Life, Reply

_PREFIX = "vllm_monitor_target_"
_TIMEOUT: Duration = 5 * SECOND
_RESULTS = ("ok", "refused", "timeout", "unavailable", "error")
_CONFIG = re.compile(r"^\S*cache_config_info\{(.*)\} 1", re.MULTILINE)
_PAIR = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass
class Probing:
    """Asks a host what its page does not show. `labels` are the target's own."""

    life: Life
    labels: Labels
    window: Window
    every: Duration = 15 * SECOND
    block: Block = field(init=False)
    _present: Sequence[Column] = ()

    def __post_init__(self) -> None:
        self.block = self.window.block(("probe", self.labels))

    def probe(self, at: Instant) -> None:
        """Write a row; between two probes the last answers stand."""
        if at % min(self.every, MINUTE) and self.block.newest_time is not None:
            values = [column.view[0][-1] for column in self._present]
            self.block.append(at, self._present, values)
            return
        samples = list(self._samples(at))
        self._present = [self.block.column(self._series(name, labels)) for name, labels, _ in samples]
        self.block.append(at, self._present, [value for *_, value in samples])

    def _series(self, name: str, labels: dict[str, str]) -> Labels:
        return self.labels.with_({METRIC_NAME: _PREFIX + name, **labels})

    def _samples(self, at: Instant) -> Iterator[tuple[str, dict[str, str], float]]:
        health = _result(self.life.get("/health", at))
        for result in _RESULTS:
            yield "health", {"result": result}, float(result == health)
        yield "health_up", {}, float(health == "ok")
        version = self.life.get("/version", at)
        if version.status == HTTPStatus.OK:
            yield "version_info", {"version": json.loads(version.body)["version"]}, 1.0
        load = self.life.get("/load", at)
        if load.status == HTTPStatus.OK:
            yield "server_load", {}, float(json.loads(load.body)["server_load"])
        yield from self._models(at)

    def _models(self, at: Instant) -> Iterator[tuple[str, dict[str, str], float]]:
        models = self.life.get("/v1/models", at)
        if models.status == HTTPStatus.OK:
            longest = {model["id"]: model["max_model_len"] for model in json.loads(models.body)["data"]}
            for model, tokens in longest.items():
                yield "max_model_len", {"model_name": model}, float(tokens)
            yield from self._capacity(at, max(longest.values()))

    def _capacity(self, at: Instant, longest: int) -> Iterator[tuple[str, dict[str, str], float]]:
        page = self.life.get("/metrics", at)
        found = [dict(_PAIR.findall(text)) for text in _CONFIG.findall(page.body)]
        for config in found:
            engine = {"engine": config["engine"]} if "engine" in config else {}
            tokens = float(config["num_gpu_blocks"]) * float(config["block_size"]) / len(found)
            yield "kv_cache_tokens", engine, float(config.get("kv_cache_size_tokens", tokens))
            yield "max_concurrency", engine, float(config.get("kv_cache_max_concurrency", tokens / longest))


def _result(reply: Reply) -> str:
    if reply.status is None:
        return "refused"
    if reply.delay >= _TIMEOUT:
        return "timeout"
    return {HTTPStatus.OK: "ok", HTTPStatus.SERVICE_UNAVAILABLE: "unavailable"}.get(HTTPStatus(reply.status), "error")
