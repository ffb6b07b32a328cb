"""
The schema of the state file, as the steps that led to it.

A step is never changed once it has been released: a file's version is the number of steps it has seen.
"""

Step = tuple[str, ...]

_FIRST: Step = (
    """
    CREATE TABLE alert (
        "group" TEXT NOT NULL, rule TEXT NOT NULL, labels TEXT NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY ("group", rule, labels)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE nflog (
        group_key TEXT NOT NULL, integration TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (group_key, integration)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE outbox (
        number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, integration TEXT NOT NULL,
        body TEXT NOT NULL, attempts INTEGER NOT NULL
    )
    """,
    "CREATE TABLE mark (name TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID",
)

_SILENCES: Step = ("CREATE TABLE silence (id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID",)

_INCIDENTS: Step = (
    """
    CREATE TABLE incident (
        integration TEXT NOT NULL, group_key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (integration, group_key)
    ) WITHOUT ROWID
    """,
)

_FALLBACK: Step = (
    "ALTER TABLE outbox ADD COLUMN diverted INTEGER NOT NULL DEFAULT 0",
    """
    CREATE TABLE astray (
        integration TEXT NOT NULL, group_key TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (integration, group_key)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE dead_letter (
        id TEXT PRIMARY KEY, integration TEXT NOT NULL, body TEXT NOT NULL, attempts INTEGER NOT NULL,
        error TEXT NOT NULL, at INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
)

HISTORY: Step = (
    """
    CREATE TABLE history_series (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, labels TEXT NOT NULL UNIQUE, owner TEXT NOT NULL,
        counter INTEGER NOT NULL, seen INTEGER NOT NULL
    )
    """,
    "CREATE INDEX history_series_name ON history_series (name)",
    # `start` is not in it, `end` is.
    'CREATE TABLE history_head (number INTEGER PRIMARY KEY, start INTEGER NOT NULL, "end" INTEGER NOT NULL, body BLOB)',
    """
    CREATE TABLE history_chunk (
        series INTEGER NOT NULL, span INTEGER NOT NULL, start INTEGER NOT NULL, samples INTEGER NOT NULL,
        body BLOB NOT NULL, PRIMARY KEY (series, span, start)
    )
    """,
    """
    CREATE TABLE history_damaged (
        series INTEGER NOT NULL, span INTEGER NOT NULL, start INTEGER NOT NULL, body BLOB NOT NULL
    )
    """,
)

# Of each alert that an incident told of, for the report: an incident itself is forgotten within days.
_HANDLED: Step = (
    """
    CREATE TABLE handled (
        integration TEXT NOT NULL, incident TEXT NOT NULL, episode INTEGER NOT NULL, labels TEXT NOT NULL,
        starts_at INTEGER NOT NULL, ends_at INTEGER, told_at INTEGER NOT NULL, acked_at INTEGER, acked_by TEXT NOT NULL,
        PRIMARY KEY (integration, incident, episode, labels)
    ) WITHOUT ROWID
    """,
)

_RECEIVED: Step = (
    """
    CREATE TABLE received (
        receiver TEXT NOT NULL, group_key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (receiver, group_key)
    ) WITHOUT ROWID
    """,
)

MIGRATIONS: tuple[Step, ...] = (_FIRST, _SILENCES, _INCIDENTS, _FALLBACK, HISTORY, _HANDLED, _RECEIVED)
