"""A file that is written anew: the old one or the new one, and nothing beside it."""

from pathlib import Path

import pytest

from monitor.storage.db import DamagedStateError, Database, StateError
from monitor.storage.replacing import replace_file
from monitor.storage.rows import Changes


def test_the_new_content_takes_the_place_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content in (b"old", b"new"):
        replace_file(path, content)
        assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_where_it_cannot_be_written_nothing_is_left_beside(tmp_path: Path) -> None:
    # What cannot be replaced by a file: a folder that is not empty.
    path = tmp_path / "file"
    (path / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        replace_file(path, b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_a_state_file_that_is_closed_is_not_a_damaged_one(tmp_path: Path) -> None:
    database = Database(tmp_path)
    database.close()
    with pytest.raises(StateError) as caught:
        database.commit([Changes(settled=("letter",))])
    assert not isinstance(caught.value, DamagedStateError)
