"""What a request to Alertmanager's API v2 asks for: its query parameters, and what was posted."""

from flask import request

from monitor.dispatch.matchers import MatcherError, parse_matchers
from monitor.model.matcher import Matcher, MatchError, compile_anchored
from monitor.web.alertmanager_views import ShownAlert
from monitor.web.json_fields import BodyError

# The words that go-openapi takes for true; everything else is false.
_TRUE = frozenset(("true", "1", "yes", "ok", "y", "on", "selected", "checked", "t", "enabled"))


class RefusedError(Exception):
    """A request of the right form that makes no sense."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Filter:
    """The query parameters that alerts are chosen by. Raises RefusedError, MatcherError, MatchError."""

    def __init__(self) -> None:
        self._matchers = matchers()
        pattern = request.args.get("receiver")
        try:
            self._receiver = compile_anchored(pattern) if pattern else None
        except MatchError as err:
            raise RefusedError(f"failed to parse receiver param: {err}") from err
        self._active, self._silenced, self._inhibited = map(flag, ("active", "silenced", "inhibited"))

    def takes(self, shown: ShownAlert) -> bool:
        """Say whether the alert is of a kind that is wanted, and matched."""
        status = shown.status
        return (
            (self._active or status.is_suppressed)
            and (self._silenced or not status.silenced_by)
            and (self._inhibited or not status.inhibited_by)
            and all(matcher.accepts(shown.labels) for matcher in self._matchers)
        )

    def takes_any_receiver(self, names: tuple[str, ...]) -> bool:
        return self._receiver is None or any(self._receiver.fullmatch(name) is not None for name in names)


def flag(name: str) -> bool:
    """Return a parameter that is true when it is not given."""
    return request.args.get(name, "true").lower() in _TRUE


def matchers() -> list[Matcher]:
    """Return the matchers of all `filter` parameters, each of which holds one."""
    found: list[Matcher] = []
    for text in request.args.getlist("filter"):
        try:
            (matcher,) = parse_matchers(text)
        except (MatcherError, ValueError) as err:
            if isinstance(err, MatchError):
                raise
            raise RefusedError(f"bad matcher format: {text}") from err
        found.append(matcher)
    return found


def body() -> bytes:
    """
    Return what was posted, if it says that it is JSON.

    A browser does not let a foreign page say so without asking first: no page can silence an alert behind its reader.
    """
    if request.mimetype != "application/json":
        what = f'unsupported media type "{request.mimetype}", only [application/json] are allowed'
        raise BodyError(what, 415, 415)
    return request.get_data()
