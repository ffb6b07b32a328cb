"""What waits for room on the disk: as much as is there to be said, not as often as it was said."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.storage.db import Database
from monitor.storage.rows import AlertRow, AstrayRow, Changes, DeadRow, HandledRow, IncidentRow, LetterRow, LogRow, Over
from monitor.storage.thinning import thinned

few = st.sampled_from("ab")
bodies = st.sampled_from("12345")


def some(rows: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(rows, max_size=3).map(tuple)


steps = st.lists(
    st.builds(
        Changes,
        alerts=some(st.builds(AlertRow, few, few, few, bodies)),
        gone=some(st.tuples(few, few, few)),
        log=some(st.builds(LogRow, few, few, st.integers(0, 9), bodies)),
        letters=some(st.builds(LetterRow, few, few, bodies, st.integers(0, 3), st.booleans())),
        settled=some(few),
        silences=some(st.tuples(few, bodies)),
        forgotten=some(few),
        incidents=some(st.builds(IncidentRow, few, few, bodies)),
        closed=some(st.tuples(few, few)),
        astray=some(st.builds(AstrayRow, few, few, few, st.integers(0, 9), st.booleans())),
        dead=some(st.builds(DeadRow, few, few, bodies, st.integers(0, 3), bodies, st.integers(0, 9))),
        raised=some(few),
        handled=some(
            st.builds(
                HandledRow,
                few,
                few,
                st.just(1),
                few,
                st.just(1),
                st.sampled_from((None, 3)),
                st.just(1),
                st.none(),
                few,
            )
        ),
        # It does not end twice.
        over=some(st.builds(Over, few, few, st.just(5))),
    ),
    max_size=8,
)


def written(given: list[Changes]) -> tuple[object, ...]:
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder))
        database.commit(given)
        found = (
            sorted(database.alerts(), key=str),
            sorted(database.nflog(), key=str),
            database.letters(),
            sorted(database.silences()),
            sorted(database.incidents(), key=str),
            sorted(database.astray()),
            database.dead_letters(),
            sorted(database.handled(0, 9), key=str),
        )
        database.close()
    return found


@settings(max_examples=30, deadline=None)
@given(steps)
def test_the_file_is_the_same_in_the_end(given: list[Changes]) -> None:
    assert written(thinned(given)) == written(given)


def test_an_incident_that_is_kept_every_minute_waits_once() -> None:
    minutes = [Changes(incidents=(IncidentRow("slack", "group", str(minute)),)) for minute in range(1000)]
    assert thinned(minutes) == [Changes(incidents=(IncidentRow("slack", "group", "999"),))]
