"""Why a probe has nothing to say."""

from monitor.scrape.errors import Reason


class ProbeError(Exception):
    """
    A question was not answered as vLLM answers it.

    `answered`: something was said, so that what was known before does not hold any more. The message names no secret.
    """

    def __init__(self, message: str, *, reason: Reason, answered: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.answered = answered
