"""One server by its URL: how it is asked, and what it says of its KV cache."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from monitor.commands.examine import PROBES, fetched
from monitor.commands.usage import UsageError
from monitor.config.flags import Flags, from_flags
from monitor.jobs import options_of, targets_of
from monitor.model.target import Target
from monitor.probe.client import Client
from monitor.probe.options import Probe
from monitor.probe.page import is_config
from monitor.probe.pools import pools_of
from monitor.probe.questions import Questions
from monitor.probe.readings import NOTHING, Model, Pool
from monitor.scrape.options import ScrapeOptions
from monitor.scrape.shape import Page
from monitor.vllm.families import PREFIXES
from monitor.yamldoc.mistake import DocumentError

LOCAL = "http://127.0.0.1:8000"
_PROMPTS = frozenset(prefix + "request_prompt_tokens_bucket" for prefix in PREFIXES)


@dataclass(frozen=True, slots=True)
class Server:
    """A target with how it is scraped."""

    target: Target
    options: ScrapeOptions


@dataclass(frozen=True, slots=True)
class Told:
    """
    What a server says of itself.

    `prompts` are how many had up to so many tokens, of all its engines and models since it started.
    """

    version: str
    models: tuple[Model, ...]
    pools: tuple[Pool, ...]
    prompts: Mapping[float, float] = field(default_factory=dict)


def server(url: str) -> Server:
    """Return the server of a URL. Raises UsageError when it is none."""
    try:
        (job,) = from_flags(Flags(targets=(url,)), {}).scrape_configs
    except DocumentError as err:
        raise UsageError(str(err).replace("--target", "--url")) from err
    (target,) = targets_of(job)
    return Server(target, options_of(job))


def told(asked: Server) -> Told:
    """Ask a server. Raises ScrapeError when its page cannot be had."""
    page = fetched(asked.target, asked.options)
    connect = partial(Client, asked.target.url, asked.options, PROBES)
    readings = Questions(connect)((Probe.VERSION, Probe.MODELS), NOTHING).readings
    configs = [one.labels for one in page.series if is_config(one.labels)]
    return Told(readings.version, readings.models, pools_of(configs, readings.models), _prompts(page))


def _prompts(page: Page) -> Mapping[float, float]:
    found: dict[float, float] = {}
    for one, value in zip(page.series, page.values, strict=True):
        if one.labels.name in _PROMPTS:
            with contextlib.suppress(ValueError):
                edge = float(one.labels.value("le"))
                found[edge] = found.get(edge, 0.0) + value
    return found
