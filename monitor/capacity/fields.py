"""The fields of a `config.json`, by the names that different models give them; what is missing is said all at once."""

from collections.abc import Mapping
from typing import Any

from monitor.capacity.failure import CapacityError

# More than any model has of anything that is counted.
_MOST = 10**9


class Fields:
    """
    A `config.json` that is being read.

    What is missing or no number reads as 1, is noted, and is told by `complain`.
    """

    def __init__(self, config: Mapping[str, Any], name: str, kind: str) -> None:
        self._config = config
        self._missing: list[str] = []
        self.name = name
        self.kind = kind

    def get(self, name: str) -> Any:
        return self._config.get(name)

    def count(self, *names: str) -> int:
        """Return the first of the fields that is there, a positive whole number."""
        found = self.maybe(*names)
        if found is None:
            self._missing.append(" or ".join(names))
            return 1
        return found

    def maybe(self, *names: str) -> int | None:
        """Return the first of the fields that is there; None where none is."""
        for name in names:
            value = self._config.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST:
                return value
            if value is not None and value is not False:
                self._missing.append(f"{name} (it is {value!r}, not a positive whole number)")
                return 1
        return None

    def lacks(self, what: str) -> None:
        """Note that something is missing, or cannot be read."""
        self._missing.append(what)

    def kv_heads(self) -> int:
        """Return the heads of keys and values: as many as heads, one (Falcon's multi_query), or what is written."""
        if self.get("multi_query") and not self.get("new_decoder_architecture"):
            return 1
        written = self.maybe("num_key_value_heads", "num_kv_heads")
        return written if written is not None else self.count("num_attention_heads", "n_head")

    def head_size(self) -> int:
        written = self.maybe("head_dim")
        if written is not None:
            return written
        return self.count("hidden_size", "n_embd") // self.count("num_attention_heads", "n_head") or 1

    def complain(self) -> None:
        """Raise CapacityError if anything was missing."""
        if self._missing:
            what = "; ".join(dict.fromkeys(self._missing))
            raise CapacityError(f"{self.name}: its config.json lacks {what}")
