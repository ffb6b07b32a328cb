"""From the probe settings of a job to what asks its targets over HTTP."""

from collections.abc import Iterator
from functools import partial

from monitor.model.target import Target
from monitor.probe.client import Client
from monitor.probe.errands import Exposure, OneToken
from monitor.probe.loop import ProbeLoop
from monitor.probe.options import ProbeOptions
from monitor.probe.questions import Ask, Questions
from monitor.scrape.target import ScrapeLoop
from monitor.storage.window import Window


def prober_of(target: Target, options: ProbeOptions, window: Window, loop: ScrapeLoop) -> ProbeLoop:
    """Return what probes `target`, whose page `loop` scrapes."""
    ask = Questions(partial(Client, target.url, options.scrape, options.timeout))
    errands = tuple(_errands(target, options))
    return ProbeLoop(target, options, window, ask, errands=errands, page=lambda: loop.page)


def _errands(target: Target, options: ProbeOptions) -> Iterator[Ask]:
    if options.exposure is not None:
        anonymous = partial(Client, target.url, options.scrape, options.timeout, anonymous=True)
        yield Exposure(anonymous, options.paths)
    if options.canary is not None:
        yield OneToken(partial(Client, target.url, options.scrape, options.canary.timeout), options.canary)
