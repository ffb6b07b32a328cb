"""Who tells a letter: an integration that tells each of them, or one that keeps one message a group true."""

import logging
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from monitor.dispatch.notification import Notification, Notifier, NotifyError
from monitor.model.instant import Instant
from monitor.notify.letter import Letter

log = logging.getLogger(__name__)


@runtime_checkable
class Editor(Protocol):
    """
    An integration that keeps one message a group true, so that the newest word is all that it needs.

    It knows by itself what it has told, what it may have told, and how fast it may tell.
    """

    def ready_at(self, notification: Notification) -> Instant:
        """Return when the notification may be delivered."""
        ...

    def has_told(self, notification: Notification) -> bool:
        """Say whether people have been told of it, although there is more to do."""
        ...

    def has_overtaken(self, notification: Notification) -> bool:
        """Say whether its group has been heard of since, so that it would bring back what is over."""
        ...

    def notify_among(self, notification: Notification, waiting: Sequence[Notification]) -> bool:
        """
        Deliver it, and whatever of `waiting` is told by the same message; raises NotifyError, and nothing else.

        Returns whether all is said; else it is to be delivered again when it is ready. So is what was told with it.
        """
        ...


class Teller:
    """Either of them, to its lane."""

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier
        self._editor = notifier if isinstance(notifier, Editor) else None

    @property
    def edits(self) -> bool:
        """Whether the newest word of a group is all that it needs."""
        return self._editor is not None

    def ready_at(self, letter: Letter) -> Instant:
        """Return when the letter may be told."""
        if self._editor is None:
            return letter.not_before
        return max(letter.not_before, self._editor.ready_at(letter.delivery.notification))

    def is_untold(self, letter: Letter) -> bool:
        """Say whether there is something in it that people have yet to be told."""
        if self._editor is None:
            return True
        return letter.is_news and not self._editor.has_told(letter.delivery.notification)

    def is_overtaken(self, letter: Letter) -> bool:
        """Say whether a letter that was given up has nothing to say any more."""
        return self._editor is not None and self._editor.has_overtaken(letter.delivery.notification)

    def tell(self, letter: Letter, waiting: Sequence[Notification]) -> tuple[NotifyError | None, bool]:
        """Return what went wrong, and whether no other attempt is needed."""
        try:
            if self._editor is not None:
                return None, self._editor.notify_among(letter.delivery.notification, waiting)
            self._notifier.notify(letter.delivery.notification)
        except NotifyError as err:
            return err, err.hopeless
        except Exception as err:  # a notifier that breaks its promise must not take the lane with it
            log.exception("notifier failed unexpectedly", extra={"integration": letter.delivery.integration})
            failed = f"unexpected {type(err).__name__}"
            return NotifyError(failed, reason="internal", retryable=True, doubtful=True), False
        return None, True
