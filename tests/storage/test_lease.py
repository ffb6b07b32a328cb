"""Of several daemons over one folder one has the lease; the file takes nothing from one whose lease is an older one."""

import contextlib
import os
import threading
from pathlib import Path

import pytest

from monitor.model.instant import SECOND
from monitor.storage.db import Database, StateError
from monitor.storage.lease import Fence, HeldError, Lease, Sign, Watcher, is_locked, put_in_place, take_out
from monitor.storage.lock import FolderLock
from monitor.storage.rows import Changes

PATIENCE = 15 * SECOND


class Lost:
    """Counts how often somebody has learnt that he is no longer the one."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> None:
        self.times += 1


def test_one_has_it_until_he_lets_go(tmp_path: Path) -> None:
    watcher = Watcher(tmp_path, PATIENCE)
    assert watcher.look(0) is Sign.GONE
    first = Lease.take(tmp_path)
    assert watcher.look(0) is Sign.ALIVE
    first.release()
    assert watcher.look(0) is Sign.GONE
    second = Lease.take(tmp_path, watcher.generation)
    assert (first.generation, second.generation) == (1, 2)
    assert not first.renew()
    assert second.renew()
    assert [path.name for path in tmp_path.glob("active-*")] == ["active-2"]


def test_one_that_gives_no_sign_of_life_is_waited_for_and_not_longer(tmp_path: Path) -> None:
    lease, watcher = Lease.take(tmp_path), Watcher(tmp_path, PATIENCE)
    # The clock of the one that watches began somewhere.
    begun = 1_000_000
    assert {watcher.look(at) for at in range(begun, begun + PATIENCE, SECOND)} == {Sign.ALIVE}
    assert watcher.look(begun + PATIENCE) is Sign.SILENT
    os.utime(tmp_path / "active-1", (1, 1))
    assert watcher.look(begun + PATIENCE) is Sign.ALIVE
    lease.renew()
    assert {watcher.look(at) for at in range(begun + PATIENCE, begun + 2 * PATIENCE, SECOND)} == {Sign.ALIVE}
    assert watcher.look(begun + 2 * PATIENCE) is Sign.SILENT


def test_whoever_was_frozen_together_with_it_waits_anew(tmp_path: Path) -> None:
    Lease.take(tmp_path)
    watcher, begun, later = Watcher(tmp_path, PATIENCE), 1_000_000, 9_000_000
    watcher.look(begun)
    assert {watcher.look(at) for at in range(later, later + PATIENCE, SECOND)} == {Sign.ALIVE}
    assert watcher.look(later + PATIENCE) is Sign.SILENT


def test_one_that_cannot_be_looked_at_is_not_taken_for_gone(tmp_path: Path) -> None:
    # As the file of another user, or any while no more files can be opened.
    (tmp_path / "active-3").mkdir()
    with pytest.raises(StateError, match="Is a directory"):
        Watcher(tmp_path, PATIENCE).look(0)
    assert Watcher(tmp_path / "none", PATIENCE).look(0) is Sign.GONE


def test_of_many_that_begin_at_once_one_has_it(tmp_path: Path) -> None:
    taken: list[Lease] = []
    together = threading.Barrier(8)

    def take() -> None:
        together.wait()
        with contextlib.suppress(HeldError):
            taken.append(Lease.take(tmp_path))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [lease.generation for lease in taken] == [1]


def test_what_was_seen_long_ago_counts_for_nothing(tmp_path: Path) -> None:
    second = Lease.take(tmp_path, Lease.take(tmp_path).generation)
    with pytest.raises(HeldError):
        Lease.take(tmp_path)
    assert second.renew()
    assert [path.name for path in tmp_path.glob("active-*")] == ["active-2"]


def test_one_whose_file_was_taken_away_has_it_no_more(tmp_path: Path) -> None:
    lease, lost = Lease.take(tmp_path), Lost()
    fence = Fence(tmp_path, lease.generation, lost)
    fence.check()
    (tmp_path / "active-1").unlink()
    assert not lease.renew()
    fence.look()
    with pytest.raises(StateError, match="another daemon"):
        fence.check()
    assert lost.times == 2


def test_whoever_was_replaced_learns_it_before_and_after_each_thing_that_it_writes(tmp_path: Path) -> None:
    lost = Lost()
    database = Database(tmp_path, Fence(tmp_path, Lease.take(tmp_path).generation, lost))
    database.commit([Changes(silences=(("a", "mine"),))])
    with pytest.raises(StateError, match="another daemon"), database._transaction():
        # In the middle of it.
        Lease.take(tmp_path, 1)
    with pytest.raises(StateError, match="another daemon"):
        database.attempt("letter")
    with pytest.raises(StateError, match="another daemon"):
        database.check_fence()
    assert lost.times == 3


def test_what_somebody_who_hangs_holds_matters_to_nobody_else(tmp_path: Path) -> None:
    hung = Database(tmp_path)
    hung.commit([Changes(silences=(("a", "told"),))])
    assert not is_locked(tmp_path)
    with hung._transaction() as run:
        run.execute("INSERT INTO silence VALUES ('b', 'not told')")
        assert is_locked(tmp_path)
        take_out(tmp_path, 2)
        new = Database(tmp_path)
        assert new.silences() == ["told"]
        new.commit([Changes(silences=(("c", "new"),))])
    # It wakes, and writes where nobody looks.
    assert sorted(hung.silences()) == ["not told", "told"]
    assert sorted(new.silences()) == ["new", "told"]
    new.close()
    again = Database(tmp_path)
    assert sorted(again.silences()) == ["new", "told"]
    assert [path.name for path in tmp_path.glob("*copy*")] == []


def test_a_copy_that_was_whole_when_its_maker_was_killed_is_gone_on_with(tmp_path: Path) -> None:
    for name, text in (("other", "whole"), ("folder", "old")):
        database = Database(tmp_path / name)
        database.commit([Changes(silences=(("a", text),))])
        database.close()
    folder = tmp_path / "folder"
    (tmp_path / "other" / "monitor.db").rename(folder / "monitor.db.copy-3")
    (folder / "monitor.db.copy-2").write_text("older")
    (folder / "monitor.db-wal").write_text("of the one that is replaced")
    # Somebody's own.
    (folder / "monitor.db.copy-of-friday").write_text("")
    put_in_place(folder)
    assert Database(folder).silences() == ["whole"]
    assert sorted(path.name for path in folder.glob("*copy*")) == ["monitor.db.copy-of-friday"]


def test_half_copies_of_those_that_were_killed_do_not_fill_the_disk(tmp_path: Path) -> None:
    Database(tmp_path).close()
    (tmp_path / "half-monitor.db.copy-2").write_text("half")
    (tmp_path / "half-monitor.db.copy-2-journal").write_text("half")
    take_out(tmp_path, 7)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["monitor.db"]


def test_of_a_copy_that_could_not_be_made_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "monitor.db").write_bytes(b"no database, " * 1000)
    with pytest.raises(StateError, match="cannot be copied"):
        take_out(tmp_path, 7)
    assert [path.name for path in tmp_path.iterdir()] == ["monitor.db"]


def test_a_daemon_alone_and_one_of_several_exclude_each_other(tmp_path: Path) -> None:
    several = [FolderLock(tmp_path, shared=True), FolderLock(tmp_path, shared=True)]
    with pytest.raises(StateError, match="in use"):
        FolderLock(tmp_path)
    for one in several:
        one.close()
    alone = FolderLock(tmp_path)
    with pytest.raises(StateError, match="in use"):
        FolderLock(tmp_path, shared=True)
    alone.close()
