"""Which series a panel asks for: what the reader has chosen at the top of the page."""

# Of servers; of their engines; and of what is counted by model over a whole fleet. An engine of V0 has no number, and
# so no such label: the empty alternative lets it in.
SERVERS = 'job=~"$job", instance=~"$instance"'
RANKS = f'{SERVERS}, engine=~"$engine|"'
ENGINES = f'{RANKS}, model_name=~"$model_name"'
MODELS = 'job=~"$job", model_name=~"$model_name"'
# An alert has the labels that its rule keeps: those of a model have no instance, those of a server no model. The one
# that always fires, to show that alerts arrive, is of severity none.
ALERTS = (
    'alertname=~"VLLM.+", severity!="none", '
    'job=~"$job|", instance=~"$instance|", model_name=~"$model_name|", engine=~"$engine|"'
)

# How a legend names an engine.
ENGINE = "{{instance}} {{engine}}"


def engines(name: str, more: str = "") -> str:
    """Return the selector of a recorded name of the chosen engines."""
    return _of(name, ENGINES, more)


def servers(name: str, more: str = "") -> str:
    """Return the selector of a name that servers have and models have not."""
    return _of(name, SERVERS, more)


def ranks(name: str, more: str = "") -> str:
    """Return the selector of a name that engines have without the name of their model."""
    return _of(name, RANKS, more)


def models(name: str, more: str = "") -> str:
    """Return the selector of a name that is counted by model over all servers."""
    return _of(name, MODELS, more)


def alerts(state: str, more: str = "") -> str:
    """Return the selector of the alerts in a state, `firing` or `pending`."""
    return _of("ALERTS", ALERTS, f'alertstate="{state}"' + (f", {more}" if more else ""))


def count(series: str) -> str:
    """Return how many there are of what is well when there is none: nothing where no server is looked at."""
    return f"count({series}) or 0 * count({servers('vllm_engine:up')})"


def everywhere(name: str, more: str = "") -> str:
    """Return the selector of what belongs to none of the chosen servers: the monitor itself, a GPU."""
    return f"{name}{{{more}}}" if more else name


def _of(name: str, chosen: str, more: str) -> str:
    return f"{name}{{{more}, {chosen}}}" if more else f"{name}{{{chosen}}}"
