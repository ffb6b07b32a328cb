"""Log lines that tell a life: `time=… level=info msg="…" key=value`, one a line, on standard error."""

import json
import logging
from datetime import UTC, datetime

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class LogfmtFormatter(logging.Formatter):
    """Writes what was given as `extra=` as keys; a value with spaces or quotes is quoted, so a line stays a line."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = {"time": time.replace("+00:00", "Z"), "level": record.levelname.lower(), "msg": record.getMessage()}
        fields |= {key: value for key, value in vars(record).items() if key not in _STANDARD}
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        return " ".join(f"{key}={_value(str(value))}" for key, value in fields.items())


def _value(text: str) -> str:
    plain = text.isprintable() and not any(mark in text for mark in ' "=\\')
    # What turns the direction of writing, or ends a line for some reader of logs, is no more printable than an escape.
    return text if text and plain else json.dumps(text, ensure_ascii=not text.isprintable())


def configure(level: str) -> None:
    """Log to standard error from `level` (debug, info, warning, error) on; libraries only from warning on."""
    handler = logging.StreamHandler()
    handler.setFormatter(LogfmtFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("monitor").setLevel(level.upper())
    # The SDK logs the webhook's URL, which is the secret, at debug.
    logging.getLogger("slack_sdk").setLevel(logging.WARNING)
    # It warns of each tick that is left out, by the name of a lambda; `slots missed` says what matters of it.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    # It warns of each request that finds all threads at work, which are as many as somebody cares to send.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
