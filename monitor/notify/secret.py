"""A token or a webhook URL, which no log, error or repr ever shows."""

from dataclasses import dataclass, field
from pathlib import Path

from monitor.notify.failure import Reason, failure


@dataclass(slots=True)
class Secret:
    """
    A secret given as it is, or a file that holds it; the file is read again when it changes.

    Exactly one of the two is set.
    """

    value: str = field(default="", repr=False)
    file: Path | None = None
    _stamp: tuple[int, ...] = field(default=(), repr=False, init=False)

    def get(self) -> str:
        """Return the secret; raises NotifyError when the file cannot be read, is empty or odd."""
        if self.file is not None:
            self._read(self.file)
        if not self.value:
            raise failure(Reason.CREDENTIAL, "the secret is empty")
        if not self.value.isascii() or not self.value.isprintable():
            raise failure(Reason.CREDENTIAL, "the secret holds characters that no token and no URL has")
        return self.value

    def _read(self, file: Path) -> None:
        try:
            status = file.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp != self._stamp:
                self.value, self._stamp = file.read_text(encoding="utf-8").strip(), stamp
        except (OSError, UnicodeDecodeError) as err:
            raise failure(Reason.CREDENTIAL, f"cannot read {file}: {type(err).__name__}") from err
