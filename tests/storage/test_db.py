"""What outlives the process."""

import sqlite3
from pathlib import Path

import pytest

from monitor.model.labels import Labels
from monitor.storage.db import FILE_NAME, Database, StateError

A, B = Labels.of(alertname="A", instance='quo"te'), Labels.of(alertname="B")
ROW = ("{}:{}", "oncall/slack[0]", 1_000, frozenset({A, B}), frozenset[Labels]())


def test_the_notification_log_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    first = Database(tmp_path / "made" / "on demand")
    first.save_nflog(ROW)
    first.save_nflog((*ROW[:2], 2_000, frozenset({A}), frozenset({B})))
    first.close()
    again = Database(tmp_path / "made" / "on demand")
    assert list(again.nflog()) == [(*ROW[:2], 2_000, frozenset({A}), frozenset({B}))]
    again.expire_nflog(2_001)
    assert list(again.nflog()) == []
    again.close()


def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    Database(tmp_path).close()
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StateError, match="newer vllm-monitor"):
        Database(tmp_path)


def test_a_file_that_is_no_database_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("not a database, but long enough to be looked at as one" * 100)
    with pytest.raises(StateError, match=FILE_NAME):
        Database(tmp_path)


def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="file"):
        Database(tmp_path / "file" / "below")
