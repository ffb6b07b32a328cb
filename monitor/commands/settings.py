"""Where the configuration comes from: a file, or flags and environment variables."""

from collections.abc import Callable, Mapping
from pathlib import Path

from monitor.config.config import Config
from monitor.config.flags import Flags, from_flags
from monitor.config.read import load
from monitor.yamldoc.mistake import NOWHERE, DocumentError, Mistake


def loader(path: Path | None, flags: Flags, environment: Mapping[str, str]) -> Callable[[], Config]:
    """
    Return what reads the configuration anew each time; it raises DocumentError.

    A file says everything: a flag beside it would be overlooked by whoever reads the file.
    """
    if path is None:
        return lambda: from_flags(flags, environment)
    beside = [
        name
        for name, value in (
            ("--target", flags.targets),
            ("--slack-channel", flags.slack_channel),
            ("--storage", flags.storage),
            ("--listen", flags.listen),
            ("--web.config.file", flags.web_config_file),
            ("--ha-lease", flags.ha_lease),
            ("--prometheus", flags.prometheus),
            ("--set", flags.rule_settings),
        )
        if value
    ]

    def read() -> Config:
        if beside:
            what = "cannot be given beside --config: put it into the file"
            raise DocumentError([Mistake(name, NOWHERE, "", what) for name in beside])
        return load(path)

    return read
