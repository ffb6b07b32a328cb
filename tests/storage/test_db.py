"""What outlives the process."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from monitor.storage.db import FILE_NAME, DamagedStateError, Database, StateError
from monitor.storage.migrations import MIGRATIONS
from monitor.storage.rows import AlertRow, AstrayRow, Changes, DeadRow, LetterRow, LogRow

ALERT = AlertRow("g", "Down", '[["alertname", "Down"]]', "pending")
LOG = LogRow("{}:{}", "oncall/slack[0]", 1_000, "{}")
LETTER = LetterRow("id1", "oncall/slack[0]", "body")


def test_what_was_committed_is_read_back_by_the_next_life(tmp_path: Path) -> None:
    first = Database(tmp_path / "made" / "on demand")
    first.commit([Changes((ALERT,), log=(LOG,), letters=(LETTER,), evaluated=5)])
    first.attempt("id1")
    first.close()
    again = Database(tmp_path / "made" / "on demand")
    assert again.alerts() == [ALERT]
    assert again.nflog() == [LOG]
    assert again.letters() == [replace(LETTER, attempts=1)]
    assert again.evaluated() == 5
    again.close()


def test_steps_are_applied_in_their_order(tmp_path: Path) -> None:
    database = Database(tmp_path)
    second = replace(LETTER, id="id2")
    database.commit(
        [
            Changes((ALERT,), log=(LOG,), letters=(LETTER, second)),
            Changes((replace(ALERT, body="firing"),), log=(replace(LOG, at=2_000),), settled=("id1",)),
            Changes(gone=(ALERT.key,)),
        ]
    )
    assert (database.alerts(), database.nflog(), database.letters()) == ([], [replace(LOG, at=2_000)], [second])
    database.expire_nflog(2_001)
    assert database.nflog() == []
    database.close()


def test_a_silence_is_written_over_the_one_of_its_id_and_forgotten_by_it(tmp_path: Path) -> None:
    first = Database(tmp_path)
    first.commit([Changes(silences=(("1", "first"), ("2", "second"))), Changes(silences=(("1", "changed"),))])
    first.commit([Changes(forgotten=("2",))])
    first.close()
    again = Database(tmp_path)
    assert again.silences() == ["changed"]
    again.close()


def test_what_others_have_too_is_marked_and_the_group_known_until_it_is_over(tmp_path: Path) -> None:
    database = Database(tmp_path)
    copy = LetterRow("id2", "pager/webhook[0]", "body")
    begun = AstrayRow("id1", "oncall/slack[0]", "g", 1_000, over=False)
    database.commit([Changes(letters=(LETTER,)), Changes(letters=(copy,), astray=(begun,))])
    assert database.letters() == [replace(LETTER, diverted=True), copy]
    assert database.astray() == [("oncall/slack[0]", "g")]
    database.commit([Changes(astray=(replace(begun, letter="id3", over=True),))])
    assert database.astray() == []
    database.close()


def test_what_is_given_up_is_kept_for_a_while_and_can_be_tried_again(tmp_path: Path) -> None:
    database = Database(tmp_path)
    dead = DeadRow("id1", "oncall/slack[0]", "body", 2, "refused", 5_000)
    later = replace(dead, id="id2", at=6_000)
    database.commit([Changes(letters=(LETTER,)), Changes(dead=(dead, later))])
    assert (database.letters(), database.dead_letters()) == ([], [later, dead])
    database.commit([Changes(letters=(LETTER,), raised=("id1",))])
    assert (database.letters(), database.dead_letters()) == ([LETTER], [later])
    database.expire_dead(6_001)
    assert database.dead_letters() == []
    database.close()


def test_a_step_that_cannot_be_written_leaves_nothing_of_itself_behind(tmp_path: Path) -> None:
    database = Database(tmp_path)
    bad = replace(LOG, at="not a time" * 3, body=None)  # type: ignore[arg-type]  # what the schema refuses
    with pytest.raises(StateError, match=FILE_NAME):
        database.commit([Changes((ALERT,), log=(bad,))])
    assert database.alerts() == []
    database.commit([Changes((ALERT,))])
    assert database.alerts() == [ALERT]
    database.close()


def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    Database(tmp_path).close()
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StateError, match="newer vllm-monitor"):
        Database(tmp_path)


@pytest.mark.parametrize("version", range(len(MIGRATIONS)))
def test_a_file_of_an_older_schema_is_brought_up_to_date_with_what_it_holds(tmp_path: Path, version: int) -> None:
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    for statement in (statement for step in MIGRATIONS[:version] for statement in step):
        connection.execute(statement)
    if version:
        connection.execute("INSERT INTO mark VALUES ('evaluated', 7)")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.commit()
    connection.close()
    database = Database(tmp_path)
    assert database.evaluated() == (7 if version else None)
    database.commit([Changes(silences=(("one", "body"),))])
    assert database.silences() == ["body"]
    database.close()


def test_a_file_that_is_no_database_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("not a database, but long enough to be looked at as one" * 100)
    with pytest.raises(DamagedStateError, match=FILE_NAME):
        Database(tmp_path)


def test_a_list_of_free_pages_that_cannot_be_read_is_damage(tmp_path: Path) -> None:
    Database(tmp_path).close()
    file = tmp_path / FILE_NAME
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("INSERT INTO silence VALUES ('a', ?)", ("x" * 50_000,))
        connection.execute("DELETE FROM silence")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    page = int.from_bytes(file.read_bytes()[32:36], "big")
    with file.open("r+b") as written:
        written.seek((page - 1) * 1024)
        written.write(b"\xff" * 1024)
    with pytest.raises(DamagedStateError, match=FILE_NAME):
        Database(tmp_path)


def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="file"):
        Database(tmp_path / "file" / "below")


def test_the_file_beside_stays_small_however_much_is_written(tmp_path: Path) -> None:
    database = Database(tmp_path)
    beside = tmp_path / f"{FILE_NAME}-wal"
    largest = 0
    for number in range(200):
        database.commit([Changes(silences=(("one", f"{number}" * 4_000),))])
        largest = max(largest, beside.stat().st_size)
    database.close()
    assert 0 < largest < 400_000
